import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets.frame_blocks import target_pairs
from seqzoo.datasets.posterior import Posterior
from seqzoo.layers import mse, xent

LOGITS = np.array([[2.0, 0.0, -1.0], [0.0, 1.0, 0.5], [1.0, 1.5, -2.0]], "float32")
ONES = np.ones(3, "float32")


def pairs(*frames):
    """Targets as the loss takes them, `[(id, value), ...]` a frame."""
    return target_pairs(Posterior.from_frames(frames))


def classes(*ids):
    return pairs(*[[(i, 1.0)] for i in ids])


def softmax(logits):
    grown = np.exp(logits.astype(np.float64))
    return grown / grown.sum(axis=1, keepdims=True)


def numpy_xent(logits, targets, weights):
    """diff, loss, entropy, correct, frames by the formulas, from dense targets."""
    y = softmax(logits)
    w = weights * targets.sum(axis=1)
    diff = (y - targets) * w[:, None]
    loss = -np.sum(w[:, None] * targets * np.log(y + 1e-20))
    entropy = -np.sum(w[:, None] * targets * np.log(targets + 1e-20))
    correct = np.sum(w * (logits.argmax(1) == targets.argmax(1)))
    return diff, [loss, entropy, correct, np.sum(w[:, None] * targets)]


def test_xent_is_the_negative_log_of_the_wanted_posterior():
    # softmax([log 8, log 2]) = [0.8, 0.2]
    logits = np.log([[8.0, 2.0]]).astype(np.float32)
    for wanted, y in ((0, 0.8), (1, 0.2)):
        found = xent(logits, *classes(wanted), np.ones(1, "float32"))
        np.testing.assert_allclose(found.sums[0], -np.log(y), rtol=1e-6)
        assert found.sums.numpy()[1:].tolist() == [0, wanted == 0, 1]
        expected = np.array([[0.8, 0.2]]) - np.eye(2)[wanted]
        np.testing.assert_allclose(found.diff, expected, rtol=1e-5)


def test_soft_targets_have_their_own_entropy():
    found = xent(
        np.log([[8.0, 2.0]]).astype(np.float32),
        *pairs([(0, 0.8), (1, 0.2)]),
        np.ones(1, "float32"),
    )
    np.testing.assert_allclose(found.sums[1], 0.5004, atol=5e-5)
    np.testing.assert_allclose(found.sums[0] - found.sums[1], 0, atol=1e-6)
    np.testing.assert_allclose(found.diff, np.zeros((1, 2)), atol=1e-6)


@pytest.mark.parametrize("k", [1, 2])
def test_the_gradient_is_that_of_the_summed_loss(k):
    targets = classes(0, 2, 1)
    if k == 2:
        targets = pairs([(0, 0.25), (2, 0.75)], [(2, 1.0)], [(1, 0.5), (0, 0.5)])
    weights = np.array([1.0, 0.5, 2.0], "float32")
    logits = tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        found = xent(logits, *targets, weights)
        total = found.sums[0]
    np.testing.assert_allclose(
        found.diff, tape.gradient(total, logits), rtol=1e-5, atol=1e-6
    )


def test_half_a_weight_is_half_a_gradient_and_none_is_none():
    targets = classes(0, 2, 1)
    whole = xent(LOGITS, *targets, ONES)
    half = xent(LOGITS, *targets, 0.5 * ONES)
    np.testing.assert_allclose(half.diff, 0.5 * whole.diff, rtol=1e-6)
    np.testing.assert_allclose(half.sums, 0.5 * whole.sums, rtol=1e-6)
    some = xent(LOGITS, *targets, np.array([1, 0, 1], "float32"))
    assert (some.diff.numpy()[1] == 0).all()
    without = xent(LOGITS[[0, 2]], *classes(0, 1), ONES[:2])
    np.testing.assert_allclose(some.sums, without.sums, rtol=1e-6)
    np.testing.assert_allclose(some.diff.numpy()[[0, 2]], without.diff, rtol=1e-6)


def test_targets_that_do_not_sum_to_1_weigh_by_their_sum():
    targets = pairs([(0, 0.5)], [(1, 1.0), (2, 1.0)], [])
    dense = np.array([[0.5, 0, 0], [0, 1, 1], [0, 0, 0]])
    found = xent(LOGITS, *targets, ONES)
    diff, sums = numpy_xent(LOGITS, dense, ONES)
    np.testing.assert_allclose(found.diff, diff, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.sums, sums, rtol=1e-5, atol=1e-7)
    # In figures: 0.5 * 0.5 + 2 * (1 + 1) frames; none of the last frame.
    np.testing.assert_allclose(found.sums[3], 4.25)
    assert (found.diff.numpy()[2] == 0).all()


def test_by_class():
    targets = pairs([(0, 1.0)], [(1, 0.25), (2, 0.75)], [(2, 1.0)])
    weights = np.array([1.0, 2.0, 0.5], "float32")
    loss, entropy, correct, frames = xent(LOGITS, *targets, weights).per_class.numpy()
    y = softmax(LOGITS)
    np.testing.assert_allclose(frames, [1, 0.5, 2.0])
    np.testing.assert_allclose(
        loss,
        [
            -np.log(y[0, 0]),
            -0.5 * np.log(y[1, 1]),
            -1.5 * np.log(y[1, 2]) - 0.5 * np.log(y[2, 2]),
        ],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        entropy, [0, -0.5 * np.log(0.25), -1.5 * np.log(0.75)], rtol=1e-5
    )
    # Frame 0 is right; 1 is class 2 but says 1; 2 is class 2 but says 1.
    assert correct.tolist() == [1, 0, 0]


def test_of_equal_targets_the_lowest_class_counts_for_accuracy():
    logits = np.array([[0, 1, 0], [0, 0, 1]], "float32")
    targets = pairs([(2, 0.5), (1, 0.5)], [(2, 0.5), (1, 0.5)])
    found = xent(logits, *targets, np.ones(2, "float32"))
    assert found.sums.numpy()[2] == 1
    assert found.per_class.numpy()[2].tolist() == [0, 1, 0]


def test_a_posterior_of_0_has_a_finite_loss():
    found = xent(np.array([[200.0, -200.0]], "float32"), *classes(1), ONES[:1])
    np.testing.assert_allclose(found.sums[0], -np.log(1e-20), rtol=1e-6)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_any_posteriors_against_the_formulas(data):
    frames = data.draw(
        st.lists(
            st.lists(
                st.tuples(st.integers(0, 3), st.floats(0.125, 2, width=16)), max_size=3
            ),
            min_size=1,
            max_size=5,
        )
    )
    targets = Posterior.from_frames(frames)
    random = np.random.default_rng(len(targets.values))
    logits = random.normal(size=(len(frames), 4)).astype(np.float32)
    weights = random.uniform(size=len(frames)).astype(np.float32)
    found = xent(logits, *target_pairs(targets), weights)
    dense = targets.to_dense(4)
    diff, sums = numpy_xent(logits, dense, weights)
    np.testing.assert_allclose(found.diff, diff, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.sums, sums, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(tf.reduce_sum(found.per_class, 1), found.sums)

    error = (logits - dense) * weights[:, None]
    found = mse(logits, *target_pairs(targets), weights)
    np.testing.assert_allclose(found.diff, error, rtol=1e-4, atol=1e-6)
    loss = 0.5 * np.sum(weights * np.sum(error**2, axis=1))
    np.testing.assert_allclose(found.sums[0], loss, rtol=1e-4)


def test_mse_by_hand():
    outputs = np.array([[0.8, 0.1]], "float32")
    found = mse(outputs, *pairs([(0, 1.0)]), ONES[:1])
    np.testing.assert_allclose(found.sums, [0.025, 0, 0, 1], rtol=1e-6)
    np.testing.assert_allclose(found.diff, [[-0.2, 0.1]], rtol=1e-6)
    assert not found.per_class.numpy().any()


def test_mse_of_targets_that_are_no_probabilities():
    outputs = np.array([[0.5, 0.0, 1.0]], "float32")
    found = mse(outputs, *pairs([(0, -3.5), (2, 2.0)]), ONES[:1])
    assert found.diff.numpy().tolist() == [[4, 0, -1]]
    assert found.sums.numpy()[0] == 8.5


def test_mse_counts_the_weight_three_times_in_the_loss_and_once_in_the_gradient():
    outputs = np.array([[3.0, 0.0]], "float32")
    target = pairs([(0, 1.0)])
    whole = mse(outputs, *target, ONES[:1])
    half = mse(outputs, *target, 0.5 * ONES[:1])
    assert whole.sums.numpy()[0] == 2
    assert half.sums.numpy()[0] == 2 * 0.5**3
    assert half.diff.numpy().tolist() == [[1, 0]]
    none = mse(outputs, *target, 0 * ONES[:1])
    assert not none.diff.numpy().any() and not none.sums.numpy().any()


def test_mse_counts_whole_frames_of_a_minibatch():
    targets = classes(0, 1, 2)
    weights = np.array([0.5, 0.9, 0.55], "float32")
    assert mse(LOGITS, *targets, weights).sums.numpy()[3] == 1
    assert mse(LOGITS, *targets, ONES).sums.numpy()[3] == 3


def test_the_mse_gradient_is_that_of_half_the_squared_error():
    outputs = tf.constant(LOGITS)
    ids, values = classes(0, 1, 2)
    with tf.GradientTape() as tape:
        tape.watch(outputs)
        total = 0.5 * tf.reduce_sum((outputs - np.eye(3, dtype="float32")) ** 2)
    np.testing.assert_allclose(
        mse(LOGITS, ids, values, ONES).diff, tape.gradient(total, outputs), rtol=1e-6
    )


@pytest.mark.parametrize("loss", [xent, mse])
def test_one_trace_for_any_number_of_pairs_and_frames(loss):
    any_size = tf.TensorSpec([None, None])
    traced = tf.function(
        loss,
        input_signature=[
            tf.TensorSpec([None, 3]),
            tf.TensorSpec([None, None], tf.int32),
            any_size,
            tf.TensorSpec([None]),
        ],
    )
    for targets in (classes(0, 2, 1), pairs([(0, 0.5), (1, 0.5)], [], [(2, 1.0)])):
        inside, outside = traced(LOGITS, *targets, ONES), loss(LOGITS, *targets, ONES)
        for a, b in zip(inside, outside, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("loss", [xent, mse])
def test_no_frames(loss):
    found = loss(
        np.zeros((0, 3), "float32"),
        np.zeros((0, 1), "int32"),
        np.zeros((0, 1), "float32"),
        np.zeros(0, "float32"),
    )
    assert found.sums.numpy().tolist() == [0, 0, 0, 0]
    assert found.diff.shape == (0, 3)
