"""The full softmax in pieces equals the one made at once."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.layers import full_softmax


def _case(rows=7, words=700, dim=4):
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(rows, dim)),
        rng.normal(size=(words, dim)),
        3 * rng.normal(size=words),
        rng.integers(0, words, rows),
    )


def _at_once(hidden, linearity, bias, targets):
    scores = hidden @ linearity.T + bias
    top = scores.max(1, keepdims=True)
    total = top[:, 0] + np.log(np.exp(scores - top).sum(1))
    return total - scores[np.arange(len(targets)), targets]


# 700 words in pieces of 256, 300, and all of them.
@pytest.mark.parametrize("budget", [1, 2100, 10**6])
@pytest.mark.parametrize("variables", [False, True])
def test_log_probs_equal_those_made_at_once(budget, variables):
    hidden, linearity, bias, targets = _case()
    tables = [tf.Variable(x) if variables else x for x in (linearity, bias)]
    found = layers.target_log_probs(hidden, *tables, targets, budget)
    expected = -_at_once(hidden, linearity, bias, targets)
    np.testing.assert_allclose(found, expected, 1e-12)


@pytest.mark.parametrize("rows", [0, 1, 2561])
def test_any_number_of_rows(rows):
    case = _case(rows, 300)
    found = tf.function(layers.target_log_probs)(*map(tf.constant, case))
    np.testing.assert_allclose(found, -_at_once(*case), 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("far", [-2000.0, 90.0, 2000.0, 1e30])
def test_a_word_that_scores_far_off_the_first_ones(far, dtype):
    hidden, linearity, bias, targets = _case()
    bias[600] = far
    targets[3] = 600
    if dtype == "float64":
        case, narrow = (hidden, linearity, bias, targets), None
    else:
        case = (*(x.astype("float32") for x in (hidden, linearity, bias)), targets)
        narrow = dtype
    expected = _at_once(hidden, linearity, bias, targets)
    found = -layers.target_log_probs(*case, dtype=narrow)
    tolerance = {"float32": 1e-5, "float64": 1e-12, "bfloat16": 0.02}[dtype]
    np.testing.assert_allclose(found, expected, tolerance, 10 * tolerance)
    if dtype != "bfloat16":
        trained = layers.full_softmax_losses(*map(tf.constant, case), 10**6)
        np.testing.assert_allclose(trained, expected, tolerance, 10 * tolerance)


def test_weights_that_are_no_numbers_are_told():
    hidden, linearity, bias, targets = _case()
    linearity[600, 0] = np.nan
    assert np.isnan(layers.target_log_probs(hidden, linearity, bias, targets)).all()


@pytest.mark.parametrize("budget", [1, 2100, 10**6])
def test_training_losses_and_gradients_equal_those_made_at_once(budget):
    hidden, linearity, bias, targets = _case()
    weights = np.random.default_rng(1).normal(size=len(hidden))
    parts = [tf.Variable(x) for x in (hidden, linearity, bias)]
    with tf.GradientTape() as tape:
        losses = layers.full_softmax_losses(*parts, targets, budget)
        total = tf.reduce_sum(losses * weights)
    np.testing.assert_allclose(
        losses, _at_once(hidden, linearity, bias, targets), 1e-12
    )
    with tf.GradientTape() as whole:
        scores = tf.matmul(parts[0], parts[1], transpose_b=True) + parts[2]
        expected = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, scores)
        expected = tf.reduce_sum(expected * weights)
    for one, other in zip(
        tape.gradient(total, parts), whole.gradient(expected, parts), strict=True
    ):
        np.testing.assert_allclose(one, other, 1e-9, 1e-12)


@pytest.mark.parametrize("training", [False, True])
def test_no_more_scores_are_held_than_the_budget_allows(monkeypatch, training):
    sizes = []
    exp = tf.exp
    monkeypatch.setattr(tf, "exp", lambda x: sizes.append(int(tf.size(x))) or exp(x))
    hidden, linearity, bias, targets = map(tf.constant, _case(10, 5000))
    if training:
        with tf.GradientTape() as tape:
            tape.watch(hidden)
            losses = layers.full_softmax_losses(hidden, linearity, bias, targets, 4000)
        tape.gradient(losses, hidden)
    else:
        layers.target_log_probs(hidden, linearity, bias, targets, 4000)
    assert max(sizes) == 4000
    assert sum(sizes) >= 10 * 5000


def test_bfloat16_agrees_in_the_mean():
    hidden, linearity, bias, targets = (
        x.astype("float32") if x.dtype == "float64" else x for x in _case(640, 3000, 32)
    )
    hidden *= 0.3
    exact = full_softmax.target_log_probs(hidden, linearity, bias, targets)
    half = full_softmax.target_log_probs(
        hidden, linearity, bias, targets, dtype="bfloat16"
    )
    assert half.dtype == "float32"
    perplexities = [np.exp(-np.mean(x)) for x in (exact, half)]
    np.testing.assert_allclose(*perplexities, 1e-3)


def test_the_layer_trains_as_keras_does():
    layer = layers.FullSoftmax(50, budget=256, dtype="float64")
    layer.build((None, None, 4))
    hidden = tf.constant(np.random.default_rng(0).normal(size=(2, 3, 4)))
    targets = tf.constant([[0, 1, 2], [3, 4, 49]])
    mask = tf.constant([[True, True, False], [True, True, True]])
    found = layer((hidden, targets, mask), training=True)
    scores = layer.probs(hidden).numpy()
    expected = -np.log(np.take_along_axis(scores, targets.numpy()[..., None], 2))
    expected = np.where(mask, expected[..., 0], 0)
    np.testing.assert_allclose(found, expected, 1e-9)
    np.testing.assert_allclose(scores.sum(-1), 1, 1e-9)
