"""A pre-trained stack of RBMs below a network that is still random."""

import os

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import nnet1, nnet_edit
from seqzoo.zoo.checkpoints.nnet1 import Nnet

BASE = "nnet_dbn_dnn"
"""What train.sh calls networks that start from a stack."""


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


def below(dbn: Nnet, top: Nnet) -> Nnet:
    """The stack and then `top`, as nnet-concat."""
    return nnet_edit.concat(dbn, top)
