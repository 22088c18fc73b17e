"""Dropout: rates that change without a new trace."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import Dropout

ONES = np.ones((50, 400), "float32")


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.8])
def test_kept_inputs_are_scaled_up(rate):
    dropped = Dropout(rate, seed=1)(ONES, training=True).numpy()
    kept = dropped != 0
    np.testing.assert_allclose(dropped[kept], 1 / (1 - rate), rtol=1e-6)
    assert kept.mean() == pytest.approx(1 - rate, abs=0.02)


def test_each_call_draws_anew_and_scoring_drops_nothing():
    layer = Dropout(0.5, seed=1)
    first, second = (layer(ONES, training=True).numpy() for _ in range(2))
    assert (first != second).any()
    np.testing.assert_array_equal(layer(ONES), ONES)


def test_the_rate_changes_without_a_trace():
    layer = Dropout(0.0, seed=1)
    traces = 0

    @tf.function
    def run(x):
        nonlocal traces
        traces += 1
        return layer(x, training=True)

    for rate in (0.0, 0.5, 0.1):
        layer.set_rate(rate)
        assert layer.get_config()["rate"] == rate
        dropped = (run(tf.constant(ONES)).numpy() == 0).mean()
        assert dropped == pytest.approx(rate, abs=0.02)
    assert traces == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_drops_no_more(dtype):
    rate = 0.01
    ones = tf.ones([500, 400], dtype)
    dropped = Dropout(rate, seed=1, dtype=dtype)(ones, training=True)
    dropped = tf.cast(dropped, "float32").numpy()
    assert (dropped == 0).mean() == pytest.approx(rate, rel=0.1)
    assert dropped.max() == pytest.approx(1 / (1 - rate), rel=0.01)


def test_the_gradient_goes_where_the_inputs_went():
    layer = Dropout(0.5, seed=1)
    x = tf.constant(ONES)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, training=True)
    np.testing.assert_allclose(tape.gradient(y, x), y)


def test_it_is_saved_with_its_rate():
    layer = Dropout(0.5)
    layer.set_rate(0.2)
    again = keras.layers.deserialize(keras.layers.serialize(layer))
    assert isinstance(again, Dropout) and again.rate == 0.2
    assert not again.weights


@pytest.mark.parametrize("rate", [-0.1, 1.0, 2])
def test_a_rate_outside_0_to_1(rate):
    with pytest.raises(ValueError, match="0 <= rate|taken in|between 0 and 1"):
        Dropout(rate)
    with pytest.raises(ValueError, match=r"taken in \[0, 1\)"):
        Dropout(0.5).set_rate(rate)
