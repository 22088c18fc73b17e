"""`<BlockSoftmax>`: several softmaxes side by side."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    ComponentError,
    check_same_dims,
    register,
    softmax,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<BlockSoftmax>")
@dataclasses.dataclass(eq=False)
class BlockSoftmax(Component):
    """A softmax over each block of outputs, as for several tasks or languages."""

    block_dims: list[int] = dataclasses.field(default_factory=list)
    """Outputs of each block."""

    def read_data(self, reader: ObjectReader) -> None:
        self.block_dims = [int(dim) for dim in reader.read_int32_vector()]

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_int32_vector(self.block_dims)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.block_dims = options.integers("BlockDims")

    def check(self) -> None:
        check_same_dims(self)
        dims = self.block_dims
        if not dims or min(dims) < 1 or sum(dims) != self.output_dim:
            few = " ".join(map(str, dims[:20])) + (" ..." if len(dims) > 20 else "")
            raise ComponentError(
                f"{self.marker} has blocks of [ {few} ]; sizes of 1 and more are "
                f"taken that add up to the output dimension {self.output_dim}"
            )

    def info(self) -> str:
        return f"\n  softmax-dims {' '.join(map(str, self.block_dims))} "

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        ends = np.cumsum(self.block_dims)[:-1]
        blocks = np.split(feats, ends, axis=1)
        return np.concatenate([softmax(block) for block in blocks], axis=1)
