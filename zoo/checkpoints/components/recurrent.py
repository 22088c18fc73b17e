"""`<RecurrentComponent>`: a simple recurrent layer."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components.component import (
    UpdatableComponent,
    check_shape,
    float32,
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


@register("<RecurrentComponent>")
@dataclasses.dataclass(eq=False)
class RecurrentComponent(UpdatableComponent):
    """`y_t = tanh(w_forward x_t + w_recurrent y_{t-1} + bias)`, y_{-1} = 0."""

    # Kaldi leaves both clips undefined where they are not given; these are its LSTM's.
    grad_clip: float = 250.0
    """Kept for the file; nnet1 never applies it."""
    diff_clip: float = 1.0
    """Derivatives of a frame are kept within +- this; 0 is no limit."""
    learn_rate_coef: float = 1.0
    bias_learn_rate_coef: float = 1.0
    w_forward: np.ndarray = dataclasses.field(default_factory=lambda: no_numbers(0, 0))
    """`(output_dim, input_dim)`."""
    w_recurrent: np.ndarray = dataclasses.field(
        default_factory=lambda: no_numbers(0, 0)
    )
    """`(output_dim, output_dim)`."""
    bias: np.ndarray = dataclasses.field(default_factory=no_numbers)

    _OPTIONS = {
        "<GradClip>": "grad_clip",
        "<DiffClip>": "diff_clip",
        "<LearnRateCoef>": "learn_rate_coef",
        "<BiasLearnRateCoef>": "bias_learn_rate_coef",
    }

    def parameters(self) -> dict[str, np.ndarray]:
        return {
            "w_forward": self.w_forward,
            "w_recurrent": self.w_recurrent,
            "bias": self.bias,
        }

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.w_forward = reader.read_matrix()
        self.w_recurrent = reader.read_matrix()
        self.bias = reader.read_vector()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_newline()
        writer.write_matrix(self.w_forward)
        writer.write_matrix(self.w_recurrent)
        writer.write_vector(self.bias)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        for token, attribute in self._OPTIONS.items():
            default = getattr(self, attribute)
            value = float32(options.number(token.strip("<>"), default))
            setattr(self, attribute, value)
        width = 2 * options.number("ParamScale", 0.02)
        self.w_forward = uniform(rng, 0.0, width, self.output_dim, self.input_dim)
        self.w_recurrent = uniform(rng, 0.0, width, self.output_dim, self.output_dim)
        self.bias = uniform(rng, 0.0, width, self.output_dim)

    def check(self) -> None:
        check_shape(self, "w_forward", self.output_dim, self.input_dim)
        check_shape(self, "w_recurrent", self.output_dim, self.output_dim)
        check_shape(self, "bias", self.output_dim)

    def info(self) -> str:
        arrays = "".join(
            f"\n  {name}_   {nnet_info.stddev_moments(array)} "
            for name, array in self.parameters().items()
        )
        return "  " + arrays

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        outputs = feats @ self.w_forward.T + self.bias
        recurrent = self.w_recurrent.T
        before = np.zeros(self.output_dim, np.float32)
        for time in range(len(outputs)):
            outputs[time] = before = np.tanh(outputs[time] + before @ recurrent)
        return outputs
