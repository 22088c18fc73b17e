"""The recurrence of a plain LSTM by TensorFlow's one operation for whole sequences."""

import tensorflow as tf

from seqzoo.layers.lstm_core import LstmWeights

# Closes a gate, whatever else comes in; far from the largest float32.
_SHUT = -1e30


def block_lstm(
    inputs, state, weights: LstmWeights, mask=None, *, through_state: bool = False
):
    """As `lstm_core.lstm` without projection, clips and `carry`, but faster.

    The gates of a masked step are shut, by an input of its own that is 1 there and
    else 0. So the step puts out 0 and leaves a state of 0, and no derivative passes
    it.

    Args:
        inputs: `(time, batch, dim)`, float32.
        state: `(h, c)` before the first step, `(batch, cells)` each.
        weights: without a projection.
        mask: `(time, batch)`, False where a step puts out 0 and leaves a state of 0;
            None is True everywhere.
        through_state: whether gradients flow through the states, going in and out.

    Returns:
        The outputs, `(time, batch, cells)`, and the state after the last step.
    """
    dtype, cells = inputs.dtype, weights.recurrent.shape[1]
    first = tuple(tf.cast(part, dtype) for part in state)
    there = [weight for weight in weights if weight is not None]
    of_inputs, recurrent, bias, *peepholes = (tf.cast(one, dtype) for one in there)
    rows = [tf.transpose(of_inputs), tf.transpose(recurrent)]
    more = []
    if mask is not None:
        more.append(tf.cast(tf.logical_not(mask), dtype)[..., tf.newaxis])
        row = tf.fill([1, cells], tf.constant(_SHUT, dtype))
        rows.insert(1, tf.concat([row, row, tf.zeros_like(row), row], 1))
    if (inputs.shape[-1] + len(more)) % 2:
        # An odd width is slow, and warned of.
        more.append(tf.zeros_like(inputs[..., :1]))
        rows.insert(-1, tf.zeros([1, 4 * cells], dtype))
    inputs = tf.concat([inputs, *more], -1)
    if not through_state:
        first = tuple(tf.stop_gradient(part) for part in first)
    run = _run(bool(peepholes), through_state)
    peepholes = peepholes or [tf.zeros([cells], dtype)] * 3
    outputs, h, c = run(inputs, *first, tf.concat(rows, 0), bias, *peepholes)
    if not through_state:
        h, c = tf.stop_gradient(h), tf.stop_gradient(c)
    return outputs, (h, c)


def _run(use_peephole: bool, through_state: bool):
    """The operation, whose gradient TensorFlow does not know."""

    @tf.custom_gradient
    def run(inputs, h, c, matrix, bias, i_peephole, f_peephole, o_peephole):
        given = {
            "seq_len_max": tf.shape(inputs, tf.int64)[0],
            "x": inputs,
            "h_prev": h,
            "cs_prev": c,
            "w": matrix,
            "b": bias,
            "wci": i_peephole,
            "wcf": f_peephole,
            "wco": o_peephole,
            "use_peephole": use_peephole,
        }
        made = tf.raw_ops.BlockLSTMV2(**given, cell_clip=0.0)

        def gradient(to_outputs, to_h, to_c):
            to_cells = tf.zeros_like(made.cs)
            if through_state:
                to_outputs = tf.concat([to_outputs[:-1], to_outputs[-1:] + to_h], 0)
                to_cells = tf.concat([to_cells[:-1], to_c[tf.newaxis]], 0)
            found = tf.raw_ops.BlockLSTMGradV2(
                **given, **made._asdict(), h_grad=to_outputs, cs_grad=to_cells
            )
            return (
                found.x_grad,
                found.h_prev_grad,
                found.cs_prev_grad,
                found.w_grad,
                found.b_grad,
                found.wci_grad,
                found.wcf_grad,
                found.wco_grad,
            )

        return (made.h, made.h[-1], made.cs[-1]), gradient

    return run
