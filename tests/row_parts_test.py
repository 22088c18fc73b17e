"""A function of some rows at a time."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.export.row_parts import in_parts

OUTPUTS = [tf.TensorSpec((None, None), tf.float32), tf.TensorSpec((None,), tf.int32)]


@pytest.mark.parametrize(
    ("rows", "parts"), [(0, [0]), (1, [1]), (4, [2, 2]), (5, [2, 2, 1])]
)
@pytest.mark.parametrize("graph", [False, True])
def test_rows_are_given_in_parts_and_come_in_order(rows, parts, graph):
    sizes = []

    def function(x, y):
        tf.py_function(lambda n: sizes.append(int(n)), [tf.shape(x)[0]], [])
        return [x * 2, y + 1]

    def run(x, y):
        return in_parts(function, [x, y], 2, OUTPUTS)

    x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    y = np.arange(rows, dtype=np.int32)
    doubled, more = (tf.function(run) if graph else run)(x, y)
    np.testing.assert_array_equal(doubled, x * 2)
    np.testing.assert_array_equal(more, y + 1)
    assert sizes == parts
