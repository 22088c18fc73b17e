import numpy as np

from seqzoo.layers import LengthNorm
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

X = np.array([[[3, 4], [0, -2]]], "float32")


def test_frames_by_hand():
    expected = np.array([[[0.6, 0.8], [0, -1]]], "float32")
    check_layer(LengthNorm, X, np.array([[True, True]]), expected)
    check_layer(LengthNorm, X[0], None, expected[0])


def test_a_frame_of_zeros_is_nan_and_padding_is_not():
    x = np.array([[[3, 4], [0, 0], [0, 0]]], "float32")
    found = LengthNorm()(x, mask=np.array([[True, True, False]])).numpy()
    assert np.isnan(found[0, 1]).all() and found[0, 2].tolist() == [0, 0]
    found = gradient(
        LengthNorm(), x[:, [0, 2]], np.ones((1, 2, 2)), mask=np.array([[True, False]])
    )
    assert np.isfinite(found).all()


def test_the_gradient_is_the_true_one():
    check_true_gradient(LengthNorm(), X)


def test_nnet1_takes_the_length_for_a_constant():
    diff = np.array([[[5, 10], [2, 6]]], "float32")
    found = gradient(LengthNorm(kaldi_gradients=True), X, diff)
    np.testing.assert_allclose(found, [[[1, 2], [1, 3]]], rtol=1e-6)


def test_long_frames_in_half_precision():
    found = LengthNorm(dtype="mixed_float16")(np.full((1, 4), 1000, "float32"))
    np.testing.assert_allclose(found.numpy(), [[0.5] * 4], rtol=1e-3)
