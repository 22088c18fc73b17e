"""The recurrence of a plain LSTM in bfloat16, over few steps that are written out.

What `lstm_core` does for all LSTMs is here arranged for narrow products, beside which
all else weighs: gates lie one after the other in memory and are taken apart without a
copy, the bias and the mask come by the product of the inputs, and what a step leaves to
the gradient stays where it is.
"""

import tensorflow as tf

from seqzoo.layers.lstm_cell_gradient import lstm_cell_gradient
from seqzoo.layers.lstm_core import LstmWeights

LONGEST = 64
"""Steps; more would take seconds to trace."""

# Closes a gate, whatever else comes in; far from the largest bfloat16.
_SHUT = -1e30


def narrow_lstm(
    inputs, state, weights: LstmWeights, mask=None, *, through_state: bool = False
):
    """As `lstm_core.lstm` without peepholes, projection, clips and `carry`.

    Args:
        inputs: `(time, batch, dim)`, bfloat16, of at most `LONGEST` steps.
        state: `(h, c)` before the first step, `(batch, cells)` each.
        weights: without a projection and peepholes.
        mask: `(time, batch)`, False where a step puts out 0 and leaves a state of 0;
            None is True everywhere.
        through_state: whether gradients flow through the states, going in and out.

    Returns:
        The outputs, `(time, batch, cells)` in bfloat16, and the state after the last
        step, float32.
    """
    first = tuple(tf.cast(part, tf.float32) for part in state)
    if not through_state:
        first = tuple(tf.stop_gradient(part) for part in first)

    @tf.custom_gradient
    def run(inputs, h, c, *flat):
        weights = LstmWeights(*(tf.cast(one, inputs.dtype) for one in flat))
        beside = _beside(inputs, mask)
        hiddens, cells, gates = _forward(beside, h, c, weights, mask is not None)
        # One copy of them serves as outputs and as what each step found.
        hiddens = tf.stack([tf.cast(h, inputs.dtype), *hiddens])

        def gradient(to_outputs, to_h, to_c):
            later = (to_h, to_c) if through_state else (tf.zeros_like(h),) * 2
            grads, (to_h, to_c) = _back(to_outputs, later, c, cells, gates, weights)
            found = _by_weights(grads, beside, hiddens[:-1], inputs.shape[-1])
            to_inputs = tf.matmul(_rows(grads), _reordered(weights.inputs))
            return (
                tf.reshape(to_inputs, tf.shape(inputs)),
                to_h,
                to_c,
                *(tf.cast(one, f.dtype) for one, f in zip(found, flat, strict=True)),
            )

        last = tf.cast(hiddens[-1], tf.float32)
        return (hiddens[1:], last, cells[-1][0]), gradient

    outputs, h, c = run(inputs, *first, *weights[:3])
    if not through_state:
        h, c = tf.stop_gradient(h), tf.stop_gradient(c)
    return outputs, (h, c)


def _beside(inputs, mask):
    """Inputs, then 1 for the bias, then 1 where the gates are shut."""
    more = [inputs, tf.ones_like(inputs[..., :1])]
    if mask is not None:
        more.append(tf.cast(tf.logical_not(mask), inputs.dtype)[..., tf.newaxis])
    return tf.concat(more, -1)


def _forward(beside, h, c, weights: LstmWeights, masked: bool):
    """Of each step `h`, `(c, tanh(c))` and `(i, f, o, g)`."""
    dtype, cells = beside.dtype, weights.recurrent.shape[1]
    columns = [weights.inputs, weights.bias[:, tf.newaxis]]
    if masked:
        shut = tf.fill([3 * cells], tf.constant(_SHUT, dtype))
        shut = tf.concat([shut[cells:], tf.zeros([cells], dtype), shut[:cells]], 0)
        columns.append(shut[:, tf.newaxis])
    by_inputs, recurrent = (
        _ifog(tf.reshape(one, [4, cells, one.shape[1]]))
        for one in (tf.concat(columns, 1), weights.recurrent)
    )
    projected = tf.matmul(beside[:, tf.newaxis], by_inputs[tf.newaxis], False, True)
    hiddens, traces, gates = [], [], []
    h = tf.cast(h, dtype)
    for x in tf.unstack(projected):
        x += tf.matmul(h[tf.newaxis], recurrent, transpose_b=True)
        x = tf.cast(x, tf.float32)
        i, f, o = tf.unstack(tf.sigmoid(x[:3]))
        g = tf.tanh(x[3])
        c = f * c + i * g
        bounded = tf.tanh(c)
        h = tf.cast(o * bounded, dtype)
        hiddens.append(h)
        traces.append((c, bounded))
        gates.append((i, f, o, g))
    return hiddens, traces, gates


def _back(to_outputs, later, c, traces, gates, weights: LstmWeights):
    """Derivatives to the gates, `(time, batch, 4 * cells)`, and to the first state."""
    recurrent, dtype = _reordered(weights.recurrent), to_outputs.dtype
    to_h, to_c = later
    befores = [c, *(trace[0] for trace in traces[:-1])]
    steps = zip(tf.unstack(to_outputs), befores, traces, gates, strict=True)
    found = []
    for wanted, before, (c, bounded), (i, f, o, g) in reversed(list(steps)):
        to_h += tf.cast(wanted, tf.float32)
        grad, to_c = lstm_cell_gradient(i, f, g, o, c, before, to_h, to_c, bounded)
        grad = tf.cast(grad, dtype)
        to_h = tf.cast(tf.matmul(grad, recurrent), tf.float32)
        found.append(grad)
    return tf.stack(found[::-1]), (to_h, to_c)


def _by_weights(grads, beside, before, dim: int):
    """Gradients of the weights of inputs, the recurrent ones and the bias."""
    by_beside, by_before = (
        _reordered(tf.matmul(_rows(grads), _rows(rows), transpose_a=True))
        for rows in (beside, before)
    )
    return by_beside[:, :dim], by_before, by_beside[:, dim]


def _reordered(values):
    """Gates along the first axis in the order i, f, c, o -> i, c, f, o, or back."""
    i, f, c, o = tf.split(values, 4, axis=0)
    return tf.concat([i, c, f, o], 0)


def _ifog(gates):
    """i, f, c, o -> i, f, o, c."""
    i, f, c, o = tf.unstack(gates)
    return tf.stack([i, f, o, c])


def _rows(values):
    return tf.reshape(values, [-1, values.shape[-1]])
