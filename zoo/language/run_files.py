"""The files of a language model's run folder, and where presets are.

A run folder holds `config.json`, `vocabulary.txt` (`word count` lines), `state.json`,
which says which folder in `weights/` is the model, `history.csv`, and more while it is
trained. A preset is such a folder inside the package.
"""

import difflib
import json
import os
import pathlib
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.training.run_kind import PRESET

CONFIG, STATE, VOCABULARY, WEIGHTS = (
    "config.json",
    "state.json",
    "vocabulary.txt",
    "weights",
)
_PRESETS = pathlib.Path(__file__).parent / "presets"


def presets() -> list[str]:
    """The names of the trained models that come with the package."""
    return sorted(p.name for p in _PRESETS.glob("*") if (p / CONFIG).exists())


def folder(path: str) -> str:
    """The folder that `path`, which may be `preset:NAME`, stands for.

    Raises:
        InputError: there is no such preset.
    """
    if not path.startswith(PRESET):
        return path
    name = path.removeprefix(PRESET)
    if name not in presets():
        near = difflib.get_close_matches(name, presets(), 1)
        known = f"known: {', '.join(presets()) or 'none'}."
        hint = f"did you mean {near[0]}?" if near else known
        raise InputError(f"no preset {name!r}; {hint}")
    return str(_PRESETS / name)


def read_state(path: str) -> dict[str, Any]:
    """`state.json` of a run folder whose `config.json` was read.

    Raises:
        InputError: no epoch of its training has ended yet.
    """
    if not os.path.exists(os.path.join(path, STATE)):
        raise InputError(f"{path}: no epoch of its training has ended yet.")
    return read_json(path, STATE)


def read_json(path: str, name: str) -> dict[str, Any]:
    """A JSON file of a run folder.

    Raises:
        InputError: it is not there, or holds no table.
    """
    at = os.path.join(path, name)
    try:
        with open(at, encoding="utf-8") as file:
            found = json.load(file)
    except OSError as error:
        raise InputError(
            f"{path}: not the folder of a language model ({name}: "
            f"{error.strerror or error})."
        ) from None
    except ValueError as error:
        raise InputError(f"{at}: cannot be read ({error}).") from None
    if not isinstance(found, dict):
        raise InputError(f"{at}: a table is taken; give another folder.")
    return found
