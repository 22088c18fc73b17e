"""LstmProjected: nnet1's LSTM with peepholes and a projected output."""

import keras
import tensorflow as tf

from seqzoo.layers.lstm_component import LstmComponent
from seqzoo.layers.lstm_core import lstm


@keras.saving.register_keras_serializable(package="seqzoo")
class LstmProjected(LstmComponent):
    """An LSTM with peepholes whose output is projected to fewer units.

    With the sigmoid `s`, per frame `t` and gate rows of the weights:

        i = s(W_i x + R_i r(t-1) + b_i + p_i c(t-1)),  f likewise
        c = clip(f c(t-1) + i tanh(W_c x + R_c r(t-1) + b_c))
        o = s(W_o x + R_o r(t-1) + b_o + p_o c)
        r = w_r_m (o tanh(c)), the output

    Weights are named as in nnet1, with gates in the order i, f, c, o: `w_ifco_x`,
    `w_ifco_r`, `bias`, `peephole_i_c`, `peephole_f_c`, `peephole_o_c`, `w_r_m`. All
    start uniform.

    A state is `(r, c)` of the last frame. Gradients do not flow through states that
    come in or go out, so chunks trained one after the other are truncated.

    Args:
        units: width of the output.
        cell_dim: cells.
        param_range: initial weights are within plus and minus this.
        cell_clip: largest absolute value of a cell; 0 is no limit, here and below.
        diff_clip: limit of the loss' derivatives to the gates before their
            nonlinearities, after each frame on the way back.
        cell_diff_clip: limit of the derivatives to cells.
        grad_clip: limit that `KaldiSGD` puts on each element of a gradient, momentum
            included.
        learn_rate_coef: times the learning rate, for the matrices; 0 freezes them.
        bias_learn_rate_coef: the same for the bias and the peepholes.
        kaldi_gradients: True lets derivatives pass a cell at its limit, as nnet1
            does.
        seed: of the initial values; None draws anew.

    Input shape: `(batch, time, dim)`.
    Output shape: `(batch, time, units)`.
    Mask: `(batch, time)`; a masked frame puts out 0 and leaves a state of 0. Passed on
        as is.

    Raises:
        ValueError: if a size is below 1 or a range or limit is negative.

    Source: Kaldi nnet1 `<LstmProjected>`, src/nnet/nnet-lstm-projected.h.
    """

    @property
    def state_sizes(self) -> tuple[int, ...]:
        """Widths of the parts of a state."""
        return self.units, self.cell_dim

    def zero_state(self, batch) -> tuple[tf.Tensor, ...]:
        """The state before the first frame, each part `(batch, n)`."""
        return tuple(tf.zeros([batch, size]) for size in self.state_sizes)

    def build(self, input_shape):
        self.add_direction("", input_shape[-1], self.units)

    def run(self, inputs, state, mask=None):
        """Runs on from a state.

        Args:
            inputs: `(batch, time, dim)`.
            state: of `zero_state` or of the run before.
            mask: `(batch, time)`, or None for frames that are all real.

        Returns:
            Outputs, `(batch, time, units)`, and the state after the last frame.
        """
        inputs = tf.transpose(tf.cast(inputs, self.compute_dtype), [1, 0, 2])
        outputs, state = lstm(
            inputs,
            state,
            self.direction(""),
            self.clips(),
            None if mask is None else tf.transpose(tf.where(mask, 1.0, 0.0)),
        )
        return tf.transpose(outputs, [1, 0, 2]), state

    def call(self, inputs, mask=None):
        return self.run(inputs, self.zero_state(tf.shape(inputs)[0]), mask)[0]
