"""Language models: Torch7's billion-word recipe and its kin."""
