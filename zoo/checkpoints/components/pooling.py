"""`<MaxPoolingComponent>` and `<AveragePoolingComponent>`: pools along frequency."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    ComponentError,
    check_at_least,
    read_options,
    register,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@dataclasses.dataclass(eq=False)
class _Pooling(Component):
    """Pools of patches; the input is patch after patch of `pool_stride` numbers."""

    pool_size: int = 0
    """Patches of a pool."""
    pool_step: int = 0
    """Patches from one pool to the next."""
    pool_stride: int = 0
    """Numbers of a patch: the filters of the convolution before."""

    _OPTIONS = {
        "<PoolSize>": "pool_size",
        "<PoolStep>": "pool_step",
        "<PoolStride>": "pool_stride",
    }

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.pool_size = options.integer("PoolSize")
        self.pool_step = options.integer("PoolStep")
        self.pool_stride = options.integer("PoolStride")

    def check(self) -> None:
        size, step, stride = self.pool_size, self.pool_step, self.pool_stride
        check_at_least(self, 1, PoolSize=size, PoolStep=step, PoolStride=stride)
        patches, rest = divmod(self.input_dim, stride)
        if rest or size > patches or (patches - size) % step:
            raise ComponentError(
                f"{self.marker} has pools of {size} in steps of {step} over patches of "
                f"{stride}, which do not fill input dimension {self.input_dim} evenly"
            )
        expected = (1 + (patches - size) // step) * stride
        if self.output_dim != expected:
            raise ComponentError(
                f"{self.marker} has pools that make output dimension {expected}, not "
                f"{self.output_dim}"
            )

    def _pools(self, feats: np.ndarray) -> np.ndarray:
        """`(frames, pools, pool_size, pool_stride)`."""
        patches = feats.reshape(len(feats), -1, self.pool_stride)
        starts = np.arange(0, patches.shape[1] - self.pool_size + 1, self.pool_step)
        return patches[:, starts[:, None] + np.arange(self.pool_size)]


@register("<MaxPoolingComponent>")
class MaxPooling(_Pooling):
    """`y[q * F + f] = max_r x[(q * pool_step + r) * F + f]`, F = `pool_stride`."""

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return self._pools(feats).max(axis=2).reshape(len(feats), self.output_dim)


@register("<AveragePoolingComponent>")
class AveragePooling(_Pooling):
    """`y[q * F + f] = mean_r x[(q * pool_step + r) * F + f]`, F = `pool_stride`."""

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return self._pools(feats).mean(axis=2).reshape(len(feats), self.output_dim)
