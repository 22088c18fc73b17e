"""A pre-trained stack of RBMs below a network that is still random."""

import dataclasses
import logging
import os
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.checkpoints.nnet1 import Nnet

INIT = "nnet_dbn_dnn.init"
"""What train.sh calls an initial network that starts with a stack."""

_LOG = logging.getLogger(__name__)


def file_of(path: str) -> str:
    """The file of a stack: itself, or `final.dbn` of a run folder.

    Raises:
        InputError: there is none.
    """
    inside = os.path.join(path, "final.dbn") if os.path.isdir(path) else path
    if not os.path.exists(inside):
        what = "a folder without final.dbn" if inside != path else "no such file"
        raise InputError(f"{path}: {what}; give a stack of RBMs, N.dbn.")
    return inside


def read(path: str, input_dim: int) -> Nnet:
    """A stack that takes what a feature transform puts out.

    Args:
        path: as of `file_of`.
        input_dim: numbers in a frame that the transform puts out.

    Raises:
        InputError: it takes another number.
    """
    dbn = nnet1.read(file_of(path))
    if dbn.input_dim != input_dim:
        raise InputError(
            f"{path}: takes {dbn.input_dim} numbers a frame, but the feature transform "
            f"puts out {input_dim}; give the one it was trained with, "
            "--feature_transform=RUN/final.feature_transform."
        )
    return dbn


def beside(path: str, name: str) -> str | None:
    """A file next to a stack's, as pre-training leaves it; None if there is none."""
    found = os.path.join(os.path.dirname(file_of(path)), name)
    return found if os.path.exists(found) else None


def with_settings(recipe: DnnRecipe) -> DnnRecipe:
    """What the features of a stack or of a feature transform went through.

    For data directories, `cmvn_opts` and `delta_opts` are taken from files of these
    names beside them, as train.sh takes them, unless they are given.

    Raises:
        InputError: there is no such stack.
    """
    dbn = None if recipe.dbn is None else file_of(recipe.dbn)
    at = recipe.feature_transform or dbn
    if at is None or not isinstance(recipe.train, str):
        return recipe
    found: dict[str, Any] = {}
    for name in ("cmvn_opts", "delta_opts"):
        path = os.path.join(os.path.dirname(at), name)
        if getattr(recipe, name) is None and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                found[name] = " ".join(file.read().split())
            _LOG.info("%s: %s", path, found[name])
    return dataclasses.replace(recipe, **found)
