"""Recipes that have a name: a model's settings and options of its training."""

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from seqzoo.datasets.errors import InputError


@dataclasses.dataclass(frozen=True)
class Preset:
    """Of one model."""

    model: str
    description: str

    settings: Sequence[str]
    """As `registry.config` takes them."""

    training: Mapping[str, Any]
    """Options of training that are not the defaults."""


_BILLION = {
    "minlr": 0.001,
    "saturate": 300,
    "cutoff": 10.0,
    "batchsize": (128,),
    "seqlen": 50,
    "trainsize": 400_000,
    "validsize": 40_000,
}
PRESETS = {
    "gbw_2x250": Preset(
        "language/lstm",
        "billion-word benchmark; Torch reached perplexity 65.6 in 321 epochs",
        ("hiddensize=250,250", "k=400", "Z=1", "uniform=0.1"),
        {**_BILLION, "startlr": 1.0, "momentum": 0.9},
    ),
    "gbw_4x2048": Preset(
        "language/lstm",
        "billion-word benchmark; Torch reached perplexity 40.61 in 100 epochs",
        ("hiddensize=2048,2048,2048,2048", "dropout=0.2", "k=400", "Z=1")
        + ("uniform=0.1",),
        {**_BILLION, "startlr": 0.7, "momentum": -1.0},
    ),
    "kjv_2x128": Preset(
        "language/lstm",
        "the King James Bible that comes along, in ten minutes on a core",
        ("hiddensize=128,128", "inputsize=96", "k=500", "dropout=0.1"),
        {
            "startlr": 1.0,
            "minlr": 0.02,
            "saturate": 10,
            "maxepoch": 10,
            "momentum": -1.0,
            "cutoff": 10.0,
            "batchsize": (32,),
            "seqlen": 35,
            "valid_perplexity": 1,
        },
    ),
}
"""Every recipe under its name."""


def preset(model: str, name: str) -> Preset:
    """The recipe of that name.

    Raises:
        InputError: there is none, or it is another model's.
    """
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(PRESETS)}."
        raise InputError(f"no preset {name!r}; {hint}")
    found = PRESETS[name]
    if found.model != model:
        raise InputError(
            f"the preset {name} is one of {found.model}, not of {model}; give "
            f"`train {found.model} --preset {name}`."
        )
    return found
