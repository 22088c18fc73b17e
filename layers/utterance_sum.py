"""Sums over the frames of an utterance."""

import tensorflow as tf


def utterance_sum(inputs: tf.Tensor, mask=None) -> tuple[tf.Tensor, tf.Tensor]:
    """The sum of each utterance's real frames, and how many those are.

    Args:
        inputs: `(batch, time, dim)`, or `(frames, dim)` of one utterance.
        mask: `(batch, time)` or `(frames,)`, True on real frames; None counts all.
            Whatever stands in the padding, were it NaN, is not summed.

    Returns:
        `(batch, 1, dim)` sums and `(batch, 1, 1)` counts of the inputs' type; without
        a batch `(1, dim)` and `(1, 1)`. Without a mask all counts are one number,
        `(1, 1)`.
    """
    if mask is None:
        count = tf.cast(tf.shape(inputs)[-2], inputs.dtype)
        return tf.reduce_sum(inputs, -2, keepdims=True), tf.reshape(count, [1, 1])
    real = tf.cast(mask, tf.bool)[..., tf.newaxis]
    sums = tf.reduce_sum(tf.where(real, inputs, 0), -2, keepdims=True)
    return sums, tf.reduce_sum(tf.cast(real, inputs.dtype), -2, keepdims=True)
