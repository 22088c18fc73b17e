"""Writes: SavedModels with named signatures, and checks of them."""
