"""LengthNorm: every frame brought to length 1."""

import keras
import tensorflow as tf

from seqzoo.layers.component import Component


@keras.saving.register_keras_serializable(package="seqzoo")
class LengthNorm(Component):
    """Divides every frame by its Euclidean length, `x / ||x||`.

    There is no floor: a frame of zeros becomes NaN. Padding stays as it is.

    Args:
        kaldi_gradients: True takes the length for a constant in the gradient, as
            nnet1 does; False differentiates it too.

    Input shape: `(..., dim)`.
    Output shape: the same.
    Mask: passed on as is; a masked frame is not divided.

    Source: Kaldi nnet1 `<LengthNormComponent>`, src/nnet/nnet-various.h.
    """

    def __init__(self, kaldi_gradients: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.kaldi_gradients = kaldi_gradients

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs, mask=None):
        # Squares leave the range of float16 soon.
        x = tf.cast(inputs, tf.float32)
        squares = tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
        if mask is not None:
            squares = tf.where(mask[..., tf.newaxis], squares, 1.0)
        scale = tf.math.rsqrt(squares)
        if self.kaldi_gradients:
            scale = tf.stop_gradient(scale)
        return tf.cast(x * scale, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "kaldi_gradients": self.kaldi_gradients}
