"""Acoustic models: frames of features into scores of pdfs."""
