"""HiddenSoftmax: a softmax inside a network."""

import keras
import tensorflow as tf

from seqzoo.layers.component import Component


@keras.saving.register_keras_serializable(package="seqzoo")
class HiddenSoftmax(Component):
    """`exp(x_i) / sum_j exp(x_j)`, with its own gradient.

    nnet1's `<Softmax>` leaves its gradient to the cross-entropy behind it, so inside a
    network it has this one, whose gradient is the true one there as well. As the last
    layer it is no part of the loss, as a `Softmax` is.

    Input shape: `(..., dim)`.
    Output shape: the same.
    Mask: passed on as is.

    Source: Kaldi nnet1 `<HiddenSoftmax>`, src/nnet/nnet-activation.h.
    """

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        return tf.nn.softmax(inputs)
