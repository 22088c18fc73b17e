"""Softmax over a large vocabulary, a piece of it at a time."""

import tensorflow as tf

from seqzoo.layers.row_table import rows_between

# Numbers that a piece of the scores may have. In float32 these are 512 kB, which stay
# in the cache: pieces of 32 MB take up to twice as long.
BUDGET = 2**17

# Rows taken at a time; with more, the least number of words would outgrow the cache.
_ROWS = 640


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
    inputs = tf.cast(hidden, tf.as_dtype(dtype or hidden.dtype))
    size = tf.shape(hidden)[0]
    blocks = (size + _ROWS - 1) // _ROWS

    def block(i, totals):
        part = inputs[i * _ROWS : (i + 1) * _ROWS]
        return i + 1, totals.write(i, _total(part, linearity, bias, budget, wide))

    totals = tf.TensorArray(wide, blocks, infer_shape=False, element_shape=(None,))
    _, totals = tf.while_loop(
        lambda i, _: i < blocks,
        block,
        (tf.constant(0), totals),
        parallel_iterations=1,
    )
    total = tf.cond(size > 0, totals.concat, lambda: tf.zeros([0], wide))
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
    targets = tf.convert_to_tensor(targets)

    @tf.custom_gradient
    def losses(hidden, linearity, bias):
        return _losses(hidden, linearity, bias, targets, budget)

    return losses(*map(tf.convert_to_tensor, (hidden, linearity, bias)))


def _losses(hidden, linearity, bias, targets, budget):
    """Losses, and the function that tf.custom_gradient wants."""
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


def _total(inputs, linearity, bias, budget, wide):
    """The logarithm of the sum of exp of all words' scores, for each row."""

    def scores(start, stop):
        rows = tf.cast(rows_between(linearity, start, stop), inputs.dtype)
        product = tf.matmul(inputs, rows, transpose_b=True)
        return tf.cast(product, wide) + tf.cast(rows_between(bias, start, stop), wide)

    return _log_sum(scores, tf.shape(inputs)[0], linearity.shape[0], budget, wide)


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
