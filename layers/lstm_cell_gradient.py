"""The gradient of one step of an LSTM without peepholes, in one pass."""

import tensorflow as tf


def lstm_cell_gradient(i, f, g, o, c, before_c, m_grad, c_grad, tanh_c=None):
    """Derivatives before the gates, by those after: `c = f c' + i g`, `m = o tanh(c)`.

    One operation of TensorFlow does it, with all values in the cache.

    Args:
        i, f, o: the gates, float32, `(batch, cells)` as all that follows.
        g: the candidate.
        c, before_c: the cell after and before the step.
        m_grad, c_grad: derivatives of the loss to `m` and, by later steps, to `c`.
        tanh_c: of `c`, if it is there already.

    Returns:
        The derivatives to the gates before their nonlinearities, `(batch, 4 * cells)`
        in the order i, c, f, o, and to the cell before.
    """
    cells = c.shape[1]
    row = tf.zeros([cells])
    earlier, gates_grad, *_ = tf.raw_ops.LSTMBlockCellGrad(
        # Only the shapes of x, h_prev, w and b are looked at.
        x=before_c,
        cs_prev=before_c,
        h_prev=before_c,
        w=tf.zeros([2 * cells, 4 * cells]),
        wci=row,
        wcf=row,
        wco=row,
        b=tf.zeros([4 * cells]),
        i=i,
        cs=c,
        f=f,
        o=o,
        ci=g,
        co=tf.tanh(c) if tanh_c is None else tanh_c,
        cs_grad=c_grad,
        h_grad=m_grad,
        use_peephole=False,
    )
    return gates_grad, earlier
