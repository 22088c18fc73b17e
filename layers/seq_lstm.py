"""SeqLSTM: the LSTM of language models, with or without a projection."""

import keras
import tensorflow as tf

from seqzoo.layers import lstm_narrow
from seqzoo.layers.lstm_block import block_lstm
from seqzoo.layers.lstm_core import LstmClips, LstmWeights, lstm
from seqzoo.layers.sequence_layer import SequenceLayer


@keras.saving.register_keras_serializable(package="seqzoo")
class SeqLSTM(SequenceLayer):
    """An LSTM; with `cell_dim`, one whose output is projected.

    With the sigmoid `s`, per step `t` and gate rows of the weights:

        i = s(W_i x + R_i h(t-1) + b_i),  f and o likewise
        c = f c(t-1) + i tanh(W_c x + R_c h(t-1) + b_c)
        h = o tanh(c), the output; projected h = w_h_m (o tanh(c))

    Weights, with gates in the order i, f, c, o: `w_ifco_x`, `w_ifco_h`, `bias`, then
    `peephole_i_c`, `peephole_f_c`, `peephole_o_c` and `w_h_m` where there are such. A
    state is `(h, c)`.

    Args:
        units: width of the output.
        cell_dim: cells, if the output is projected; None has `units` cells and no
            projection.
        peepholes: gates see the cell too: i and f that before, o that after, each
            with a weight of its own.
        mask_mode, through_state, time_major, uniform, seed: see `SequenceLayer`,
            which tells shapes, mask and errors. The forget gate's bias starts at 1.

    Source: Element-Research/rnn, SeqLSTM.lua, SeqLSTMP.lua and, for peepholes,
    LSTM.lua.
    """

    def __init__(
        self,
        units: int,
        cell_dim: int | None = None,
        peepholes: bool = False,
        **kwargs,
    ):
        super().__init__(units, **kwargs)
        if cell_dim is not None and cell_dim < 1:
            raise ValueError(
                f"{self.name}: cell_dim must be at least 1, not {cell_dim}."
            )
        self.cell_dim = cell_dim
        self.peepholes = peepholes

    @property
    def state_sizes(self) -> tuple[int, ...]:
        return self.units, self.cell_dim or self.units

    def build(self, input_shape):
        dim, cells = input_shape[-1], self.state_sizes[1]
        shapes = {
            "w_ifco_x": (4 * cells, dim),
            "w_ifco_h": (4 * cells, self.units),
            "bias": (4 * cells,),
        }
        if self.peepholes:
            for gate in "ifo":
                shapes[f"peephole_{gate}_c"] = (cells,)
        if self.cell_dim is not None:
            shapes["w_h_m"] = (self.units, cells)
        self.add_weights(shapes, dim + self.units, kept=1, blocks=4)

    def recur(self, inputs, state, mask):
        inputs_w, recurrent, bias, *others = self.tensors()
        weights = LstmWeights(inputs_w, recurrent, bias)
        if self.peepholes:
            i, f, o, *others = others
            weights = weights._replace(peephole_i=i, peephole_f=f, peephole_o=o)
        if others:
            weights = weights._replace(projection=others[0])
        carry = self.mask_mode == "carry" and mask is not None
        fast = None if carry or others else _fast_run(inputs, weights)
        if fast is not None:
            return fast(inputs, state, weights, mask, through_state=self.through_state)
        return lstm(
            inputs,
            state,
            weights,
            LstmClips(),
            mask,
            carry=carry,
            through_state=self.through_state,
        )

    def get_config(self):
        return {
            **super().get_config(),
            "cell_dim": self.cell_dim,
            "peepholes": self.peepholes,
        }


def _fast_run(inputs, weights: LstmWeights):
    """What runs such an LSTM faster than `lstm_core.lstm`, if anything does."""
    if inputs.dtype == tf.float32:
        return block_lstm
    steps = inputs.shape[0]
    plain = inputs.dtype == tf.bfloat16 and weights.peephole_i is None
    if plain and steps is not None and 0 < steps <= lstm_narrow.LONGEST:
        return lstm_narrow.narrow_lstm
    return None
