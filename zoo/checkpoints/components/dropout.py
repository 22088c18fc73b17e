"""`<Dropout>`: a share of the units set to 0 in training."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    ComponentError,
    check_same_dims,
    float32,
    register,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<Dropout>")
@dataclasses.dataclass(eq=False)
class Dropout(Component):
    """Sets a share of the units to 0 in training; the identity otherwise."""

    dropout_rate: float = 0.5
    """The share of units set to 0."""

    def read_data(self, reader: ObjectReader) -> None:
        while (token := reader.peek_token()) in ("<DropoutRate>", "<DropoutRetention>"):
            reader.read_token()
            value = float32(reader.read_float())
            # Old files hold the share that stays.
            kept = token == "<DropoutRetention>"
            self.dropout_rate = float32(1 - value) if kept else value

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_token("<DropoutRate>")
        writer.write_float(self.dropout_rate)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.dropout_rate = float32(options.number("DropoutRate", 0.5))

    def check(self) -> None:
        check_same_dims(self)
        if not 0 <= self.dropout_rate < 1:
            raise ComponentError(
                f"{self.marker} has rate {self.dropout_rate:g}; 0 to below 1 is taken"
            )

    def info(self) -> str:
        return f"<DropoutRate> {self.dropout_rate:g}"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats
