"""Frame losses with nnet1's counting: what a minibatch adds to each sum."""

from collections.abc import Sequence
from typing import NamedTuple

import tensorflow as tf


class FrameLoss(NamedTuple):
    """What one minibatch contributes.

    Attributes:
        diff: `(frames, dim)`, gradient of the summed loss to the network's output
            (to the logits for cross-entropy).
        sums: `(4,)` float64: loss, target entropy, correct frames, frames.
        per_class: `(4, dim)` float64, the same by target class; zeros for mse.
    """

    diff: tf.Tensor
    sums: tf.Tensor
    per_class: tf.Tensor


# Kaldi's guard inside every logarithm.
_TINY = 1e-20


def dense_targets(ids, values, dim: int):
    """`(frames, dim)` targets of `(frames, k)` pairs; pairs of one id add up.

    Args:
        ids: `(frames, k)` int32 class of each pair; padding has value 0.
        values: `(frames, k)` float32.
        dim: width of the output.
    """
    if ids.shape[1] == 1:
        return tf.one_hot(ids[:, 0], dim, dtype=values.dtype) * values
    rows = tf.repeat(tf.range(tf.shape(ids)[0]), tf.shape(ids)[1])
    places = tf.stack([rows, tf.reshape(ids, [-1])], axis=1)
    return tf.scatter_nd(places, tf.reshape(values, [-1]), [tf.shape(ids)[0], dim])


def xent(
    logits,
    ids,
    values,
    weights,
    blocks: Sequence[int] = (),
    kaldi_gradients: bool = False,
) -> FrameLoss:
    """Cross-entropy of softmax(logits) against target distributions.

    A frame has weight `w = weight * sum(its targets)`; the gradient is
    `(softmax - target) * w`, the loss `-sum w t log y`, the entropy
    `-sum w t log t`, the count of frames `sum w t`, and a frame is `w` times correct
    where both have their maximum at the same class.

    With `blocks` each block of outputs has a softmax of its own. The gradient in a
    block whose targets sum to `s` is `(s softmax - target) * w`: none where the frame
    has no target. With `kaldi_gradients` it is `(softmax - target) * w`, which nnet1
    sends to its block softmax for that to mask blocks without targets.

    Args:
        logits: `(frames, dim)` float32, before softmax.
        ids, values: `(frames, k)` target pairs.
        weights: `(frames,)` frame weights.
        blocks: widths of the blocks of a block softmax, `dim` in all; none is one
            softmax over all.
        kaldi_gradients: True leaves the blocks without targets in.

    Source: Kaldi nnet1 Xent, src/nnet/nnet-loss.cc.
    """
    dim = logits.shape[1]
    weights = weights * tf.reduce_sum(values, axis=1)
    targets = dense_targets(ids, values, dim)
    if blocks:
        posteriors, diff = _in_blocks(logits, targets, weights, blocks, kaldi_gradients)
        scores = posteriors
    else:
        posteriors, scores = tf.nn.softmax(logits), logits
        diff = (posteriors - targets) * weights[:, tf.newaxis]

    mass = weights[:, tf.newaxis] * values
    scored = tf.gather(posteriors, ids, axis=1, batch_dims=1)
    pairs = tf.stack(
        [
            -mass * tf.math.log(scored + _TINY),
            -mass * tf.math.log(values + _TINY),
            mass,
        ],
        axis=-1,
    )
    # Of equal targets the class of the lowest number counts.
    most = values == tf.reduce_max(values, axis=1, keepdims=True)
    wanted = tf.reduce_min(tf.where(most, ids, dim - 1), axis=1)
    hit = tf.argmax(scores, axis=1, output_type=tf.int32) == wanted
    correct = weights * tf.cast(hit, weights.dtype)

    def by_class(numbers, classes):
        numbers = tf.cast(numbers, tf.float64)
        return tf.math.unsorted_segment_sum(numbers, classes, num_segments=dim)

    loss, entropy, frames = tf.unstack(by_class(pairs, ids), axis=-1)
    per_class = tf.stack([loss, entropy, by_class(correct, wanted), frames])
    return FrameLoss(diff, tf.reduce_sum(per_class, axis=1), per_class)


def _in_blocks(logits, targets, weights, blocks, kaldi_gradients):
    """Posteriors of a block softmax, and the gradient."""
    weights = weights[:, tf.newaxis]
    posteriors, diffs = [], []
    for part, wanted in zip(
        tf.split(logits, blocks, axis=1), tf.split(targets, blocks, axis=1), strict=True
    ):
        posterior = tf.nn.softmax(part)
        if kaldi_gradients:
            diff = (posterior - wanted) * weights
        else:
            mass = tf.reduce_sum(wanted, axis=1, keepdims=True)
            diff = (mass * posterior - wanted) * weights
        posteriors.append(posterior)
        diffs.append(diff)
    return tf.concat(posteriors, axis=1), tf.concat(diffs, axis=1)


def mse(outputs, ids, values, weights) -> FrameLoss:
    """Half the squared distance to the targets.

    The gradient is `w (y - t)`. The reported loss is `0.5 sum w (w (y - t))^2`,
    with the weight cubed, as nnet1 reports it, and a minibatch counts
    `int(sum w)` frames.

    Args:
        outputs: `(frames, dim)` float32.
        ids, values: `(frames, k)` target pairs; any numbers.
        weights: `(frames,)` frame weights.

    Source: Kaldi nnet1 Mse, src/nnet/nnet-loss.cc.
    """
    dim = outputs.shape[1]
    diff = outputs - dense_targets(ids, values, dim)
    diff *= weights[:, tf.newaxis]
    loss = 0.5 * tf.reduce_sum(tf.reduce_sum(tf.square(diff), axis=1) * weights)
    frames = tf.floor(tf.reduce_sum(weights))
    sums = tf.cast(tf.stack([loss, 0.0, 0.0, frames]), tf.float64)
    return FrameLoss(diff, sums, tf.zeros([4, dim], tf.float64))
