"""A function of the rows of a batch, some rows at a time."""

from collections.abc import Callable, Sequence

import tensorflow as tf


def in_parts(
    function: Callable[..., Sequence[tf.Tensor]],
    tensors: Sequence[tf.Tensor],
    rows: int,
    outputs: Sequence[tf.TensorSpec],
) -> list[tf.Tensor]:
    """`function(*tensors)`, whose memory is that of so many rows.

    Args:
        function: each row of its results depends on that row of its arguments only.
        tensors: `(batch, ...)`, of one size.
        rows: to give it at a time.
        outputs: of the results, with their first axis unknown.

    Returns:
        The results, `(batch, ...)`. A batch of no rows is given to it too.
    """
    size = tf.shape(tensors[0])[0]
    parts = tf.maximum((size + rows - 1) // rows, 1)
    arrays = tuple(
        tf.TensorArray(spec.dtype, parts, infer_shape=False, element_shape=spec.shape)
        for spec in outputs
    )

    def one(number, arrays):
        start = number * rows
        made = function(*(tensor[start : start + rows] for tensor in tensors))
        pairs = zip(arrays, made, strict=True)
        return number + 1, tuple(array.write(number, value) for array, value in pairs)

    # One after another: side by side each would hold its own results.
    _, arrays = tf.while_loop(
        lambda number, _: number < parts, one, (0, arrays), parallel_iterations=1
    )
    return [
        tf.ensure_shape(array.concat(), spec.shape)
        for array, spec in zip(arrays, outputs, strict=True)
    ]
