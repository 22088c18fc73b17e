"""CD-1: one update of a small RBM against a computation by hand."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import rbm_cd1

# 4 visible and 3 hidden units, 2 frames.
VISIBLE = np.array([[1.0, 0.0, 0.5, -1.0], [0.0, 2.0, -0.5, 1.0]])
LINEARITY = np.array(
    [[0.1, -0.2, 0.3, 0.0], [0.4, 0.0, -0.1, 0.2], [0.0, 0.5, 0.2, -0.3]]
)
VISIBLE_BIAS = np.array([0.1, -0.1, 0.0, 0.2])
HIDDEN_BIAS = np.array([-0.2, 0.0, 0.3])
UNIFORM = np.array([[0.3, 0.9, 0.5], [0.6, 0.2, 0.1]])
NORMAL = np.array([[0.5, -1.0, 0.0], [1.5, 0.25, -0.5]])
CORRECTION = 0.01


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _expected(visible_type, hidden_type, *, rate, momentum, l2):
    """The new parameters and corrections, frame by frame and unit by unit."""
    difference = [np.zeros((3, 4)), np.zeros(4), np.zeros(3)]
    for frame, visible in enumerate(VISIBLE):

        def up(values):
            sums = np.array(
                [HIDDEN_BIAS[j] + sum(LINEARITY[j] * values) for j in range(3)]
            )
            return _sigmoid(sums) if hidden_type == "bern" else sums

        hidden = up(visible)
        if hidden_type == "bern":
            states = [float(UNIFORM[frame, j] < hidden[j]) for j in range(3)]
        else:
            states = [hidden[j] + NORMAL[frame, j] for j in range(3)]
        down = np.array(
            [
                VISIBLE_BIAS[i] + sum(states[j] * LINEARITY[j, i] for j in range(3))
                for i in range(4)
            ]
        )
        down = _sigmoid(down) if visible_type == "bern" else down
        again = up(down)
        for j in range(3):
            for i in range(4):
                difference[0][j, i] += hidden[j] * visible[i] - again[j] * down[i]
        difference[1] += visible - down
        difference[2] += hidden - again
    found = []
    for number, (value, step) in enumerate(
        zip((LINEARITY, VISIBLE_BIAS, HIDDEN_BIAS), difference, strict=True)
    ):
        decay = l2 if number == 0 else 0.0
        correction = momentum * CORRECTION + rate / 2 * step - rate * decay * value
        found.append((value + correction, correction))
    return found


def _variables():
    parameters = rbm_cd1.RbmParameters(
        *(
            tf.Variable(v, dtype=tf.float32)
            for v in (LINEARITY, VISIBLE_BIAS, HIDDEN_BIAS)
        )
    )
    corrections = rbm_cd1.RbmParameters(
        *(tf.Variable(tf.fill(v.shape, CORRECTION)) for v in parameters)
    )
    return parameters, corrections


@pytest.mark.parametrize("momentum", [0.0, 0.5])
@pytest.mark.parametrize(
    "visible_type, hidden_type",
    [("gauss", "bern"), ("bern", "bern"), ("gauss", "gauss"), ("bern", "gauss")],
)
def test_one_update_equals_the_computation_by_hand(visible_type, hidden_type, momentum):
    parameters, corrections = _variables()
    noise = tf.constant(UNIFORM if hidden_type == "bern" else NORMAL, tf.float32)
    found = rbm_cd1.phases(
        tf.constant(VISIBLE, tf.float32),
        parameters,
        visible_type,
        hidden_type,
        lambda means: rbm_cd1.states(means, noise, hidden_type),
    )
    settings = {"rate": 0.2, "momentum": momentum, "l2": 0.05}
    rbm_cd1.update(
        parameters,
        corrections,
        rbm_cd1.contrast(found),
        frames=2,
        learning_rate=settings["rate"],
        momentum=momentum,
        l2_penalty=settings["l2"],
    )
    expected = _expected(visible_type, hidden_type, **settings)
    for (value, correction), ours, pending in zip(
        expected, parameters, corrections, strict=True
    ):
        np.testing.assert_allclose(ours, value, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(pending, correction, rtol=1e-5, atol=1e-6)


def test_binary_units_are_on_where_the_noise_is_below_their_probability():
    means = tf.constant([[0.0, 0.25, 0.5, 1.0]])
    noise = tf.constant([[0.0, 0.2, 0.5, 0.999]])
    assert rbm_cd1.states(means, noise, "bern").numpy().tolist() == [[0, 1, 0, 1]]


@pytest.mark.parametrize("kind, mean", [("bern", 0.5), ("gauss", 0.0)])
def test_noise_is_of_its_kind_and_told_by_its_seed(kind, mean):
    noise = rbm_cd1.noise([1000, 11], [1, 2], kind).numpy()
    assert noise.shape == (1000, 11)
    assert abs(noise.mean() - mean) < 0.02
    assert (noise.min() < 0) == (kind == "gauss")
    assert noise.max() < 1 or kind == "gauss"
    deviation = 1 if kind == "gauss" else 12**-0.5
    assert abs(noise.std() - deviation) < 0.02
    assert np.array_equal(noise, rbm_cd1.noise([1000, 11], [1, 2], kind))
    assert not np.array_equal(noise, rbm_cd1.noise([1000, 11], [1, 3], kind))


def test_shrinking_scales_all_and_forgets_what_is_pending():
    parameters, corrections = _variables()
    rbm_cd1.shrink(parameters, corrections, tf.constant(0.5, tf.float64))
    np.testing.assert_allclose(parameters.linearity, LINEARITY / 2, rtol=1e-6)
    np.testing.assert_allclose(parameters.visible_bias, VISIBLE_BIAS / 2, rtol=1e-6)
    np.testing.assert_allclose(parameters.hidden_bias, HIDDEN_BIAS / 2, rtol=1e-6)
    assert all(not correction.numpy().any() for correction in corrections)


def test_unknown_units():
    with pytest.raises(ValueError, match="hidden_type is 'relu'; bern and gauss are"):
        rbm_cd1.check_units("bern", "relu")
