"""What kind of model a path names, told without TensorFlow."""

import json
import os

PRESET = "preset:"


def is_language(path: str) -> bool:
    """Whether `path` is a language model: a folder, a preset or a file of Torch."""
    if path.startswith(PRESET) or is_torch_file(path):
        return True
    try:
        with open(os.path.join(path, "config.json"), encoding="utf-8") as file:
            return json.load(file)["model"].startswith("language/")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def is_torch_file(path: str) -> bool:
    """Whether `path` is a file that Torch7 saved."""
    from seqzoo.datasets import torch_file  # Imports NumPy.

    return not os.path.isdir(path) and torch_file.is_one(path)
