"""Linear: W x, initialised and updated as nnet1 does."""

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent
from seqzoo.layers.row_matmul import row_matmul


@keras.saving.register_keras_serializable(package="seqzoo")
class Linear(UpdatableComponent):
    """A fully connected layer without bias, `x @ linearity.T`.

    The weights, `linearity`, are `(units, dim)`.

    Args:
        units: width of the output.
        param_stddev: standard deviation of the normal distribution that the
            weights start from.
        learn_rate_coef: times the learning rate, but, as in nnet1, not in the L1
            and L2 penalties; 0 freezes.
        seed: of the initial values; None draws anew.

    Input shape: `(..., dim)`.
    Output shape: `(..., units)`.
    Mask: passed on as is.

    Raises:
        ValueError: if `units` is below 1 or `param_stddev` is negative.

    Source: Kaldi nnet1 `<LinearTransform>`, src/nnet/nnet-linear-transform.h.
    """

    def __init__(
        self,
        units: int,
        param_stddev: float = 0.1,
        learn_rate_coef: float = 1.0,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.check_least(1, units=units)
        self.check_least(0, param_stddev=param_stddev)
        self.units = units
        self.param_stddev = param_stddev
        self.learn_rate_coef = learn_rate_coef
        self.seed = seed

    def build(self, input_shape):
        self.linearity = self.add_parameter(
            "linearity",
            (self.units, input_shape[-1]),
            keras.initializers.RandomNormal(0.0, self.param_stddev, self.seed),
            learn_rate_coef=self.learn_rate_coef,
            penalty_coef=1.0,
        )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def call(self, inputs):
        return row_matmul(inputs, tf.convert_to_tensor(self.linearity))

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "param_stddev": self.param_stddev,
            "learn_rate_coef": self.learn_rate_coef,
            "seed": self.seed,
        }
