"""Readers and writers of the old toolkits' model files."""
