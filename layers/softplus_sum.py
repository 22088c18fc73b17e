"""The sum of softplus over many scores, in one pass each way."""

import tensorflow as tf


@tf.custom_gradient
def softplus_sum(scores, bias):
    """`sum(ln(1 + exp(scores + bias)))` over the last axis.

    Args:
        scores: `(steps, rows, k)`, of any floating type.
        bias: `(steps, 1, k)` or as `scores`; all is computed in its type.

    Returns:
        `(steps, rows)`, in the type of `bias`.
    """
    shared = bias.shape[1] == 1

    def gradient(upstream):
        return _gradient(scores, bias, upstream, shared)

    return _sum(scores, bias), gradient


# Compiled, each is one pass; operation by operation they are ten, of which those of
# exp and log alone take longer.
@tf.function(jit_compile=True, autograph=False, reduce_retracing=True)
def _sum(scores, bias):
    x = tf.cast(scores, bias.dtype) + bias
    # Does not overflow.
    losses = tf.maximum(x, 0) + tf.math.log(1 + tf.exp(-tf.abs(x)))
    return tf.reduce_sum(losses, axis=-1)


@tf.function(jit_compile=True, autograph=False, reduce_retracing=True)
def _gradient(scores, bias, upstream, shared):
    x = tf.cast(scores, bias.dtype) + bias
    to_x = upstream[..., tf.newaxis] * tf.sigmoid(x)
    to_bias = tf.reduce_sum(to_x, axis=1, keepdims=True) if shared else to_x
    return tf.cast(to_x, scores.dtype), to_bias
