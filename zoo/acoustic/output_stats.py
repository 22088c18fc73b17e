"""Statistics of what layers put out, over many utterances."""

from collections.abc import Iterable, Sequence

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from seqzoo.zoo.training import frame_data

# Utterances are taken together up to so many frames.
_FRAMES = 4096


def measure(
    net: Sequence[keras.layers.Layer],
    feats: Iterable[tuple[str, NDArray[np.float32]]],
) -> NDArray[np.float64]:
    """CMVN statistics of the outputs, as `cmvn.accumulate` gives them.

    Args:
        net: layers; `Splice` looks across the frames of an utterance, the others work
            on each alone.
        feats: the utterances.

    Returns:
        `(2, dim + 1)`: sums and the frame count, sums of squares and 0.
    """
    apply = frame_data.rows_function(net)
    assert apply is not None

    signature = [tf.TensorSpec([None, net[0].dims[0]]), tf.TensorSpec([None], tf.int32)]

    @tf.function(input_signature=signature, autograph=False)
    def sums(rows, lengths):
        outputs = apply(rows, lengths)
        found = tf.stack(
            [tf.reduce_sum(outputs, axis=0), tf.reduce_sum(outputs * outputs, axis=0)]
        )
        return tf.cast(found, tf.float64)

    total, count = np.zeros(()), 0
    for utterances in _together(feats):
        lengths = np.array([len(matrix) for matrix in utterances], np.int32)
        total = total + sums(np.concatenate(utterances), lengths).numpy()
        count += int(lengths.sum())
    return np.concatenate([total, [[count], [0]]], axis=1)


def _together(feats):
    held, frames = [], 0
    for _, matrix in feats:
        held.append(matrix)
        frames += len(matrix)
        if frames >= _FRAMES:
            yield held
            held, frames = [], 0
    if held:
        yield held
