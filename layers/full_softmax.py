"""Softmax over a large vocabulary, a piece of it at a time."""

import functools

import tensorflow as tf

from seqzoo.layers.row_table import rows_between

# Numbers that a piece of the scores may have: 32 MB in float32.
BUDGET = 2**23


def target_log_probs(
    hidden, linearity, bias, targets, budget: int = BUDGET, dtype=None
) -> tf.Tensor:
    """Log-probabilities of the targets by the full softmax, for evaluation.

    The scores are made for as many words at a time as `budget` allows and summed up
    at once: 6,400 rows over 793,471 words would be 20 GB. Tables are read by rows.

    Args:
        hidden: (rows, dim).
        linearity: (words, dim), a variable or tensor.
        bias: (words,).
        targets: (rows,) ids from 0.
        budget: numbers of scores held at a time; at least 256 words are taken.
        dtype: of the products, for example "bfloat16"; None takes that of `hidden`.
            The targets' own scores stay in that of `hidden`, the sums in float32 or
            wider.

    Returns:
        (rows,), in float32, or float64 if `hidden` has it.
    """
    hidden = tf.convert_to_tensor(hidden)
    wide = _wide(hidden.dtype)
    narrow = tf.as_dtype(dtype or hidden.dtype)
    words = linearity.shape[0]
    inputs = tf.cast(hidden, narrow)

    def scores(start, stop):
        rows = tf.cast(rows_between(linearity, start, stop), narrow)
        product = tf.matmul(inputs, rows, transpose_b=True)
        return tf.cast(product, wide) + tf.cast(rows_between(bias, start, stop), wide)

    total = _log_sum(scores, tf.shape(hidden)[0], words, budget, wide)
    rows = tf.cast(tf.gather(_native(linearity), targets), wide)
    own = tf.reduce_sum(tf.cast(hidden, wide) * rows, axis=1)
    return own + tf.cast(tf.gather(_native(bias), targets), wide) - total


def full_softmax_losses(hidden, linearity, bias, targets, budget: int = BUDGET):
    """Cross-entropies by the full softmax whose scores are never held, for training.

    Going back makes each piece of the scores a second time. The gradients of
    `linearity` and `bias` are whole: for 793,471 words such training is slow, and
    `NCE` or `SampledSoftmax` is meant.

    Args:
        hidden: (rows, dim).
        linearity: (words, dim).
        bias: (words,).
        targets: (rows,) ids from 0.
        budget: numbers of scores held at a time; at least 256 words are taken.

    Returns:
        (rows,), in float32, or float64 if `hidden` has it.
    """
    losses = functools.partial(_losses, tf.convert_to_tensor(targets), budget)
    return tf.custom_gradient(losses)(
        tf.convert_to_tensor(hidden),
        tf.convert_to_tensor(linearity),
        tf.convert_to_tensor(bias),
    )


def _losses(targets, budget, hidden, linearity, bias):
    wide = _wide(hidden.dtype)
    words = linearity.shape[0]
    size = tf.shape(hidden)[0]

    def scores(start, stop):
        rows = tf.cast(linearity[start:stop], hidden.dtype)
        product = tf.matmul(hidden, rows, transpose_b=True)
        return tf.cast(product, wide) + tf.cast(bias[start:stop], wide)

    total = _log_sum(scores, size, words, budget, wide)
    own = tf.reduce_sum(
        tf.cast(hidden, wide) * tf.cast(tf.gather(linearity, targets), wide), axis=1
    ) + tf.cast(tf.gather(bias, targets), wide)

    def gradient(upstream):
        upstream = tf.cast(upstream, wide)
        step = _step(size, words, budget)
        pieces = (words + step - 1) // step

        def piece(i, to_hidden, to_rows, to_bias):
            start = i * step
            stop = tf.minimum(start + step, words)
            probs = tf.exp(scores(start, stop) - total[:, None]) * upstream[:, None]
            narrow = tf.cast(probs, hidden.dtype)
            rows = tf.cast(linearity[start:stop], hidden.dtype)
            to_hidden += tf.cast(tf.matmul(narrow, rows), wide)
            of_rows = tf.matmul(narrow, hidden, transpose_a=True)
            return (
                i + 1,
                to_hidden,
                to_rows.write(i, tf.cast(of_rows, linearity.dtype)),
                to_bias.write(i, tf.cast(tf.reduce_sum(probs, axis=0), bias.dtype)),
            )

        def array(dtype, tail):
            return tf.TensorArray(dtype, pieces, infer_shape=False, element_shape=tail)

        _, to_hidden, to_rows, to_bias = tf.while_loop(
            lambda i, *_: i < pieces,
            piece,
            (
                tf.constant(0),
                tf.zeros(tf.shape(hidden), wide),
                array(linearity.dtype, (None, linearity.shape[1])),
                array(bias.dtype, (None,)),
            ),
            parallel_iterations=1,
        )
        own_rows = tf.cast(tf.gather(linearity, targets), wide)
        to_hidden -= upstream[:, None] * own_rows
        moved = tf.cast(upstream[:, None] * tf.cast(hidden, wide), linearity.dtype)
        where = tf.cast(targets, tf.int32)[:, None]
        return (
            tf.cast(to_hidden, hidden.dtype),
            tf.tensor_scatter_nd_sub(to_rows.concat(), where, moved),
            tf.tensor_scatter_nd_sub(
                to_bias.concat(), where, tf.cast(upstream, bias.dtype)
            ),
        )

    return total - own, gradient


def _log_sum(scores, size, words, budget, wide):
    """Row by row, the logarithm of the sum of exp of all scores."""
    step = _step(size, words, budget)

    def piece(start, top, total):
        stop = tf.minimum(start + step, words)
        part = scores(start, stop)
        higher = tf.maximum(top, tf.reduce_max(part, axis=1))
        total *= tf.exp(top - higher)
        total += tf.reduce_sum(tf.exp(part - higher[:, None]), axis=1)
        return stop, higher, total

    # One piece after another: side by side each would hold its own scores.
    _, top, total = tf.while_loop(
        lambda start, *_: start < words,
        piece,
        (tf.constant(0), tf.fill([size], wide.min), tf.zeros([size], wide)),
        parallel_iterations=1,
    )
    return top + tf.math.log(total)


def _step(size, words, budget):
    return tf.minimum(tf.maximum(budget // tf.maximum(size, 1), 256), words)


def _wide(dtype):
    return tf.float64 if dtype == tf.float64 else tf.float32


def _native(table):
    return getattr(table, "value", table) if not tf.is_tensor(table) else table
