"""The sum of softplus over many scores, in few passes."""

import numpy as np
import tensorflow as tf


@tf.custom_gradient
def softplus_sum(scores, bias):
    """`sum(ln(1 + exp(scores + bias)))` over the last axis.

    A logarithm is taken of `1 - sigmoid`, which costs half of TensorFlow's softplus,
    and what it leaves gives the gradient. Both are exact to the last digit of 1, and a
    term is at most 87 (in float32).

    Args:
        scores: `(steps, rows, k)`, of any floating type.
        bias: `(steps, 1, k)` or as `scores`, float32 or float64, as all is computed.

    Returns:
        `(steps, rows)`, in the type of `bias`.
    """
    dtype = bias.dtype
    others = tf.sigmoid(-bias - tf.cast(scores, dtype))
    least = tf.constant(np.finfo(dtype.as_numpy_dtype).tiny, dtype)

    def gradient(upstream):
        to_x = upstream[..., tf.newaxis] * (1 - others)
        to_bias = to_x
        if bias.shape[1] == 1:
            to_bias = tf.reduce_sum(to_x, axis=1, keepdims=True)
        return tf.cast(to_x, scores.dtype), to_bias

    return -tf.reduce_sum(tf.math.log(tf.maximum(others, least)), axis=-1), gradient
