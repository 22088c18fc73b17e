"""Rescale: each dimension times a constant."""

import keras

from seqzoo.layers.component import UpdatableComponent


@keras.saving.register_keras_serializable(package="seqzoo")
class Rescale(UpdatableComponent):
    """Multiplies every frame by a vector, `x * scale`.

    As the front of a network it brings features to unit variance and does not
    learn (`learn_rate_coef=0`).

    Args:
        init_param: value that each element starts from. nnet1's own default is
            0, which blanks the features, so there it is always given; here it
            is 1.
        learn_rate_coef: times the learning rate; 0 freezes.

    Input shape: `(..., dim)`.
    Output shape: the same.
    Mask: passed on as is.

    Source: Kaldi nnet1 `<Rescale>`, src/nnet/nnet-various.h.
    """

    def __init__(self, init_param: float = 1.0, learn_rate_coef: float = 1.0, **kwargs):
        super().__init__(**kwargs)
        self.init_param = init_param
        self.learn_rate_coef = learn_rate_coef

    def build(self, input_shape):
        self.scale = self.add_parameter(
            "scale",
            (input_shape[-1],),
            keras.initializers.Constant(self.init_param),
            learn_rate_coef=self.learn_rate_coef,
            momentum=False,
        )

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        return inputs * self.scale

    def get_config(self):
        return {
            **super().get_config(),
            "init_param": self.init_param,
            "learn_rate_coef": self.learn_rate_coef,
        }
