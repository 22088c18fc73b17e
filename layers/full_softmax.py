"""Softmax over a large vocabulary, a piece of it at a time."""

import tensorflow as tf

from seqzoo.layers.row_table import rows_between

# Numbers that a piece of the scores may have: 2 MB of float32, which stay in the cache.
BUDGET = 2**19

# Rows taken at a time, at most; with more, the least number of words would outgrow it.
_ROWS = 2560

_LEAST_WORDS = 256


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
    own = _own(hidden, linearity, bias, targets, wide)

    def block(i, totals):
        rows = slice(i * size // blocks, (i + 1) * size // blocks)
        found = _log_sum(inputs[rows], linearity, bias, own[rows], budget)
        return i + 1, totals.write(i, found)

    totals = tf.TensorArray(wide, blocks, infer_shape=False, element_shape=(None,))
    _, totals = tf.while_loop(
        lambda i, _: i < blocks,
        block,
        (tf.constant(0), totals),
        parallel_iterations=1,
    )
    return own - tf.cond(size > 0, totals.concat, lambda: tf.zeros([0], wide))


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
    words, dim = linearity.shape
    own = _own(hidden, linearity, bias, targets, wide)
    total = _log_sum(hidden, linearity, bias, own, budget)

    def gradient(upstream):
        upstream = tf.cast(upstream, wide)
        step = _step(tf.shape(hidden)[0], words, budget)
        pieces = (words + step - 1) // step
        shifted = _shifted(hidden, total)
        # What belongs to a row goes to its `dim` numbers, not to all its words.
        weighed = tf.cast(tf.cast(hidden, wide) * upstream[:, None], hidden.dtype)

        def piece(i, to_hidden, to_rows, to_bias):
            start = i * step
            stop = tf.minimum(start + step, words)
            rows = _rows(linearity, bias, start, stop, hidden.dtype)
            probs = tf.exp(_scores(shifted, rows, wide))
            narrow = tf.cast(probs, hidden.dtype)
            of_rows = tf.matmul(narrow, weighed, transpose_a=True)
            of_bias = tf.linalg.matvec(probs, upstream, transpose_a=True)
            return (
                i + 1,
                to_hidden + tf.cast(tf.matmul(narrow, rows[:, :dim]), wide),
                to_rows.write(i, tf.cast(of_rows, linearity.dtype)),
                to_bias.write(i, tf.cast(of_bias, bias.dtype)),
            )

        def array(dtype, tail):
            return tf.TensorArray(dtype, pieces, infer_shape=False, element_shape=tail)

        _, to_hidden, to_rows, to_bias = tf.while_loop(
            lambda i, *_: i < pieces,
            piece,
            (
                tf.constant(0),
                tf.zeros(tf.shape(hidden), wide),
                array(linearity.dtype, (None, dim)),
                array(bias.dtype, (None,)),
            ),
            parallel_iterations=1,
        )
        own_rows = tf.cast(tf.gather(linearity, targets), wide)
        to_hidden = upstream[:, None] * (to_hidden - own_rows)
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


def _own(hidden, linearity, bias, targets, wide):
    """The targets' scores."""
    rows, biases = (
        tf.cast(tf.gather(_native(table), targets), wide) for table in (linearity, bias)
    )
    return tf.reduce_sum(tf.cast(hidden, wide) * rows, axis=1) + biases


def _log_sum(inputs, linearity, bias, own, budget):
    """The logarithm of the sum of exp of all words' scores, for each row.

    The scores are made less what is about the largest of a row, by which exp is all
    that is left to be done to them. Where it is too far off they are made again.

    Args:
        inputs: (rows, dim), in the type of the products.
        linearity, bias: of all words.
        own: (rows,), the targets' scores, in the type of the result.
        budget: as in `target_log_probs`.
    """
    wide, words = own.dtype, linearity.shape[0]
    step = _step(tf.shape(inputs)[0], words, budget)

    def scores(shifted, start, stop):
        rows = _rows(linearity, bias, start, stop, inputs.dtype)
        return _scores(shifted, rows, wide)

    # The first words are the most frequent ones, mostly.
    unshifted = _shifted(inputs, tf.zeros_like(own))
    some = scores(unshifted, 0, min(words, _LEAST_WORDS))
    about = tf.maximum(own, tf.reduce_max(some, axis=1))
    shifted = _shifted(inputs, about)

    def piece(start, total):
        stop = tf.minimum(start + step, words)
        part = scores(shifted, start, stop)
        return stop, total + tf.reduce_sum(tf.exp(part), axis=1)

    # One piece after another: side by side each would hold its own scores.
    _, total = tf.while_loop(
        lambda start, _: start < words,
        piece,
        (tf.constant(0), tf.zeros_like(own)),
        parallel_iterations=1,
    )
    return tf.cond(
        tf.reduce_all(tf.math.is_finite(total)),
        lambda: about + tf.math.log(total),
        lambda: _careful_log_sum(inputs, linearity, bias, step, wide),
    )


def _careful_log_sum(inputs, linearity, bias, step, wide):
    """The same whatever the scores, in more passes over them."""
    words, size = linearity.shape[0], tf.shape(inputs)[0]

    def piece(start, top, total):
        stop = tf.minimum(start + step, words)
        rows = tf.cast(rows_between(linearity, start, stop), inputs.dtype)
        part = tf.cast(tf.matmul(inputs, rows, transpose_b=True), wide)
        part += tf.cast(rows_between(bias, start, stop), wide)
        higher = tf.maximum(top, tf.reduce_max(part, axis=1))
        total *= tf.exp(top - higher)
        return stop, higher, total + tf.reduce_sum(tf.exp(part - higher[:, None]), 1)

    _, top, total = tf.while_loop(
        lambda start, *_: start < words,
        piece,
        (tf.constant(0), tf.fill([size], wide.min), tf.zeros([size], wide)),
        parallel_iterations=1,
    )
    return top + tf.math.log(total)


def _shifted(hidden, shift):
    """Rows for `_scores`, from whose scores `shift` is to be taken."""
    parts = _parts(-shift, hidden.dtype)
    return tf.concat([hidden, *map(tf.ones_like, parts), *parts], 1)


def _rows(linearity, bias, start, stop, dtype):
    """The words' side of `_scores`: their rows, their bias, and ones."""
    rows = tf.cast(rows_between(linearity, start, stop), dtype)
    parts = _parts(rows_between(bias, start, stop), dtype)
    return tf.concat([rows, *parts, *map(tf.ones_like, parts)], 1)


def _scores(shifted, rows, wide):
    """Scores with bias, less a shift: TensorFlow adds a column to a matrix slowly."""
    return tf.cast(tf.matmul(shifted, rows, transpose_b=True), wide)


def _parts(values, dtype):
    """`(n, 1)` numbers of a type that sum up to `values`; three of a narrow one."""
    found = []
    for _ in range(3 if dtype.size == 2 else 1):
        found.append(tf.cast(values, dtype))
        values -= tf.cast(found[-1], values.dtype)
    return [part[:, None] for part in found]


def _step(size, words, budget):
    return tf.minimum(tf.maximum(budget // tf.maximum(size, 1), _LEAST_WORDS), words)


def _wide(dtype):
    return tf.float64 if dtype == tf.float64 else tf.float32


def _native(table):
    return getattr(table, "value", table) if not tf.is_tensor(table) else table
