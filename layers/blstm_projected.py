"""BlstmProjected: nnet1's LSTM in both directions."""

import keras
import tensorflow as tf

from seqzoo.layers.lstm_component import LstmComponent
from seqzoo.layers.lstm_core import lstm


@keras.saving.register_keras_serializable(package="seqzoo")
class BlstmProjected(LstmComponent):
    """Two `LstmProjected`, one from each end of an utterance, side by side.

    The output is the forward one's units, then the backward one's; weights have the
    prefixes `f_` and `b_`. Forget gates start with a bias larger by 1.

    nnet1's gradient of the backward direction takes the frame before for the frame
    after in two places, the derivative to the forget gate and that to the recurrent
    weights. The true gradient is the default.

    Args:
        units: width of the output, half of it a direction's; even.
        cell_dim: cells of a direction.
        kaldi_gradients: True trains with nnet1's gradients, as told above and by
            `LstmProjected`.

    The other arguments are those of `LstmProjected`.

    Input shape: `(batch, time, dim)`, whole utterances.
    Output shape: `(batch, time, units)`.
    Mask: `(batch, time)`, True on real frames at the front: the backward direction
        starts at the last of them. Masked frames put out 0. Passed on as is.

    Raises:
        ValueError: if a size is below 1, `units` is odd, or a range or limit is
            negative.

    Source: Kaldi nnet1 `<BlstmProjected>`, src/nnet/nnet-blstm-projected.h.
    """

    forget_bias = 1.0

    def __init__(self, units: int, cell_dim: int, *args, **kwargs):
        super().__init__(units, cell_dim, *args, **kwargs)
        if units % 2:
            raise ValueError(f"{self.name}: units must be even, not {units}.")

    def build(self, input_shape):
        for prefix in ("f_", "b_"):
            self.add_direction(prefix, input_shape[-1], self.units // 2)

    def call(self, inputs, mask=None):
        inputs = tf.transpose(tf.cast(inputs, self.compute_dtype), [1, 0, 2])
        if mask is None:
            turned = tf.reverse(inputs, [0])
        else:
            mask = tf.transpose(tf.where(mask, 1.0, 0.0))
            lengths = tf.reduce_sum(tf.cast(mask, tf.int32), 0)
            turned = _turned(inputs, lengths)
        forward = self._run("f_", inputs, mask)
        backward = self._run("b_", turned, mask, self.kaldi_gradients)
        if mask is None:
            backward = tf.reverse(backward, [0])
        else:
            backward = _turned(backward, lengths)
        return tf.transpose(tf.concat([forward, backward], 2), [1, 0, 2])

    def _run(self, prefix, inputs, mask, late_neighbours=False):
        batch = tf.shape(inputs)[1]
        sizes = (self.units // 2, self.cell_dim)
        state = tuple(tf.zeros([batch, size]) for size in sizes)
        weights = self.direction(prefix)
        return lstm(inputs, state, weights, self.clips(late_neighbours), mask)[0]


def _turned(values, lengths):
    """The first `lengths` steps of each sequence in the opposite order."""
    return tf.reverse_sequence(values, lengths, seq_axis=0, batch_axis=1)
