"""What TensorFlow's own saved_model_cli tells of a SavedModel."""

import pathlib
import subprocess
import sys


def shown(path: str) -> str:
    """All of it, with a blank between any two words."""
    script = pathlib.Path(sys.executable).with_name("saved_model_cli")
    text = subprocess.run(
        [script, "show", "--dir", path, "--all"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return " ".join(text.split())
