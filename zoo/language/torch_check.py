"""Compares an imported language model with the layers that Torch saved, in NumPy."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import torch_scores
from seqzoo.zoo.checkpoints.torch_modules import Layer, LookupTable
from seqzoo.zoo.language.language_model import LanguageModel

TOLERANCE = 1e-4
"""Of a natural log-probability."""

_ROWS, _STEPS = 16, 20


@dataclasses.dataclass(frozen=True)
class CheckReport:
    """What was compared."""

    words: int

    difference: float
    """The largest, of natural log-probabilities."""


def check(model: LanguageModel, layers: Sequence[Layer], seed: int = 0) -> CheckReport:
    """Scores some hundred random words by both.

    Args:
        model: as `torch_weights` makes it.
        layers: what it was made of.
        seed: of the words.

    Raises:
        InputError: if log-probabilities differ by more than 1e-4.
    """
    random = np.random.default_rng(seed)
    shape = _STEPS, _ROWS
    inputs, targets = random.integers(1, model.words + 1, (2, *shape))
    if any(isinstance(layer, LookupTable) and layer.mask_zero for layer in layers):
        # Separators, after which nothing of what was before is known.
        inputs[0] = inputs[_STEPS // 2] = 0
    expected = np.stack(
        [
            torch_scores.target_log_probs(layers, inputs[:, row], targets[:, row])
            for row in range(_ROWS)
        ],
        axis=1,
    )
    real = inputs > 0
    scores, _ = model.log_probs(
        inputs, np.where(real, targets, 0), model.zero_state(_ROWS)
    )
    found = np.asarray(scores)
    apart = np.abs(found - expected)
    difference = float(apart.max())
    if not difference <= TOLERANCE:
        place = np.unravel_index(np.argmax(~(apart <= TOLERANCE)), shape)
        raise InputError(
            f"self-check: word {inputs[place]} before {targets[place]}: the "
            f"log-probability is {found[place]:g}, but Torch's model gives "
            f"{expected[place]:g}."
        )
    return CheckReport(int(real.sum()), difference)
