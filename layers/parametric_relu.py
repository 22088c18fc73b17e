"""ParametricRelu: one slope above 0 and one below, for each dimension."""

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent


@keras.saving.register_keras_serializable(package="seqzoo")
class ParametricRelu(UpdatableComponent):
    """`alpha x` where x is 0 or more and `beta x` below.

    With the defaults it is a rectifier that does not learn.

    Args:
        init_alpha: value that the slopes above 0 start from.
        init_beta: the same below 0.
        alpha_learn_rate_coef: times the learning rate, for `alpha`; 0 freezes it.
        beta_learn_rate_coef: the same for `beta`.

    Input shape: `(..., dim)`.
    Output shape: the same.
    Mask: passed on as is.

    Source: Kaldi nnet1 `<ParametricRelu>`, src/nnet/nnet-parametric-relu.h.
    """

    def __init__(
        self,
        init_alpha: float = 1.0,
        init_beta: float = 0.0,
        alpha_learn_rate_coef: float = 0.0,
        beta_learn_rate_coef: float = 0.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.init_alpha = init_alpha
        self.init_beta = init_beta
        self.alpha_learn_rate_coef = alpha_learn_rate_coef
        self.beta_learn_rate_coef = beta_learn_rate_coef

    def build(self, input_shape):
        self.alpha = self.add_parameter(
            "alpha",
            (input_shape[-1],),
            keras.initializers.Constant(self.init_alpha),
            learn_rate_coef=self.alpha_learn_rate_coef,
        )
        self.beta = self.add_parameter(
            "beta",
            (input_shape[-1],),
            keras.initializers.Constant(self.init_beta),
            learn_rate_coef=self.beta_learn_rate_coef,
        )

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        above = tf.convert_to_tensor(self.alpha) * inputs
        below = tf.convert_to_tensor(self.beta) * inputs
        return tf.where(inputs >= 0, above, below)

    def get_config(self):
        return {
            **super().get_config(),
            "init_alpha": self.init_alpha,
            "init_beta": self.init_beta,
            "alpha_learn_rate_coef": self.alpha_learn_rate_coef,
            "beta_learn_rate_coef": self.beta_learn_rate_coef,
        }
