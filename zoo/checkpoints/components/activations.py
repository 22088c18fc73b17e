"""The activations: `<Sigmoid>`, `<Tanh>`, `<Softmax>`, `<HiddenSoftmax>`."""

from __future__ import annotations

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    check_same_dims,
    register,
    softmax,
)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """`1 / (1 + exp(-x))` without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, np.float32(1)) / (1 + small)


@register("<Sigmoid>")
class Sigmoid(Component):
    """`y = 1 / (1 + exp(-x))`."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return sigmoid(feats)


@register("<Tanh>")
class Tanh(Component):
    """`y = tanh(x)`."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return np.tanh(feats)


@register("<Softmax>")
class Softmax(Component):
    """`y_i = exp(x_i) / sum_j exp(x_j)`."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return softmax(feats)


@register("<HiddenSoftmax>")
class HiddenSoftmax(Component):
    """The same inside a network; `<Softmax>` trains only as the last component."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return softmax(feats)
