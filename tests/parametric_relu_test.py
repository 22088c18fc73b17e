import numpy as np
import pytest

from seqzoo.layers import KaldiSGD, ParametricRelu
from tests.check_gradient import gradient, weight_gradients
from tests.check_layer import check_layer

X = np.array([[[2, -3], [-1, 4], [0, 0]]], "float32")
MASK = np.array([[True, True, False]])


def made(**kwargs) -> ParametricRelu:
    layer = ParametricRelu(2.0, 0.5, **kwargs)
    layer.build((None, 2))
    return layer


def test_frames_by_hand():
    expected = np.array([[[4, -1.5], [-0.5, 8], [0, 0]]], "float32")
    check_layer(lambda: ParametricRelu(2.0, 0.5, 1.0, 0.25), X, MASK, expected)
    check_layer(lambda: ParametricRelu(2.0, 0.5), X[0], None, expected[0])


def test_it_starts_as_a_rectifier_that_does_not_learn():
    layer = ParametricRelu()
    assert layer(X).numpy().tolist() == np.maximum(X, 0).tolist()
    assert layer.trainable_weights == []


def test_gradients_by_hand():
    layer = made(alpha_learn_rate_coef=1.0, beta_learn_rate_coef=1.0)
    diff = np.array([[[1, 10], [100, 1000], [7, 7]]], "float32")
    assert gradient(layer, X, diff).tolist() == [[[2, 5], [50, 2000], [14, 14]]]
    alpha, beta = weight_gradients(layer, X, diff)
    # alpha: max(x, 0) . diff; beta: min(x, 0) . diff.
    assert alpha.tolist() == [2, 4000]
    assert beta.tolist() == [-100, -30]


def test_update_options():
    layer = made(alpha_learn_rate_coef=0.5)
    assert [w.name for w in layer.trainable_weights] == ["alpha"]
    assert (layer.alpha.learn_rate_coef, layer.alpha.momentum) == (0.5, True)
    assert (layer.alpha.penalty_coef, layer.alpha.max_norm) == (0.0, 0.0)
    assert layer.beta.learn_rate_coef == 0
    optimizer = KaldiSGD(0.1, momentum=0.5, l2_penalty=1.0)
    for _ in range(2):
        optimizer.apply([np.ones(2, "float32")], [layer.alpha])
    # 2 - 0.1 * 0.5 * (1 + 1.5)
    assert layer.alpha.value.numpy().tolist() == pytest.approx([1.875] * 2)
