"""`<AddShift>` and `<Rescale>`: one number for each dimension."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components.component import (
    UpdatableComponent,
    check_same_dims,
    check_shape,
    float32,
    no_numbers,
    read_options,
    register,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@dataclasses.dataclass(eq=False)
class _PerDimension(UpdatableComponent):
    """One number for each dimension."""

    data: np.ndarray = dataclasses.field(default_factory=no_numbers)
    """`(input_dim,)`."""
    learn_rate_coef: float = 1.0

    _NAME: ClassVar[str]
    _OPTIONS = {"<LearnRateCoef>": "learn_rate_coef"}

    def parameters(self) -> dict[str, np.ndarray]:
        return {self._NAME: self.data}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.data = reader.read_vector()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_vector(self.data)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.learn_rate_coef = float32(options.number("LearnRateCoef", 1.0))
        value = options.number("InitParam", 0.0)
        self.data = np.full(self.output_dim, value, np.float32)

    def check(self) -> None:
        check_same_dims(self)
        check_shape(self, "data", self.output_dim)

    def info(self) -> str:
        return (
            f"\n  {self._NAME} {nnet_info.stddev_moments(self.data)} , "
            f"lr-coef {self.learn_rate_coef:g}"
        )


@register("<AddShift>")
class AddShift(_PerDimension):
    """`y = x + data`."""

    _NAME = "shift_data"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats + self.data


@register("<Rescale>")
class Rescale(_PerDimension):
    """`y = x * data`; a prototype without `<InitParam>` makes it all 0."""

    _NAME = "scale_data"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats * self.data
