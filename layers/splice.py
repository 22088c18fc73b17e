"""Splice: each frame with its neighbours in time."""

from collections.abc import Sequence

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="seqzoo")
class Splice(keras.layers.Layer):
    """Lays each frame's neighbours in time side by side.

    Output frame `t` is `concat(x[t + o] for o in offsets)`. An offset that
    reaches past an end of the utterance repeats the frame at that end; with a
    mask, that is the last unmasked frame, never padding.

    Args:
        offsets: ints, in frames, relative to the current frame; `range(-5, 6)`
            is the 11-frame window of the DNN recipe.

    Input shape: `(batch, time, dim)`.
    Output shape: `(batch, time, len(offsets) * dim)`, in the order of `offsets`.
    Mask: `(batch, time)`, True on real frames at the front; passed on as is.

    Raises:
        ValueError: if `offsets` is empty or holds anything but whole numbers.

    Source: Kaldi nnet1 `<Splice>`, src/nnet/nnet-various.h.
    """

    def __init__(self, offsets: Sequence[int], **kwargs):
        super().__init__(**kwargs)
        offsets = tuple(offsets)
        if not offsets:
            raise ValueError(f"{self.name}: offsets must name at least one frame.")
        if any(int(o) != o for o in offsets):
            raise ValueError(f"{self.name}: offsets are whole frames, not {offsets}.")
        self.offsets = tuple(int(o) for o in offsets)
        self.supports_masking = True
        self.input_spec = keras.InputSpec(ndim=3)

    def compute_output_shape(self, input_shape):
        batch, time, dim = input_shape
        return (batch, time, None if dim is None else dim * len(self.offsets))

    def call(self, inputs, mask=None):
        shape = tf.shape(inputs)
        if mask is None:
            lengths = shape[1][tf.newaxis]
        else:
            lengths = tf.reduce_sum(tf.cast(mask, tf.int32), axis=1)
        last = (lengths - 1)[:, tf.newaxis, tf.newaxis]
        wanted = tf.range(shape[1])[:, tf.newaxis] + tf.constant(self.offsets)
        # An empty row, whose last frame is -1, still points at one: at frame 0.
        frames = tf.maximum(tf.minimum(wanted[tf.newaxis], last), 0)
        if mask is None:
            windows = tf.gather(inputs, frames[0], axis=1)
        else:
            windows = tf.gather(inputs, frames, axis=1, batch_dims=1)
        width = inputs.shape[2] * len(self.offsets)
        return tf.reshape(windows, [shape[0], shape[1], width])

    def get_config(self):
        return {**super().get_config(), "offsets": self.offsets}


def splice_rows(rows, lengths, offsets: Sequence[int]):
    """`Splice` of utterances laid end to end.

    Args:
        rows: `(frames, dim)`, one utterance after the other.
        lengths: `(utterances,)` int32 frames of each.
        offsets: in frames, as of `Splice`.

    Returns:
        `(frames, len(offsets) * dim)`.
    """
    ends = tf.cumsum(lengths)
    first = tf.repeat(ends - lengths, lengths)[:, tf.newaxis]
    last = tf.repeat(ends - 1, lengths)[:, tf.newaxis]
    wanted = tf.range(tf.shape(rows)[0])[:, tf.newaxis] + tf.constant(tuple(offsets))
    windows = tf.gather(rows, tf.clip_by_value(wanted, first, last))
    return tf.reshape(windows, [-1, rows.shape[1] * len(offsets)])
