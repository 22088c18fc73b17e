"""Weights of which a step reads, and changes, a few rows: word tables."""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="seqzoo")
class UniformTable(keras.initializers.Initializer):
    """Uniform values, made in the one buffer that the weight then keeps.

    Keras's own takes three for a moment, which for 793,471 words of 250 numbers is
    2.4 GB.

    Args:
        low, high: ends of the range.
        seed: None draws anew.
    """

    def __init__(self, low: float = -0.05, high: float = 0.05, seed: int | None = None):
        self.low = low
        self.high = high
        self.seed = seed

    def __call__(self, shape, dtype=None):
        seed = self.seed
        if seed is None:
            seed = keras.random.SeedGenerator().next()[0]
        seed = tf.stack([tf.cast(seed, tf.int32), 0])
        dtype = tf.as_dtype(dtype or keras.config.floatx())
        low = tf.cast(self.low, dtype)
        return _uniform(tf.constant(tuple(shape), tf.int32), seed, low, self.high - low)

    def get_config(self):
        return {"low": self.low, "high": self.high, "seed": self.seed}


# In a graph the product and the sum are written over the draws.
@tf.function(reduce_retracing=True, autograph=False)
def _uniform(shape, seed, low, width):
    return tf.random.stateless_uniform(shape, seed, dtype=low.dtype) * width + low


def mark_rows(variable: keras.Variable) -> keras.Variable:
    """Says that steps touch single rows of `variable`; `RowSGD` asks for it."""
    variable.row_sparse = True
    return variable


def has_rows(variable) -> bool:
    """Whether it is so marked, or the table of a Keras `Embedding`."""
    path = getattr(variable, "path", variable.name)
    return getattr(variable, "row_sparse", False) or path.endswith("/embeddings")


def rows_between(table, start, stop) -> tf.Tensor:
    """Rows `start` to `stop` of a variable or tensor; no more of it is read.

    A variable that was changed by rows is copied whole when it is read whole.
    """
    if isinstance(table, keras.Variable):
        table = table.value
    if isinstance(table, tf.Variable):
        return tf.gather(table, tf.range(start, stop))
    return table[start:stop]


def rows_in_use(*ids) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Ids that occur, each once, and where among them those of each argument are.

    Of a table that is looked up by common and rare words, few rows have to be read,
    and its gradient has each row once.

    Args:
        ids: integers of any shapes.

    Returns:
        `(used,)` ids, and int32 places of the shapes of `ids`, for `spread`.
    """
    flat = [tf.reshape(tf.cast(one, ids[0].dtype), [-1]) for one in ids]
    used, places = tf.unique(tf.concat(flat, 0))
    parts = tf.split(places, [tf.size(one) for one in flat])
    return used, [
        tf.reshape(part, tf.shape(one)) for part, one in zip(parts, ids, strict=True)
    ]


def spread(rows, places, dtype=None) -> tf.Tensor:
    """`tf.gather(rows, places)` as `dtype`, with a gradient that is quicker.

    Args:
        rows: `(used, dim)` or `(used,)`.
        places: of `rows_in_use`.
        dtype: None takes that of `rows`.

    Returns:
        `(..., dim)` or `(...)`, with the leading axes of `places`.
    """
    flat = tf.reshape(places, [-1])

    @tf.custom_gradient
    def gather(rows):
        def gradient(upstream):
            shape = tf.concat([[-1], tf.shape(rows)[1:]], 0)
            values = tf.reshape(tf.cast(upstream, rows.dtype), shape)
            if rows.shape.rank == 1:
                return tf.math.unsorted_segment_sum(values, flat, tf.size(rows))
            # Half the time of the sum by unsorted places, sorting included.
            order = tf.argsort(flat)
            return tf.raw_ops.SparseSegmentSumWithNumSegments(
                data=values,
                indices=order,
                segment_ids=tf.gather(flat, order),
                num_segments=tf.shape(rows)[0],
            )

        return tf.gather(tf.cast(rows, dtype or rows.dtype), places), gradient

    return gather(rows)


def merge_rows(slices: tf.IndexedSlices) -> tf.IndexedSlices:
    """The same gradient with each row named once; equal ones are summed."""
    ids, place = tf.unique(slices.indices)
    rows = tf.cond(
        tf.size(ids) == tf.size(place),
        lambda: tf.identity(slices.values),
        lambda: tf.math.unsorted_segment_sum(slices.values, place, tf.size(ids)),
    )
    return tf.IndexedSlices(rows, ids, slices.dense_shape)
