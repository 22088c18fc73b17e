"""The recurrence of an LSTM, with or without peepholes and projection; its gradient.

The gradient is written by hand: what does not depend on the following step is
computed for all steps at once, each weight's gradient is one product over all steps,
and the derivatives can be clipped on their way back through time.
"""

import dataclasses
from typing import NamedTuple

import tensorflow as tf

from seqzoo.layers.lstm_cell_gradient import lstm_cell_gradient
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
        projection: `(units, cells)`; None puts out what the cells put out.

    The peepholes are all there or all None.
    """

    inputs: tf.Tensor
    recurrent: tf.Tensor
    bias: tf.Tensor
    peephole_i: tf.Tensor | None = None
    peephole_f: tf.Tensor | None = None
    peephole_o: tf.Tensor | None = None
    projection: tf.Tensor | None = None


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


def lstm(
    inputs,
    state,
    weights: LstmWeights,
    clips: LstmClips,
    mask=None,
    *,
    carry: bool = False,
    through_state: bool = False,
):
    """Runs an LSTM over sequences, time first.

    With the sigmoid `s` and `x`, `r`, `c` the input, output and cell of a step:

        i = s(W_i x + R_i r' + b_i + p_i c'),  f likewise
        c = clip(f c' + i tanh(W_c x + R_c r' + b_c))
        o = s(W_o x + R_o r' + b_o + p_o c)
        r = P (o tanh(c))

    Products are computed in the type of `inputs`, all else in float32, or in float64
    if that is the type of `inputs`.

    Args:
        inputs: `(time, batch, dim)`.
        state: `(r, c)` before the first step: `(batch, units)`, `(batch, cells)`.
        weights: in any floating type.
        clips: of values and derivatives.
        mask: `(time, batch)`, False where a step puts out 0 and leaves a state of 0;
            None is True everywhere.
        carry: whether such a step leaves the state that it found instead.
        through_state: whether gradients flow through the states, going in and out.

    Returns:
        The outputs, `(time, batch, units)` in the type of `inputs`, and the state
        after the last step, float32 or float64.
    """
    work = tf.float64 if inputs.dtype == tf.float64 else tf.float32
    kept = None if mask is None else tf.cast(mask, work)[..., tf.newaxis]
    first = tuple(tf.cast(part, work) for part in state)
    if not through_state:
        first = tuple(tf.stop_gradient(part) for part in first)
    there = [name for name in weights._fields if getattr(weights, name) is not None]
    how = _How(clips, kept, carry)

    @tf.custom_gradient
    def run(inputs, r, c, *flat):
        weights = LstmWeights(**dict(zip(there, flat, strict=True)))
        outputs, trace = _forward(inputs, (r, c), weights, how)
        last = (trace.r[-1], trace.c[-1])

        def gradient(outputs_grad, *last_grads):
            later = last_grads if through_state else map(tf.zeros_like, (r, c))
            *grads, found = _backward(
                outputs_grad, tuple(later), inputs, (r, c), weights, how, trace
            )
            for name in there:
                grad, weight = getattr(found, name), getattr(weights, name)
                grads.append(tf.cast(grad, weight.dtype))
            return grads

        return (outputs, *last), gradient

    outputs, r, c = run(inputs, *first, *(getattr(weights, name) for name in there))
    if through_state:
        return outputs, (r, c)
    return outputs, (tf.stop_gradient(r), tf.stop_gradient(c))


class _How(NamedTuple):
    """What is the same in both passes."""

    clips: LstmClips
    kept: tf.Tensor | None
    carry: bool


class _Trace(NamedTuple):
    """What the forward pass leaves to the backward one, `(time, batch, ...)`."""

    i: tf.Tensor
    f: tf.Tensor
    g: tf.Tensor
    o: tf.Tensor
    c: tf.Tensor
    r: tf.Tensor


def _forward(inputs, state, weights: LstmWeights, how: _How):
    dtype, work = inputs.dtype, state[1].dtype
    batch = inputs.shape[1]
    recurrent = turned(tf.cast(weights.recurrent, dtype))
    projection = None
    if weights.projection is not None:
        projection = tf.cast(weights.projection, dtype)
    peepholes = _peepholes(weights, work)
    projected = row_matmul(inputs, tf.cast(weights.inputs, dtype), weights.bias)

    def step(state, at_t):
        r, c = before = state
        x = at_t[0] + tf.matmul(tf.cast(r, dtype), recurrent)
        i, f, g, o = tf.split(tf.cast(x, work), 4, axis=1)
        if peepholes:
            i += c * peepholes[0]
            f += c * peepholes[1]
        i, f, g = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g)
        c = _clip(f * c + i * g, how.clips.cell_clip)
        if peepholes:
            o += c * peepholes[2]
        o = tf.sigmoid(o)
        r = o * tf.tanh(c)
        if projection is not None:
            r = tf.matmul(tf.cast(r, dtype), projection, transpose_b=True)
            r = tf.cast(r, work)
        if how.kept is not None and how.carry:
            real = at_t[1] > 0
            r, c = tf.where(real, r, before[0]), tf.where(real, c, before[1])
        elif how.kept is not None:
            r, c = r * at_t[1], c * at_t[1]
        return (r, c), _Trace(i, f, g, o, c, r)

    cell = tf.TensorSpec([batch, weights.bias.shape[0] // 4], work)
    output = tf.TensorSpec([batch, weights.recurrent.shape[1]], work)
    sequences = (projected,) if how.kept is None else (projected, how.kept)
    _, trace = time_loop(step, state, sequences, (*[cell] * 5, output))
    trace = _Trace(*trace)
    outputs = trace.r * how.kept if how.carry and how.kept is not None else trace.r
    return tf.cast(outputs, dtype), trace


def _backward(grad, later, inputs, state, weights: LstmWeights, how: _How, trace):
    """Gradients: inputs, `r` and `c` before the first step, `LstmWeights`."""
    dtype, work = inputs.dtype, state[1].dtype
    before_r, before_c = _shifted(trace.r, state[0]), _shifted(trace.c, state[1])
    recalled = _shifted_back(trace.r) if how.clips.late_neighbours else before_r
    grad = tf.cast(grad, work)
    if how.kept is not None:
        grad *= how.kept
    plain = weights.peephole_i is None and how.clips == LstmClips()
    back = _back_plainly if plain and work == tf.float32 else _back
    (r_first, c_first), gates_grad, r_grad, order = back(
        grad, later, before_c, weights, how, trace, dtype
    )

    low = _rows(tf.cast(gates_grad, dtype))
    inputs_grad = tf.matmul(low, _reordered(tf.cast(weights.inputs, dtype), order))
    # A product, as it is several times faster than a sum.
    ones = tf.ones([1, tf.shape(low)[0]], work)
    matrices = [inputs, tf.cast(recalled, dtype)]
    bias, *by_matrix = (
        tf.reshape(tf.matmul(ones, _rows(gates_grad)), [-1]),
        *(tf.matmul(low, _rows(m), transpose_a=True) for m in matrices),
    )
    bias, by_inputs, by_recurrent = (_reordered(g, order) for g in (bias, *by_matrix))
    found = LstmWeights(by_inputs, by_recurrent, bias)
    if weights.peephole_i is not None:
        i_grad, f_grad, _, o_grad = tf.split(gates_grad, 4, axis=-1)
        found = found._replace(
            peephole_i=tf.reduce_sum(i_grad * before_c, [0, 1]),
            peephole_f=tf.reduce_sum(f_grad * before_c, [0, 1]),
            peephole_o=tf.reduce_sum(o_grad * trace.c, [0, 1]),
        )
    if weights.projection is not None:
        m = trace.o * tf.tanh(trace.c)
        if how.kept is not None:
            m *= how.kept
        rows = (_rows(tf.cast(value, dtype)) for value in (r_grad, m))
        found = found._replace(projection=tf.matmul(*rows, transpose_a=True))
    return tf.reshape(inputs_grad, tf.shape(inputs)), r_first, c_first, found


def _back(grad, later, before_c, weights: LstmWeights, how: _How, trace, dtype):
    """Back through time: what does not depend on later steps is computed at once.

    Returns:
        The derivatives to the first state, to the gates before their nonlinearities
        and to the outputs, and the order of the gates.
    """
    i, f, g, o, c, _ = trace
    clips, kept, work = how.clips, how.kept, f.dtype
    recurrent = tf.cast(weights.recurrent, dtype)
    projection = weights.projection
    if projection is not None:
        projection = tf.cast(projection, dtype)
    peepholes = _peepholes(weights, work)
    forgotten = _shifted_back(c) if clips.late_neighbours else before_c

    # Derivatives of one value to another within a step, for all steps at once.
    h = tf.tanh(c)
    out_by_m = h * o * (1 - o)
    c_by_m = o * (1 - h * h)
    if peepholes:
        c_by_m += out_by_m * peepholes[2]
    inner = tf.concat([g * i * (1 - i), forgotten * f * (1 - f), i * (1 - g * g)], -1)
    if clips.cell_clip > 0 and not clips.through_cell_clip:
        inside = tf.cast(tf.abs(c) < clips.cell_clip, work)
        inner *= tf.tile(inside, [1, 1, 3])
        f *= inside
    if kept is not None:
        out_by_m, c_by_m, inner, f = (
            value * kept for value in (out_by_m, c_by_m, inner, f)
        )
        if how.carry:
            f += 1 - kept
    by = tf.concat([inner, out_by_m], -1)
    sequences: tuple[tf.Tensor, ...] = (by, c_by_m, f, grad)
    if how.carry and kept is not None:
        sequences += (1 - kept,)

    def step(later, at_t):
        r_grad, c_grad = later
        by, c_by_m, f, grad, *passed = at_t
        r_grad = m_grad = grad + r_grad
        if projection is not None:
            m_grad = tf.matmul(tf.cast(r_grad, dtype), projection)
            m_grad = tf.cast(m_grad, work)
        c_grad = _clip(c_grad + m_grad * c_by_m, clips.cell_diff_clip)
        gates_grad = tf.concat([c_grad, c_grad, c_grad, m_grad], 1) * by
        gates_grad = _clip(gates_grad, clips.diff_clip)
        c_grad = c_grad * f
        if peepholes:
            i_grad, f_grad, _, _ = tf.split(gates_grad, 4, axis=1)
            c_grad += i_grad * peepholes[0] + f_grad * peepholes[1]
        earlier = tf.matmul(tf.cast(gates_grad, dtype), recurrent)
        earlier = tf.cast(earlier, work)
        if passed:
            earlier += r_grad * passed[0]
        return (earlier, c_grad), (gates_grad, r_grad)

    batch = grad.shape[1]
    specs = [
        tf.TensorSpec([batch, width], work) for width in (by.shape[-1], grad.shape[-1])
    ]
    first, (gates_grad, r_grad) = time_loop(step, later, sequences, specs, True)
    return first, gates_grad, r_grad, "ifco"


def _back_plainly(grad, later, before_c, weights: LstmWeights, how: _How, trace, dtype):
    """The same without peepholes and limits: step by step, while it is in the cache."""
    i, f, g, o, c, _ = trace
    order = "icfo"
    recurrent = _reordered(tf.cast(weights.recurrent, dtype), order)
    projection = weights.projection
    if projection is not None:
        projection = tf.cast(projection, dtype)
    sequences: tuple[tf.Tensor, ...] = (i, f, g, o, c, before_c, grad)
    if how.kept is not None:
        sequences += (how.kept,)

    def step(later, at_t):
        r_grad, c_grad = later
        *cell, before_c, grad = at_t[:7]
        r_grad = m_grad = grad + r_grad
        if projection is not None:
            m_grad = tf.matmul(tf.cast(r_grad, dtype), projection)
            m_grad = tf.cast(m_grad, tf.float32)
        c_in = c_grad
        if how.kept is not None:
            m_grad, c_in = m_grad * at_t[7], c_grad * at_t[7]
        gates_grad, earlier_c = lstm_cell_gradient(*cell, before_c, m_grad, c_in)
        earlier = tf.matmul(tf.cast(gates_grad, dtype), recurrent)
        earlier = tf.cast(earlier, tf.float32)
        if how.kept is not None and how.carry:
            passed = 1 - at_t[7]
            earlier += r_grad * passed
            earlier_c += c_grad * passed
        out = (gates_grad,) if projection is None else (gates_grad, r_grad)
        return (earlier, earlier_c), out

    batch = grad.shape[1]
    widths = [weights.bias.shape[0]]
    if projection is not None:
        widths.append(grad.shape[-1])
    specs = [tf.TensorSpec([batch, width], tf.float32) for width in widths]
    first, out = time_loop(step, later, sequences, specs, True)
    return first, out[0], out[-1], order


def _reordered(values, order: str):
    """Gates in the order i, f, c, o -> `order`, or back: it swaps two of them."""
    if order == "ifco":
        return values
    i, f, c, o = tf.split(values, 4, axis=0)
    return tf.concat([i, c, f, o], 0)


def _peepholes(weights: LstmWeights, work):
    """Those of i, f and o, or nothing."""
    if weights.peephole_i is None:
        return ()
    peepholes = (weights.peephole_i, weights.peephole_f, weights.peephole_o)
    return tuple(tf.cast(peephole, work) for peephole in peepholes)


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
