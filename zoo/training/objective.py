"""Objectives as they are written: `xent`, `mse`, `multitask,xent,117,1,mse,40,0.1`."""

import dataclasses
import math

from seqzoo.datasets.errors import InputError

LOSSES = ("xent", "mse")


@dataclasses.dataclass(frozen=True)
class Part:
    """One loss of an objective."""

    loss: str
    """`xent` or `mse`."""

    dim: int | None = None
    """How many outputs it is over; None is all."""

    weight: float = 1.0
    """Times its gradient, and its share of the overall loss."""


def parse(text: str) -> list[Part]:
    """The losses of an objective; several are of `multitask`, in the order of outputs.

    Raises:
        InputError: something else is written.

    Source: Kaldi nnet1's --objective-function.
    """
    if text in LOSSES:
        return [Part(text)]
    name, *words = text.split(",")
    if name != "multitask":
        raise InputError(
            f"objective {text!r} is unknown; xent, mse and "
            "multitask,LOSS,DIM,WEIGHT,LOSS,DIM,WEIGHT,... are taken."
        )
    if not words or len(words) % 3:
        raise InputError(
            f"objective {text!r}: behind multitask come a loss, how many outputs it is "
            "over, and its weight, again and again: multitask,xent,117,1,mse,40,0.1."
        )
    return [_part(text, *words[i : i + 3]) for i in range(0, len(words), 3)]


def is_multitask(text: str) -> bool:
    """Whether an objective is of several losses, each over outputs of its own."""
    return parse(text)[0].dim is not None


def _part(text: str, loss: str, dim: str, weight: str) -> Part:
    if loss not in LOSSES:
        raise InputError(f"objective {text!r}: {loss!r} is no loss; xent or mse is.")
    try:
        outputs, times = int(dim), float(weight)
    except ValueError:
        raise InputError(
            f"objective {text!r}: {loss},{dim},{weight} is not a loss, a whole number "
            "of outputs, and a weight."
        ) from None
    if outputs < 1 or not (0 <= times < math.inf):
        raise InputError(
            f"objective {text!r}: {loss},{dim},{weight}: at least 1 output and a "
            "weight of 0 or more are taken."
        )
    return Part(loss, outputs, times)
