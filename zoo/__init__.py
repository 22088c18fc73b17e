"""Composes: configs, model builders, training, old checkpoints, commands."""
