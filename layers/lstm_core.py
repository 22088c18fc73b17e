"""The recurrence of an LSTM with peepholes and projection, and its gradient.

The gradient is written by hand: what does not depend on the following step is
computed for all steps at once, each weight's gradient is one product over all steps,
and the derivatives can be clipped on their way back through time.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from seqzoo.layers.row_matmul import row_matmul
from seqzoo.layers.time_loop import time_loop
from seqzoo.layers.turned import turned


class LstmWeights(NamedTuple):
    """The weights of one direction; gates are stacked in the order i, f, c, o.

    Attributes:
        inputs: `(4 * cells, dim)`, of the inputs.
        recurrent: `(4 * cells, units)`, of the previous output.
        bias: `(4 * cells,)`.
        peephole_i, peephole_f: `(cells,)`, of the previous cell in those gates.
        peephole_o: `(cells,)`, of the new cell in the output gate.
        projection: `(units, cells)`.
    """

    inputs: tf.Tensor
    recurrent: tf.Tensor
    bias: tf.Tensor
    peephole_i: tf.Tensor
    peephole_f: tf.Tensor
    peephole_o: tf.Tensor
    projection: tf.Tensor


@dataclasses.dataclass(frozen=True, kw_only=True)
class LstmClips:
    """What is kept within limits, and how gradients pass; 0 is no limit."""

    cell_clip: float = 0.0
    """Largest absolute value of a cell."""

    diff_clip: float = 0.0
    """The same of the loss' derivative to a gate before its nonlinearity, after each
    step back in time."""

    cell_diff_clip: float = 0.0
    """The same of the derivative to a cell."""

    through_cell_clip: bool = False
    """Whether derivatives pass a clipped cell as if it were not, as in nnet1."""

    late_neighbours: bool = False
    """Whether the gradient takes what followed a step for what preceded it, in the
    forget gate and the recurrent weights, as nnet1's backward direction does."""


def lstm(inputs, state, weights: LstmWeights, clips: LstmClips, mask=None):
    """Runs an LSTM over sequences, time first.

    With the sigmoid `s` and `x`, `r`, `c` the input, output and cell of a step:

        i = s(W_i x + R_i r' + b_i + p_i c'),  f likewise
        c = clip(f c' + i tanh(W_c x + R_c r' + b_c))
        o = s(W_o x + R_o r' + b_o + p_o c)
        r = P (o tanh(c))

    Products are computed in the type of `inputs`, all else in float32. Gradients flow
    to the inputs and the weights; none through the states, going in or out.

    Args:
        inputs: `(time, batch, dim)`.
        state: `(r, c)` before the first step: `(batch, units)`, `(batch, cells)`.
        weights: in any floating type.
        clips: of values and derivatives.
        mask: `(time, batch)`, False where a step puts out 0 and leaves a state of 0;
            None is True everywhere.

    Returns:
        The outputs, `(time, batch, units)` in the type of `inputs`, and the state
        after the last step, float32.
    """
    kept = None if mask is None else tf.cast(mask, tf.float32)[..., tf.newaxis]
    first = tuple(tf.cast(tf.stop_gradient(part), tf.float32) for part in state)

    @tf.custom_gradient
    def run(inputs, *flat):
        weights = LstmWeights(*flat)
        outputs, trace = _forward(inputs, first, weights, clips, kept)
        last = (trace.r[-1], trace.c[-1])

        def gradient(outputs_grad, *_):
            return _backward(outputs_grad, inputs, first, weights, clips, kept, trace)

        return (outputs, *last), gradient

    outputs, r, c = run(inputs, *weights)
    return outputs, (tf.stop_gradient(r), tf.stop_gradient(c))


class _Trace(NamedTuple):
    """What the forward pass leaves to the backward one, `(time, batch, ...)`."""

    i: tf.Tensor
    f: tf.Tensor
    g: tf.Tensor
    o: tf.Tensor
    c: tf.Tensor
    r: tf.Tensor


def _forward(inputs, state, weights: LstmWeights, clips: LstmClips, kept):
    dtype = inputs.dtype
    cells = weights.projection.shape[1]
    recurrent = turned(tf.cast(weights.recurrent, dtype))
    projection = tf.cast(weights.projection, dtype)
    peep_i, peep_f, peep_o = _peepholes(weights)
    projected = row_matmul(inputs, tf.cast(weights.inputs, dtype), weights.bias)

    def step(state, at_t):
        r, c = state
        x = at_t[0] + tf.matmul(tf.cast(r, dtype), recurrent)
        i, f, g, o = tf.split(tf.cast(x, tf.float32), 4, axis=1)
        i = tf.sigmoid(i + c * peep_i)
        f = tf.sigmoid(f + c * peep_f)
        g = tf.tanh(g)
        c = _clip(f * c + i * g, clips.cell_clip)
        o = tf.sigmoid(o + c * peep_o)
        m = tf.cast(o * tf.tanh(c), dtype)
        r = tf.cast(tf.matmul(m, projection, transpose_b=True), tf.float32)
        if kept is not None:
            r, c = r * at_t[1], c * at_t[1]
        return (r, c), _Trace(i, f, g, o, c, r)

    batch = inputs.shape[1]
    cell = tf.TensorSpec([batch, cells], tf.float32)
    output = tf.TensorSpec([batch, weights.projection.shape[0]], tf.float32)
    sequences = (projected,) if kept is None else (projected, kept)
    _, trace = time_loop(step, state, sequences, (*[cell] * 5, output))
    trace = _Trace(*trace)
    return tf.cast(trace.r, dtype), trace


def _backward(grad, inputs, state, weights: LstmWeights, clips: LstmClips, kept, trace):
    dtype = inputs.dtype
    i, f, g, o, c, r = trace
    before_r, before_c = _shifted(r, state[0]), _shifted(c, state[1])
    forgotten, recalled = before_c, before_r
    if clips.late_neighbours:
        forgotten, recalled = _shifted_back(c), _shifted_back(r)
    peep_i, peep_f, peep_o = _peepholes(weights)
    recurrent = tf.cast(weights.recurrent, dtype)
    projection = tf.cast(weights.projection, dtype)

    # Derivatives of one value to another within a step, for all steps at once.
    h = tf.tanh(c)
    out_by_m = h * o * (1 - o)
    c_by_m = o * (1 - h * h) + out_by_m * peep_o
    inner = tf.concat([g * i * (1 - i), forgotten * f * (1 - f), i * (1 - g * g)], -1)
    grad = tf.cast(grad, tf.float32)
    m = o * h
    if clips.cell_clip > 0 and not clips.through_cell_clip:
        inside = tf.cast(tf.abs(c) < clips.cell_clip, tf.float32)
        inner *= tf.tile(inside, [1, 1, 3])
        f *= inside
    if kept is not None:
        grad, m, out_by_m, c_by_m, inner, f = (
            value * kept for value in (grad, m, out_by_m, c_by_m, inner, f)
        )
    by = tf.concat([inner, out_by_m], -1)

    def step(later, at_t):
        gates_grad, c_grad = later
        by, c_by_m, f, grad = at_t
        back = tf.matmul(tf.cast(gates_grad, dtype), recurrent)
        r_grad = grad + tf.cast(back, tf.float32)
        m_grad = tf.matmul(tf.cast(r_grad, dtype), projection)
        m_grad = tf.cast(m_grad, tf.float32)
        c_grad = _clip(c_grad + m_grad * c_by_m, clips.cell_diff_clip)
        gates_grad = tf.concat([c_grad, c_grad, c_grad, m_grad], 1) * by
        gates_grad = _clip(gates_grad, clips.diff_clip)
        i_grad, f_grad, _, _ = tf.split(gates_grad, 4, axis=1)
        c_grad = c_grad * f + i_grad * peep_i + f_grad * peep_f
        return (gates_grad, c_grad), (gates_grad, r_grad)

    batch = inputs.shape[1]
    specs = [
        tf.TensorSpec([batch, width], tf.float32)
        for width in (by.shape[-1], grad.shape[-1])
    ]
    zeros = tf.zeros_like(state[1])
    _, (gates_grad, r_grad) = time_loop(
        step, (tf.tile(zeros, [1, 4]), zeros), (by, c_by_m, f, grad), specs, True
    )

    i_grad, f_grad, _, o_grad = tf.split(gates_grad, 4, axis=-1)
    low = _rows(tf.cast(gates_grad, dtype))
    inputs_grad = tf.matmul(low, tf.cast(weights.inputs, dtype))
    found = LstmWeights(
        inputs=tf.matmul(low, _rows(inputs), transpose_a=True),
        recurrent=tf.matmul(low, _rows(tf.cast(recalled, dtype)), transpose_a=True),
        bias=tf.reduce_sum(gates_grad, [0, 1]),
        peephole_i=tf.reduce_sum(i_grad * before_c, [0, 1]),
        peephole_f=tf.reduce_sum(f_grad * before_c, [0, 1]),
        peephole_o=tf.reduce_sum(o_grad * c, [0, 1]),
        projection=tf.matmul(
            _rows(tf.cast(r_grad, dtype)), _rows(tf.cast(m, dtype)), transpose_a=True
        ),
    )
    return (
        tf.reshape(inputs_grad, tf.shape(inputs)),
        *(tf.cast(g, w.dtype) for g, w in zip(found, weights, strict=True)),
    )


def _peepholes(weights: LstmWeights):
    peepholes = (weights.peephole_i, weights.peephole_f, weights.peephole_o)
    return tuple(tf.cast(peephole, tf.float32) for peephole in peepholes)


def _clip(values, limit: float):
    if limit == 0:
        return values
    # One operation, where tf.clip_by_value is two.
    return tf.raw_ops.ClipByValue(t=values, clip_value_min=-limit, clip_value_max=limit)


def _shifted(values, first):
    """What stood one step earlier."""
    return tf.concat([first[tf.newaxis], values[:-1]], 0)


def _shifted_back(values):
    """What stands one step later; 0 after the end."""
    return tf.concat([values[1:], tf.zeros_like(values[:1])], 0)


def _rows(values):
    return tf.reshape(values, [-1, values.shape[-1]])
