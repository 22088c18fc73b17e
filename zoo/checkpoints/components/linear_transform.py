"""`<LinearTransform>`: weights without a bias."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components.component import (
    UpdatableComponent,
    check_shape,
    float32,
    gauss,
    no_numbers,
    read_options,
    register,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<LinearTransform>")
@dataclasses.dataclass(eq=False)
class LinearTransform(UpdatableComponent):
    """`y = W x`."""

    linearity: np.ndarray = dataclasses.field(default_factory=lambda: no_numbers(0, 0))
    """W, `(output_dim, input_dim)`."""
    learn_rate_coef: float = 1.0

    _OPTIONS = {"<LearnRateCoef>": "learn_rate_coef"}

    def parameters(self) -> dict[str, np.ndarray]:
        return {"linearity": self.linearity}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.linearity = reader.read_matrix()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_newline()
        writer.write_matrix(self.linearity)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.learn_rate_coef = float32(options.number("LearnRateCoef", 1.0))
        stddev = options.number("ParamStddev", 0.1)
        if options.has("ReadMatrix"):
            from seqzoo.datasets import tables  # not needed to read or write a model

            path = options.path(" ".join(options.words("ReadMatrix")))
            self.linearity = np.asarray(tables.read_object(path, "matrix"), np.float32)
        else:
            self.linearity = gauss(rng, stddev, self.output_dim, self.input_dim)

    def check(self) -> None:
        check_shape(self, "linearity", self.output_dim, self.input_dim)

    def info(self) -> str:
        return (
            f"\n  linearity {nnet_info.stddev_moments(self.linearity)} , "
            f"lr-coef {self.learn_rate_coef:g}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats @ self.linearity.T
