"""Affine: W x + b, initialised and updated as nnet1 does."""

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent
from seqzoo.layers.row_matmul import row_matmul
from seqzoo.layers.shadow import source


@keras.saving.register_keras_serializable(package="seqzoo")
class Affine(UpdatableComponent):
    """A fully connected layer, `x @ linearity.T + bias`.

    The weights, `linearity`, are `(units, dim)`, as nnet1 keeps them: products with
    them are also fast where `units` fills no whole cache lines. They start from a
    normal distribution, the bias from a uniform one of the given mean and width.

    Args:
        units: width of the output.
        param_stddev: standard deviation of the initial weights.
        bias_mean: centre of the initial bias.
        bias_range: width of the initial bias; 0 starts all at `bias_mean`.
        learn_rate_coef: times the learning rate, for the weights; 0 freezes them.
        bias_learn_rate_coef: the same for the bias.
        max_norm: largest L2 norm of the weights into one unit, kept after every
            update of `KaldiSGD`; 0 is no limit.
        seed: of the initial values; None draws anew.

    Input shape: `(..., dim)`.
    Output shape: `(..., units)`.
    Mask: passed on as is.

    Raises:
        ValueError: if `units` is below 1 or a width or limit is negative.

    Source: Kaldi nnet1 `<AffineTransform>`, src/nnet/nnet-affine-transform.h.
    """

    def __init__(
        self,
        units: int,
        param_stddev: float = 0.1,
        bias_mean: float = -2.0,
        bias_range: float = 2.0,
        learn_rate_coef: float = 1.0,
        bias_learn_rate_coef: float = 1.0,
        max_norm: float = 0.0,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.check_least(1, units=units)
        self.check_least(
            0, param_stddev=param_stddev, bias_range=bias_range, max_norm=max_norm
        )
        self.units = units
        self.param_stddev = param_stddev
        self.bias_mean = bias_mean
        self.bias_range = bias_range
        self.learn_rate_coef = learn_rate_coef
        self.bias_learn_rate_coef = bias_learn_rate_coef
        self.max_norm = max_norm
        self.seed = seed

    def build(self, input_shape):
        half = self.bias_range / 2
        bias_seed = None if self.seed is None else self.seed + 1
        self.linearity = self.add_parameter(
            "linearity",
            (self.units, input_shape[-1]),
            keras.initializers.RandomNormal(0.0, self.param_stddev, self.seed),
            learn_rate_coef=self.learn_rate_coef,
            penalty_coef=self.learn_rate_coef,
            max_norm=self.max_norm,
        )
        self.bias = self.add_parameter(
            "bias",
            (self.units,),
            keras.initializers.RandomUniform(
                self.bias_mean - half, self.bias_mean + half, bias_seed
            ),
            learn_rate_coef=self.bias_learn_rate_coef,
        )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def call(self, inputs):
        weights = tf.convert_to_tensor(source(self.linearity))
        return row_matmul(inputs, weights, self.bias)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "param_stddev": self.param_stddev,
            "bias_mean": self.bias_mean,
            "bias_range": self.bias_range,
            "learn_rate_coef": self.learn_rate_coef,
            "bias_learn_rate_coef": self.bias_learn_rate_coef,
            "max_norm": self.max_norm,
            "seed": self.seed,
        }
