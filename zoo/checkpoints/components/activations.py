"""The activations: `<Sigmoid>`, `<Tanh>`, `<Softmax>`."""

from __future__ import annotations

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    check_same_dims,
    register,
)


@register("<Sigmoid>")
class Sigmoid(Component):
    """`y = 1 / (1 + exp(-x))`."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        small = np.exp(-np.abs(feats))
        return np.where(feats < 0, small, np.float32(1)) / (1 + small)


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
        grown = np.exp(feats - feats.max(axis=1, keepdims=True))
        return grown / grown.sum(axis=1, keepdims=True)
