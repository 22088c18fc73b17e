"""`<KlHmm>`: how far a frame's posteriors are from those of each state."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    check_shape,
    check_size,
    register,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options

_FLOOR = 1e-20


@register("<KlHmm>")
@dataclasses.dataclass(eq=False)
class KlHmm(Component):
    """`y_k = sum_i p_i log q_ki - sum_i p_i log p_i`.

    `p` is the frame, `q_k` row `k` of `states` divided by its sum; logarithms are of
    numbers floored at 1e-20. It cannot be trained by gradients.
    """

    states: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((0, 0)))
    """Summed posteriors of each state, `(output_dim, input_dim)`, float64."""

    def parameters(self) -> dict[str, np.ndarray]:
        """The array under its name; nnet-info does not count it."""
        return {"states": self.states}

    def read_data(self, reader: ObjectReader) -> None:
        self.states = reader.read_matrix(double=True)

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_matrix(self.states, double=True)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        shape = self.output_dim, self.input_dim
        check_size(shape)
        self.states = np.zeros(shape)

    def check(self) -> None:
        check_shape(self, "states", self.output_dim, self.input_dim)

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            shares = self.states / self.states.sum(axis=1, keepdims=True)
        logs = np.log(shares.clip(_FLOOR)).astype(np.float32)
        floored = feats.clip(np.float32(_FLOOR))
        entropy = (feats * np.log(floored)).sum(axis=1, keepdims=True)
        return feats @ logs.T - entropy
