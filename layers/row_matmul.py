"""The product of rows of numbers with weights that are kept one row a unit."""

import tensorflow as tf


def row_matmul(inputs: tf.Tensor, weights: tf.Tensor, bias=None) -> tf.Tensor:
    """`inputs @ weights.T + bias`, as one product over all leading axes.

    Args:
        inputs: `(..., dim)`.
        weights: `(units, dim)`.
        bias: `(units,)`, cast to the inputs' type; None adds nothing.

    Returns:
        `(..., units)`.
    """
    rows = inputs
    if inputs.shape.rank != 2:
        rows = tf.reshape(inputs, [-1, weights.shape[1]])
    outputs = tf.matmul(rows, weights, transpose_b=True)
    if bias is not None:
        outputs = tf.nn.bias_add(outputs, tf.cast(bias, outputs.dtype))
    if inputs.shape.rank == 2:
        return outputs
    shape = tf.concat([tf.shape(inputs)[:-1], [weights.shape[0]]], axis=0)
    return tf.reshape(outputs, shape)
