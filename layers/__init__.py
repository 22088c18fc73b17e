"""Computes: Keras layers, losses, optimizers, samplers."""
