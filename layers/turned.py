"""Weights turned round, for products that are repeated step after step."""

import tensorflow as tf


def turned(weights: tf.Tensor) -> tf.Tensor:
    """The transpose of a matrix, as a copy.

    A product of a few rows with it is up to twice as fast as with the transposed
    original, and over some ten steps that outweighs the copy. A plain `tf.transpose`
    would be taken back into the products by TensorFlow's graph optimizer.
    """
    rows, columns = weights.shape
    deep = tf.transpose(weights[..., tf.newaxis], [1, 0, 2])
    return tf.reshape(deep, [columns, rows])
