"""`<AffineTransform>`: weights and a bias."""

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
    uniform,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<AffineTransform>")
@dataclasses.dataclass(eq=False)
class AffineTransform(UpdatableComponent):
    """`y = W x + b`."""

    linearity: np.ndarray = dataclasses.field(default_factory=lambda: no_numbers(0, 0))
    """W, `(output_dim, input_dim)`."""
    bias: np.ndarray = dataclasses.field(default_factory=no_numbers)
    learn_rate_coef: float = 1.0
    bias_learn_rate_coef: float = 1.0
    max_norm: float = 0.0
    """Limit on the norm of a row of W; 0 is none."""

    _OPTIONS = {
        "<LearnRateCoef>": "learn_rate_coef",
        "<BiasLearnRateCoef>": "bias_learn_rate_coef",
        "<MaxNorm>": "max_norm",
    }

    def parameters(self) -> dict[str, np.ndarray]:
        return {"linearity": self.linearity, "bias": self.bias}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.linearity = reader.read_matrix()
        self.bias = reader.read_vector()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_newline()
        writer.write_matrix(self.linearity)
        writer.write_vector(self.bias)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        stddev = options.number("ParamStddev", 0.1)
        mean = options.number("BiasMean", -2.0)
        width = options.number("BiasRange", 2.0)
        self.learn_rate_coef = float32(options.number("LearnRateCoef", 1.0))
        self.bias_learn_rate_coef = float32(options.number("BiasLearnRateCoef", 1.0))
        self.max_norm = float32(options.number("MaxNorm", 0.0))
        self.linearity = gauss(rng, stddev, self.output_dim, self.input_dim)
        self.bias = uniform(rng, mean, width, self.output_dim)

    def check(self) -> None:
        check_shape(self, "linearity", self.output_dim, self.input_dim)
        check_shape(self, "bias", self.output_dim)

    def info(self) -> str:
        return (
            f"\n  linearity {nnet_info.stddev_moments(self.linearity)} , "
            f"lr-coef {self.learn_rate_coef:g}, max-norm {self.max_norm:g}"
            f"\n  bias {nnet_info.stddev_moments(self.bias)} , "
            f"lr-coef {self.bias_learn_rate_coef:g}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats @ self.linearity.T + self.bias
