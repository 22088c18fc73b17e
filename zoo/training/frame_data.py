"""Frame data: a set of utterances as fillings of nnet1's frame buffer."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets import frames


def rows_function(transform: Sequence[keras.layers.Layer]) -> frames.Transform | None:
    """A feature transform as a function of utterances laid end to end.

    Args:
        transform: layers; `Splice` looks across frames, the others work on each
            alone. Empty gives None.
    """
    if not transform:
        return None

    def apply(feats, lengths):
        for layer in transform:
            if isinstance(layer, layers.Splice):
                feats = layers.splice_rows(feats, lengths, layer.offsets)
            else:
                feats = layer(feats)
        return feats

    return apply


def fillings(
    blocks: tf.data.Dataset,
    transform: Sequence[keras.layers.Layer],
    minibatch_size: int,
    permutation: frames.Permutation | None = None,
    drop_tail: bool = False,
) -> tf.data.Dataset:
    """What `FrameTrainer` takes, one filling made while the last is learnt.

    Args:
        blocks: of `frame_records.read` or `frame_records.stream`.
        transform: layers of the feature transform.
        minibatch_size: frames.
        permutation: order of the frames in each filling; None keeps it.
        drop_tail: leave out the end of the set that fills no minibatch.
    """
    rows = blocks.apply(frames.transform(rows_function(transform)))
    shuffled = rows.apply(frames.randomize(minibatch_size, permutation, drop_tail))
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    # There is nothing to tune, and each new iterator would pay for looking.
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return shuffled.prefetch(1).with_options(options)
