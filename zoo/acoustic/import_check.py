"""Compares an imported network's Keras model with the same network in NumPy."""

import dataclasses
from collections.abc import Iterable

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints.nnet1 import Nnet

TOLERANCE = 1e-5
"""Of the largest output."""

_LENGTHS = (1, 7, 40)

Utterance = tuple[str, NDArray[np.float32]]


@dataclasses.dataclass(frozen=True)
class CheckReport:
    """What was compared."""

    utterances: int
    frames: int

    difference: float
    """The largest, relative to the largest output of its utterance."""


def random_utterances(dim: int, seed: int = 0) -> list[Utterance]:
    """Some of normally distributed numbers, of 1 frame and more."""
    random = np.random.default_rng(seed)
    return [
        (f"random_{n}", random.normal(size=(n, dim)).astype(np.float32))
        for n in _LENGTHS
    ]


def check(
    model: keras.Model, nnet: Nnet, utterances: Iterable[Utterance]
) -> CheckReport:
    """Runs both on utterances.

    Args:
        model: of the network, as `dnn.assemble` makes it.
        nnet: the network with its feature transform in front.
        utterances: `(name, features)` pairs.

    Raises:
        InputError: if they differ by more than 1e-5 of the largest output, or there is
            nothing to compare.
    """
    count = frames = 0
    largest = 0.0
    for name, feats in utterances:
        expected = nnet.propagate(feats)
        found = _outputs(model, feats)
        size = np.abs(expected).max(initial=0, where=np.isfinite(expected))
        apart = np.where(
            np.isnan(expected) & np.isnan(found), 0, np.abs(found - expected)
        )
        # Largest of all, and NaN if one is.
        difference = float(np.max(apart, initial=0)) / max(float(size), 1e-30)
        if not difference <= TOLERANCE:
            frame, column = np.argwhere(~(apart <= TOLERANCE * size))[0]
            raise InputError(
                f"self-check: utterance {name}, frame {frame}: output {column} of the "
                f"Keras model is {found[frame, column]:g}, but the network's is "
                f"{expected[frame, column]:g}."
            )
        largest = max(largest, difference)
        count += 1
        frames += len(feats)
    if not frames:
        raise InputError("self-check: there are no features to compare outputs on.")
    return CheckReport(count, frames, largest)


def _outputs(model: keras.Model, feats: NDArray[np.float32]) -> NDArray[np.float32]:
    [(key, outputs)] = model({"feats": tf.constant(feats[np.newaxis])}).items()
    if key == "logits":
        outputs = tf.nn.softmax(outputs)
    return outputs.numpy()[0]
