"""Rbm: a restricted Boltzmann machine, from its visible to its hidden units."""

from typing import Any

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent
from seqzoo.layers.rbm_cd1 import UNITS
from seqzoo.layers.row_matmul import row_matmul


@keras.saving.register_keras_serializable(package="seqzoo")
class Rbm(UpdatableComponent):
    """The means of the hidden units, `linearity x + hidden_bias`.

    Bernoulli units put that through a sigmoid, Gaussian ones have it as it is.
    `visible_bias` takes no part in this direction, so it is not trainable here: the
    weights are learnt by contrastive divergence.

    Args:
        units: hidden units.
        visible_type: `"bern"` or `"gauss"`, of the input.
        hidden_type: the same of the output.
        param_stddev: standard deviation of the initial weights.
        visible_bias_mean, visible_bias_range: centre and width of the initial visible
            biases.
        hidden_bias_mean, hidden_bias_range: the same of the hidden ones.
        seed: of the initial values; None draws anew.

    Input shape: `(..., dim)`.
    Output shape: `(..., units)`.
    Mask: passed on as is.

    Raises:
        ValueError: if `units` is below 1, a type is another word, or a width is
            negative.

    Source: Kaldi nnet1 `<Rbm>`, src/nnet/nnet-rbm.h.
    """

    def __init__(
        self,
        units: int,
        visible_type: str = "bern",
        hidden_type: str = "bern",
        param_stddev: float = 0.1,
        visible_bias_mean: float = 0.0,
        visible_bias_range: float = 0.0,
        hidden_bias_mean: float = 0.0,
        hidden_bias_range: float = 0.0,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.check_least(1, units=units)
        for option, word in (
            ("visible_type", visible_type),
            ("hidden_type", hidden_type),
        ):
            if word not in UNITS:
                raise ValueError(
                    f"{self.name}: {option} is {word!r}; bern and gauss are taken."
                )
        self.check_least(
            0,
            param_stddev=param_stddev,
            visible_bias_range=visible_bias_range,
            hidden_bias_range=hidden_bias_range,
        )
        self.units = units
        self.visible_type = visible_type
        self.hidden_type = hidden_type
        self.param_stddev = param_stddev
        self.visible_bias_mean = visible_bias_mean
        self.visible_bias_range = visible_bias_range
        self.hidden_bias_mean = hidden_bias_mean
        self.hidden_bias_range = hidden_bias_range
        self.seed = seed

    def build(self, input_shape):
        self.linearity = self.add_parameter(
            "linearity",
            (self.units, input_shape[-1]),
            keras.initializers.RandomNormal(0.0, self.param_stddev, self.seed),
        )
        self.visible_bias = self.add_parameter(
            "visible_bias",
            (input_shape[-1],),
            self._uniform(self.visible_bias_mean, self.visible_bias_range, 1),
            learn_rate_coef=0.0,
        )
        self.hidden_bias = self.add_parameter(
            "hidden_bias",
            (self.units,),
            self._uniform(self.hidden_bias_mean, self.hidden_bias_range, 2),
        )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def call(self, inputs):
        means = row_matmul(
            inputs, tf.convert_to_tensor(self.linearity), self.hidden_bias
        )
        return tf.sigmoid(means) if self.hidden_type == "bern" else means

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "visible_type": self.visible_type,
            "hidden_type": self.hidden_type,
            "param_stddev": self.param_stddev,
            "visible_bias_mean": self.visible_bias_mean,
            "visible_bias_range": self.visible_bias_range,
            "hidden_bias_mean": self.hidden_bias_mean,
            "hidden_bias_range": self.hidden_bias_range,
            "seed": self.seed,
        }

    def _uniform(self, mean: float, width: float, number: int) -> Any:
        seed = None if self.seed is None else self.seed + number
        return keras.initializers.RandomUniform(
            mean - width / 2, mean + width / 2, seed
        )
