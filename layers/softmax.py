"""Softmax: Keras's, among layers that hand on a mask of frames."""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="seqzoo")
class Softmax(keras.layers.Softmax):
    """`exp(x_i) / sum_j exp(x_j)` over the last axis.

    As the end of a network it is taken into the loss. Keras's own would take a mask of
    frames for one of columns.

    Args:
        kaldi_gradients: True passes the gradient through as it is: nnet1 expects that
            of a cross-entropy to the numbers before the softmax, wherever the softmax
            stands. False has the true one.

    Input shape: `(..., dim)`.
    Output shape: the same.
    Mask: passed on as is.

    Source: Kaldi nnet1 `<Softmax>`, src/nnet/nnet-activation.h.
    """

    def __init__(self, kaldi_gradients: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.kaldi_gradients = kaldi_gradients

    def call(self, inputs):
        outputs = tf.nn.softmax(inputs)
        if not self.kaldi_gradients:
            return outputs
        return tf.grad_pass_through(lambda _: outputs)(inputs)

    def get_config(self):
        return {**super().get_config(), "kaldi_gradients": self.kaldi_gradients}
