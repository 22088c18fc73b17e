"""`<Copy>`: chosen columns, in any order."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    ComponentError,
    register,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<Copy>")
@dataclasses.dataclass(eq=False)
class Copy(Component):
    """`y[i] = x[columns[i]]`."""

    columns: list[int] = dataclasses.field(default_factory=list)
    """Counted from 0; files and prototypes count from 1."""

    def read_data(self, reader: ObjectReader) -> None:
        self.columns = [int(column) - 1 for column in reader.read_int32_vector()]

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_int32_vector([column + 1 for column in self.columns])

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.columns = [column - 1 for column in options.offsets()]

    def check(self) -> None:
        if len(self.columns) != self.output_dim:
            raise ComponentError(
                f"{self.marker} names {len(self.columns)} columns, but its output "
                f"dimension is {self.output_dim}"
            )
        for column in self.columns:
            if not 0 <= column < self.input_dim:
                raise ComponentError(
                    f"{self.marker} names column {column + 1}; its input has "
                    f"1 to {self.input_dim}"
                )

    def info(self) -> str:
        return f"\n  min {min(self.columns)}, max {max(self.columns)}"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats[:, self.columns]
