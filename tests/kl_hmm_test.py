import numpy as np
import pytest

from seqzoo.layers import KlHmm
from tests.check_gradient import check_true_gradient
from tests.check_layer import check_layer

X = np.array([[[0.5, 0.5, 0], [0.2, 0.3, 0.5]]], "float32")
STATES = np.array([[1, 1, 2], [30, 10, 0]], "float64")


def made() -> KlHmm:
    layer = KlHmm(2)
    layer.build((None, 3))
    layer.states.assign(STATES)
    return layer


def divergences(x, states):
    """By the formula, floored at 1e-20."""
    shares = states / states.sum(axis=1, keepdims=True)
    y = np.zeros((*x.shape[:-1], len(states)))
    for place in np.ndindex(*x.shape[:-1]):
        for j, q in enumerate(shares):
            for p, qd in zip(x[place].astype(float), q, strict=True):
                y[(*place, j)] -= p * (np.log(max(p, 1e-20)) - np.log(max(qd, 1e-20)))
    return y


def test_frames_by_the_formula():
    found = made()(X).numpy()
    np.testing.assert_allclose(found, divergences(X, STATES), rtol=1e-5, atol=1e-6)
    # 0.5 log(0.25 / 0.5) twice.
    assert found[0, 0, 0] == pytest.approx(np.log(0.5), rel=1e-6)


def test_owes_what_a_layer_owes():
    check_layer(lambda: KlHmm(4), X, np.array([[True, False]]), rtol=1e-5)
    check_layer(lambda: KlHmm(4), X[0], rtol=1e-5)


def test_statistics_are_kept_in_double_precision():
    layer = made()
    layer.states.assign(STATES + 1e-12)
    np.testing.assert_array_equal(layer.states.value.numpy(), STATES + 1e-12)
    assert layer.trainable_weights == []


def test_the_gradient_is_the_true_one():
    layer = KlHmm(2)
    layer.build((None, 3))
    layer.states.assign(STATES + 5)
    check_true_gradient(layer, X[:, 1:])


def test_no_states():
    with pytest.raises(ValueError, match="num_states is 0, below 1"):
        KlHmm(0)
