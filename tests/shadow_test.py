import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import add_shadow, refresh_shadow, source


@pytest.fixture
def weight():
    # 1 + 2^-9 is between two bfloat16 numbers.
    return keras.Variable([1.0, 1 + 2**-9, 3.0], name="kernel")


def test_without_a_shadow_the_weight_itself_is_read(weight):
    assert source(weight) is weight.value
    refresh_shadow(weight)
    assert source(weight) is weight.value


def test_a_shadow_is_the_weight_in_another_type(weight):
    add_shadow(weight)
    shadow = source(weight)
    assert shadow.dtype == tf.bfloat16
    assert not shadow.trainable
    assert shadow.numpy().tolist() == [1, 1, 3]
    assert weight.value.numpy().tolist() == [1, 1 + 2**-9, 3]


def test_another_type(weight):
    add_shadow(weight, "float16")
    assert source(weight).dtype == tf.float16
    assert source(weight).numpy().tolist() == [1, 1 + 2**-9, 3]


def test_a_shadow_is_brought_up_to_date(weight):
    add_shadow(weight)
    shadow = source(weight)
    weight.assign([4.0, 5.0, 6.0])
    assert shadow.numpy().tolist() == [1, 1, 3]
    refresh_shadow(weight)
    assert source(weight) is shadow
    assert shadow.numpy().tolist() == [4, 5, 6]


def test_gradients_reach_it(weight):
    add_shadow(weight)
    with tf.GradientTape() as tape:
        tape.watch(source(weight))
        total = tf.reduce_sum(2 * source(weight))
    np.testing.assert_array_equal(
        tf.cast(tape.gradient(total, source(weight)), tf.float32), [2, 2, 2]
    )
