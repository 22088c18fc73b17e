"""`<Splice>`: neighbouring frames side by side."""

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


@register("<Splice>")
@dataclasses.dataclass(eq=False)
class Splice(Component):
    """Lays neighbouring frames side by side; the utterance's ends are repeated."""

    offsets: list[int] = dataclasses.field(default_factory=list)
    """In frames, relative to the current one."""

    def read_data(self, reader: ObjectReader) -> None:
        self.offsets = [int(offset) for offset in reader.read_int32_vector()]

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_int32_vector(self.offsets)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.offsets = options.offsets()

    def check(self) -> None:
        expected = len(self.offsets) * self.input_dim
        if self.output_dim != expected:
            raise ComponentError(
                f"{self.marker} has {len(self.offsets)} offsets and input dimension "
                f"{self.input_dim}, so its output dimension must be {expected}, not "
                f"{self.output_dim}"
            )

    def info(self) -> str:
        return f"\n  frame_offsets [ {' '.join(map(str, self.offsets))} ]"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        frames = np.arange(len(feats))[:, None] + np.array(self.offsets)
        spliced = feats[frames.clip(0, max(len(feats) - 1, 0))]
        return spliced.reshape(len(feats), self.output_dim)
