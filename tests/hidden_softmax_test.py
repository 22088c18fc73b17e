import keras
import numpy as np

from seqzoo.layers import HiddenSoftmax
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

X = np.log(np.array([[[1, 3], [2, 2], [1, 1]]], "float32"))


def test_frames_by_hand():
    expected = np.array([[[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]]], "float32")
    check_layer(HiddenSoftmax, X, np.array([[True, True, False]]), expected)
    check_layer(HiddenSoftmax, X[0], None, expected[0])


def test_the_gradient_is_the_true_one():
    check_true_gradient(HiddenSoftmax(), X)
    # y (d - y . d) of y = (1/4, 3/4), d = (1, 0).
    found = gradient(HiddenSoftmax(), X[0, :1], np.array([[1, 0]], "float32"))
    np.testing.assert_allclose(found, [[0.1875, -0.1875]], rtol=1e-6)


def test_it_is_no_softmax_that_a_loss_takes_over():
    assert not isinstance(HiddenSoftmax(), keras.layers.Softmax)
