import keras
import numpy as np

from seqzoo.layers import Softmax
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

X = np.log(np.array([[[1, 3], [2, 2], [1, 1]]], "float32"))


def test_frames_by_hand_whatever_is_masked():
    expected = np.array([[[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]]], "float32")
    check_layer(Softmax, X, np.array([[True, False, False]]), expected)
    check_layer(Softmax, X[0], None, expected[0])
    check_layer(lambda: Softmax(kaldi_gradients=True), X[0], None, expected[0])


def test_it_is_keras_softmax():
    assert isinstance(Softmax(), keras.layers.Softmax)


def test_the_gradient_is_the_true_one():
    check_true_gradient(Softmax(), X)


def test_nnet1_passes_the_gradient_through():
    diff = np.array([[[5, 10], [2, 6], [0, 1]]], "float32")
    layer = Softmax()
    layer.kaldi_gradients = True
    assert gradient(layer, X, diff).tolist() == diff.tolist()
