"""`<ParametricRelu>`: one slope for each side of 0, for each dimension."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

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


@register("<ParametricRelu>")
@dataclasses.dataclass(eq=False)
class ParametricRelu(UpdatableComponent):
    """`y = alpha x` from 0 on, `y = beta x` below."""

    alpha_learn_rate_coef: float = 0.0
    """0 keeps alpha as it is."""
    beta_learn_rate_coef: float = 0.0
    alpha: np.ndarray = dataclasses.field(default_factory=no_numbers)
    """`(input_dim,)`."""
    beta: np.ndarray = dataclasses.field(default_factory=no_numbers)
    """`(input_dim,)`."""

    _OPTIONS = {
        "<AlphaLearnRateCoef>": "alpha_learn_rate_coef",
        "<BetaLearnRateCoef>": "beta_learn_rate_coef",
    }

    def parameters(self) -> dict[str, np.ndarray]:
        return {"alpha": self.alpha, "beta": self.beta}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.alpha = reader.read_vector()
        self.beta = reader.read_vector()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_newline()
        writer.write_vector(self.alpha)
        writer.write_vector(self.beta)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        alpha, beta = options.number("Alpha", 1.0), options.number("Beta", 0.0)
        coefs = [options.number(f"{x}LearnRateCoef", 0.0) for x in ("Alpha", "Beta")]
        self.alpha_learn_rate_coef, self.beta_learn_rate_coef = map(float32, coefs)
        self.alpha = np.full(self.output_dim, alpha, np.float32)
        self.beta = np.full(self.output_dim, beta, np.float32)

    def check(self) -> None:
        check_same_dims(self)
        check_shape(self, "alpha", self.output_dim)
        check_shape(self, "beta", self.output_dim)

    def info(self) -> str:
        return (
            f"\n  alpha {nnet_info.stddev_moments(self.alpha)} , "
            f"alpha-lr-coef {self.alpha_learn_rate_coef:g}"
            f"\n  beta {nnet_info.stddev_moments(self.beta)} , "
            f"beta-lr-coef {self.beta_learn_rate_coef:g}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats * np.where(feats >= 0, self.alpha, self.beta)
