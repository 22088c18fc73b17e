"""AddShift: a constant added to each dimension."""

import keras

from seqzoo.layers.component import UpdatableComponent


@keras.saving.register_keras_serializable(package="seqzoo")
class AddShift(UpdatableComponent):
    """Adds a vector to every frame, `x + shift`.

    As the front of a network it brings features to zero mean and does not learn
    (`learn_rate_coef=0`).

    Args:
        init_param: value that each element starts from.
        learn_rate_coef: times the learning rate; 0 freezes.

    Input shape: `(..., dim)`.
    Output shape: the same.
    Mask: passed on as is.

    Source: Kaldi nnet1 `<AddShift>`, src/nnet/nnet-various.h.
    """

    def __init__(self, init_param: float = 0.0, learn_rate_coef: float = 1.0, **kwargs):
        super().__init__(**kwargs)
        self.init_param = init_param
        self.learn_rate_coef = learn_rate_coef

    def build(self, input_shape):
        self.shift = self.add_parameter(
            "shift",
            (input_shape[-1],),
            keras.initializers.Constant(self.init_param),
            learn_rate_coef=self.learn_rate_coef,
            momentum=False,
        )

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        return inputs + self.shift

    def get_config(self):
        return {
            **super().get_config(),
            "init_param": self.init_param,
            "learn_rate_coef": self.learn_rate_coef,
        }
