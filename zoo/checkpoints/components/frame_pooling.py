"""`<FramePoolingComponent>`: weighted sums of spliced frames."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    ComponentError,
    UpdatableComponent,
    check_at_least,
    float32,
    read_options,
    register,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<FramePoolingComponent>")
@dataclasses.dataclass(eq=False)
class FramePooling(UpdatableComponent):
    """Pool `p` is `sum_i frame_weights[p][i] * x[frame_offsets[p] + i]`.

    The input is frames of `feature_dim` numbers side by side, the output pools.
    """

    feature_dim: int = 0
    """Numbers in a frame before it was spliced."""
    learn_rate_coef: float = 0.01
    normalize: bool = False
    """Whether weights are kept positive with sum 1 after each update."""
    frame_offsets: list[int] = dataclasses.field(default_factory=list)
    """Each pool's first frame, counted from 0 at the leftmost one."""
    frame_weights: list[np.ndarray] = dataclasses.field(default_factory=list)
    """Each pool's weights; as many as frames it takes."""

    _OPTIONS = {
        "<FeatureDim>": "feature_dim",
        "<LearnRateCoef>": "learn_rate_coef",
        "<Normalize>": "normalize",
    }

    def parameters(self) -> dict[str, np.ndarray]:
        numbered = enumerate(self.frame_weights, 1)
        return {f"frame_weights_{pool}": weights for pool, weights in numbered}

    def read_data(self, reader: ObjectReader) -> None:
        while True:
            read_options(reader, self, self._OPTIONS)
            token = reader.peek_token()
            if token == "<FrameOffset>":
                reader.read_token()
                self.frame_offsets = [int(at) for at in reader.read_int32_vector()]
            elif token == "<FrameWeight>":
                reader.read_token()
                self.frame_weights = [reader.read_vector() for _ in self.frame_offsets]
            else:
                break

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_token("<FrameOffset>")
        writer.write_int32_vector(self.frame_offsets)
        writer.write_token("<FrameWeight>")
        for weights in self.frame_weights:
            writer.write_vector(weights)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.feature_dim = options.integer("FeatureDim")
        check_at_least(self, 1, FeatureDim=self.feature_dim)
        self.learn_rate_coef = float32(options.number("LearnRateCoef", 0.01))
        self.normalize = options.boolean("Normalize", False)
        offsets, sizes = options.integers("CentralOffset"), options.integers("PoolSize")
        if len(offsets) != len(sizes) or 0 in sizes:
            raise ComponentError(
                f"{self.marker} takes as many <PoolSize> as <CentralOffset>, none of "
                f"them 0; found {len(sizes)} and {len(offsets)}"
            )
        central = (self.input_dim // self.feature_dim - 1) // 2
        # A pool of negative size ends at its offset.
        self.frame_offsets = [
            central + offset + min(0, size + 1)
            for offset, size in zip(offsets, sizes, strict=True)
        ]
        counts = [abs(size) for size in sizes]
        if sum(counts) > 2**24:
            raise ComponentError(f"{self.marker} has pools that are too large")
        weights = np.concatenate(
            [np.full(count, 1 / count, np.float32) for count in counts]
        )
        if options.has("PoolWeight"):
            given = options.numbers("PoolWeight")
            if len(given) != len(weights):
                raise ComponentError(
                    f"{self.marker} takes {len(weights)} numbers in <PoolWeight>, as "
                    f"its pools have frames; found {len(given)}"
                )
            weights = np.array(given, np.float32)
        self.frame_weights = np.split(weights, np.cumsum(counts)[:-1])

    def check(self) -> None:
        check_at_least(self, 1, FeatureDim=self.feature_dim)
        frames, rest = divmod(self.input_dim, self.feature_dim)
        pools = len(self.frame_offsets)
        if rest or self.output_dim != pools * self.feature_dim:
            raise ComponentError(
                f"{self.marker} has {pools} pools of feature dimension "
                f"{self.feature_dim}, which do not fit dimensions {self.input_dim} and "
                f"{self.output_dim}"
            )
        if len(self.frame_weights) != pools:
            raise ComponentError(
                f"{self.marker} lacks the weights of its {pools} pools"
            )
        for number, (first, weights) in enumerate(
            zip(self.frame_offsets, self.frame_weights, strict=True), 1
        ):
            if first < 0 or not weights.size or first + weights.size > frames:
                raise ComponentError(
                    f"{self.marker} has pool {number} of {weights.size} frames from "
                    f"frame {first} on; there are frames 0 to {frames - 1}"
                )

    def info(self) -> str:
        pools = "".join(
            f"({first}, [ {' '.join(f'{weight:g}' for weight in weights)} ]\n), "
            for first, weights in zip(
                self.frame_offsets, self.frame_weights, strict=True
            )
        )
        return f"\n  (offset,weights) : {pools}"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        frames = feats.reshape(len(feats), -1, self.feature_dim)
        pools = [
            weights @ frames[:, first : first + weights.size]
            for first, weights in zip(
                self.frame_offsets, self.frame_weights, strict=True
            )
        ]
        return np.concatenate(pools, axis=1)
