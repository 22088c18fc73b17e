"""What kind of run a folder holds, told without TensorFlow."""

import json
import os

PRESET = "preset:"


def is_language(path: str) -> bool:
    """Whether `path` is the folder of a language model, or names a preset of one."""
    if path.startswith(PRESET):
        return True
    try:
        with open(os.path.join(path, "config.json"), encoding="utf-8") as file:
            return json.load(file)["model"].startswith("language/")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False
