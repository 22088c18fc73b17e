"""The recurrence of a GRU, and its gradient, written by hand as that of the LSTM."""

import tensorflow as tf

from seqzoo.layers.row_matmul import row_matmul
from seqzoo.layers.time_loop import time_loop
from seqzoo.layers.turned import turned


def gru(
    inputs,
    state,
    forward,
    recurrent,
    bias,
    mask=None,
    *,
    carry: bool = False,
    through_state: bool = False,
):
    """Runs a GRU over sequences, time first; see `SeqGRU` for its formula.

    Args:
        inputs: `(time, batch, dim)`.
        state: the output before the first step, `(batch, units)`.
        forward: `(3 * units, dim)`, gates in the order z, r, n; so the two below.
        recurrent: `(3 * units, units)`.
        bias: `(3 * units,)`.
        mask: `(time, batch)` or None; `carry`, `through_state` as in `lstm_core.lstm`.

    Returns:
        The outputs in the type of `inputs`, and the last state, float32 or float64.
    """
    dtype = inputs.dtype
    work = tf.float64 if dtype == tf.float64 else tf.float32
    kept = None if mask is None else tf.cast(mask, work)[..., tf.newaxis]
    units = recurrent.shape[1]
    first = tf.cast(state, work)
    if not through_state:
        first = tf.stop_gradient(first)
    spec = tf.TensorSpec([inputs.shape[1], units], work)

    @tf.custom_gradient
    def run(inputs, first, forward, recurrent, bias):
        back = turned(tf.cast(recurrent, dtype))
        back_zr, back_n = back[:, : 2 * units], back[:, 2 * units :]
        projected = row_matmul(inputs, tf.cast(forward, dtype), bias)

        def step(state, at_t):
            before = state[0]
            of_zr, of_n = tf.split(at_t[0], [2 * units, units], axis=1)
            of_zr += tf.matmul(tf.cast(before, dtype), back_zr)
            z, r = tf.split(tf.sigmoid(tf.cast(of_zr, work)), 2, axis=1)
            of_n += tf.matmul(tf.cast(r * before, dtype), back_n)
            n = tf.tanh(tf.cast(of_n, work))
            h = z * before + (1 - z) * n
            if kept is not None:
                h = tf.where(at_t[1] > 0, h, before) if carry else h * at_t[1]
            return (h,), (z, r, n, h)

        sequences = (projected,) if kept is None else (projected, kept)
        _, trace = time_loop(step, (first,), sequences, [spec] * 4)
        outputs = trace[3]
        if carry and kept is not None:
            outputs *= kept

        def gradient(grad, last_grad):
            later = last_grad if through_state else tf.zeros_like(first)
            weights = forward, recurrent, bias
            return _backward(grad, later, inputs, first, weights, trace, kept, carry)

        return (tf.cast(outputs, dtype), trace[3][-1]), gradient

    outputs, last = run(inputs, first, forward, recurrent, bias)
    return outputs, last if through_state else tf.stop_gradient(last)


def _backward(grad, later, inputs, first, weights, trace, kept, carry):
    forward, recurrent, bias = weights
    z, r, n, h = trace
    dtype, work = inputs.dtype, h.dtype
    units = h.shape[-1]
    back = tf.cast(recurrent, dtype)
    back_zr, back_n = back[: 2 * units], back[2 * units :]
    before = tf.concat([first[tf.newaxis], h[:-1]], 0)
    grad = tf.cast(grad, work)
    sequences = (z, r, n, before, grad)
    if kept is not None:
        sequences = (*sequences[:4], grad * kept, kept)

    def step(later, at_t):
        z, r, n, before, grad, *real = at_t
        h_grad = total = grad + later[0]
        if real:
            h_grad = total * real[0]
        n_grad = h_grad * (1 - z) * (1 - n * n)
        reset_grad = tf.cast(tf.matmul(tf.cast(n_grad, dtype), back_n), work)
        z_grad = h_grad * (before - n) * z * (1 - z)
        r_grad = reset_grad * before * r * (1 - r)
        zr_grad = tf.concat([z_grad, r_grad], 1)
        earlier = tf.cast(tf.matmul(tf.cast(zr_grad, dtype), back_zr), work)
        earlier += h_grad * z + reset_grad * r
        if real and carry:
            earlier += total * (1 - real[0])
        return (earlier,), (zr_grad, n_grad)

    batch = inputs.shape[1]
    specs = [tf.TensorSpec([batch, n * units], work) for n in (2, 1)]
    (first_grad,), (zr_grad, n_grad) = time_loop(
        step, (later,), sequences, specs, reverse=True
    )

    def rows(values):
        return tf.reshape(tf.cast(values, dtype), [-1, values.shape[-1]])

    low = tf.concat([rows(zr_grad), rows(n_grad)], 1)
    by_recurrent = tf.concat(
        [
            tf.matmul(rows(zr_grad), rows(before), transpose_a=True),
            tf.matmul(rows(n_grad), rows(r * before), transpose_a=True),
        ],
        0,
    )
    sums = [tf.reduce_sum(value, [0, 1]) for value in (zr_grad, n_grad)]
    found = (
        tf.matmul(low, rows(inputs), transpose_a=True),
        by_recurrent,
        tf.concat(sums, 0),
    )
    inputs_grad = tf.matmul(low, tf.cast(forward, dtype))
    return (
        tf.reshape(inputs_grad, tf.shape(inputs)),
        first_grad,
        *(tf.cast(g, w.dtype) for g, w in zip(found, weights, strict=True)),
    )
