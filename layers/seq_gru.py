"""SeqGRU: the gated recurrent unit of language models."""

import keras

from seqzoo.layers.gru_core import gru
from seqzoo.layers.sequence_layer import SequenceLayer


@keras.saving.register_keras_serializable(package="seqzoo")
class SeqGRU(SequenceLayer):
    """A GRU whose reset gate acts before the recurrent product.

    With the sigmoid `s`, per step `t` and gate rows of the weights:

        z = s(W_z x + R_z h(t-1) + b_z),  r likewise
        n = tanh(W_n x + R_n (r h(t-1)) + b_n)
        h = z h(t-1) + (1 - z) n, the output

    Weights, with gates in the order z, r, n: `w_zrn_x`, `w_zrn_h`, `bias`. A state is
    `(h,)`. In Keras's `GRU` this is `reset_after=False`.

    Args:
        units: width of the output.
        mask_mode, through_state, time_major, uniform, seed: see `SequenceLayer`,
            which tells shapes, mask and errors.

    Source: Element-Research/rnn, SeqGRU.lua, which stacks r, z, n. As there, the
    bias of z starts at 1.
    """

    @property
    def state_sizes(self) -> tuple[int, ...]:
        return (self.units,)

    def build(self, input_shape):
        dim, units = input_shape[-1], self.units
        shapes = {
            "w_zrn_x": (3 * units, dim),
            "w_zrn_h": (3 * units, units),
            "bias": (3 * units,),
        }
        self.add_weights(shapes, dim + units, kept=0, blocks=3)

    def recur(self, inputs, state, mask):
        outputs, last = gru(
            inputs,
            state[0],
            *self.tensors(),
            mask,
            carry=self.mask_mode == "carry",
            through_state=self.through_state,
        )
        return outputs, (last,)
