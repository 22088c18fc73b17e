import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import row_matmul

WEIGHTS = np.array([[1, 2], [3, 4], [0, -1]], np.float32)


@pytest.mark.parametrize("leading", [(2,), (1, 2), (2, 1, 1)])
def test_the_last_axis_is_multiplied(leading):
    inputs = np.array([1, 1, 2, 0], np.float32).reshape(*leading, 2)
    found = row_matmul(tf.constant(inputs), tf.constant(WEIGHTS))
    expected = np.array([[3, 7, -1], [2, 6, 0]], np.float32)
    np.testing.assert_array_equal(found, expected.reshape(*leading, 3))


def test_the_bias_is_added_in_the_inputs_type():
    inputs = tf.constant([[1, 1]], tf.bfloat16)
    found = row_matmul(inputs, tf.cast(WEIGHTS, tf.bfloat16), tf.constant([1.0, 2, 3]))
    assert found.dtype == tf.bfloat16
    assert tf.cast(found, tf.float32).numpy().tolist() == [[4, 9, 2]]
