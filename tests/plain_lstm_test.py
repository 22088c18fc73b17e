"""The faster ways of a plain LSTM compute what `lstm_core.lstm` does."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers.lstm_block import block_lstm
from seqzoo.layers.lstm_core import LstmClips, LstmWeights, lstm
from seqzoo.layers.lstm_narrow import narrow_lstm

TIME, BATCH, DIM, CELLS = 6, 4, 3, 5


def core(inputs, state, weights, mask=None, *, through_state=False):
    return lstm(inputs, state, weights, LstmClips(), mask, through_state=through_state)


def draws(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype("float32")


def found(run, masked, through_state, peepholes=False, dtype=tf.float32):
    """Outputs, the state after, and gradients to all that goes in."""
    mask = np.random.default_rng(1).random((TIME, BATCH)) > 0.4
    mask[2] = False
    x = draws(TIME, BATCH, DIM) * mask[..., None] if masked else draws(TIME, BATCH, DIM)
    given = [
        tf.constant(value)
        for value in (
            x,
            *(draws(BATCH, CELLS, seed=s) for s in (1, 2)),
            draws(4 * CELLS, DIM),
            draws(4 * CELLS, CELLS),
            draws(4 * CELLS),
            *(draws(CELLS, seed=s) for s in range(3 if peepholes else 0)),
        )
    ]
    with tf.GradientTape() as tape:
        tape.watch(given)
        inputs, h, c, *weights = given
        outputs, state = run(
            tf.cast(inputs, dtype),
            (h, c),
            LstmWeights(*weights),
            tf.constant(mask) if masked else None,
            through_state=through_state,
        )
        loss = tf.reduce_sum(tf.cast(outputs, tf.float32) * draws(*outputs.shape))
        for number, part in enumerate(state, 3):
            loss += tf.reduce_sum(part * draws(BATCH, CELLS, seed=number))
    gradients = tape.gradient(loss, given, unconnected_gradients="zero")
    if masked:
        hidden = np.asarray(tf.cast(outputs, tf.float32))
        assert not hidden[~mask].any() and hidden[mask].all()
    return [np.asarray(tf.cast(x, tf.float32)) for x in (outputs, *state, *gradients)]


@pytest.mark.parametrize("through_state", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("run", [block_lstm, narrow_lstm])
def test_the_same_numbers_and_gradients(run, masked, through_state):
    expected = found(core, masked, through_state)
    for ours, theirs in zip(found(run, masked, through_state), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert through_state == bool(expected[4].any())


def test_peepholes():
    expected = found(core, True, True, peepholes=True)
    for ours, theirs in zip(
        found(block_lstm, True, True, peepholes=True), expected, strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("masked", [False, True])
def test_in_bfloat16(masked):
    expected = found(core, masked, True)
    ours = found(narrow_lstm, masked, True, dtype=tf.bfloat16)
    for one, other in zip(ours, expected, strict=True):
        assert np.abs(one - other).max() < 0.03 * np.abs(other).max()


def test_a_masked_step_takes_large_inputs():
    x = np.full([3, 1, 2], 1e4, "float32")
    weights = LstmWeights(draws(8, 2) * 100, draws(8, 2), draws(8))
    mask, zeros = tf.constant([[True], [False], [True]]), tf.zeros([1, 2])
    for run, dtype in ((block_lstm, tf.float32), (narrow_lstm, tf.bfloat16)):
        outputs, _ = run(tf.constant(x, dtype), (zeros, zeros), weights, mask)
        alone, _ = run(tf.constant(x[2:], dtype), (zeros, zeros), weights)
        assert not np.asarray(tf.cast(outputs[1], tf.float32)).any()
        np.testing.assert_array_equal(outputs[2], alone[0])
