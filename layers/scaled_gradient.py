"""The identity, with a gradient that is not its own."""

import tensorflow as tf
from numpy.typing import ArrayLike


def scaled_gradient(inputs: tf.Tensor, factor: ArrayLike) -> tf.Tensor:
    """`inputs`, whose gradient is that of the output times `factor`.

    Where nnet1's gradient is a multiple of the true one, this in front of a layer
    gives it.

    Args:
        inputs: of any shape.
        factor: a number, or an array that broadcasts against `inputs`; 0 gives
            zeros, and not, as `tf.stop_gradient` does, no gradient.
    """

    @tf.custom_gradient
    def identity(x):
        return tf.identity(x), lambda diff: diff * tf.cast(factor, diff.dtype)

    return identity(inputs)
