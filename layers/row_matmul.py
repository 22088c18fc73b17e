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
    if inputs.shape.rank != 2:
        shape = tf.concat([tf.shape(inputs)[:-1], [weights.shape[0]]], axis=0)
        outputs = tf.reshape(outputs, shape)
    if bias is None:
        return outputs
    bias = tf.cast(bias, outputs.dtype)
    if outputs.dtype != tf.bfloat16 or inputs.shape.rank != 2:
        return tf.nn.bias_add(outputs, bias)
    # The axis keeps TensorFlow from making one operation of product and bias, which
    # in bfloat16 is up to four times slower than both.
    outputs = tf.nn.bias_add(outputs[:, tf.newaxis], bias)
    return tf.squeeze(outputs, 1)
