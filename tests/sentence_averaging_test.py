import keras
import numpy as np
import pytest

from seqzoo.layers import Affine, SentenceAveraging
from tests.check_gradient import check_true_gradient, gradient, weight_gradients
from tests.check_layer import check_layer

X = np.array([[[1, 2], [3, 6], [5, 1]], [[4, 8], [99, 99], [7, 7]]], "float32")
MASK = np.array([[True, True, True], [True, False, False]])
WEIGHTS = np.array([[1, 0], [0, 1], [1, 1]], "float32")
BIAS = np.array([0, 10, 0], "float32")


def made(activation="linear", **kwargs) -> SentenceAveraging:
    net = [Affine(3, seed=1), keras.layers.Activation(activation)]
    layer = SentenceAveraging([net], **kwargs)
    layer.build((None, None, 2))
    layer.nets[0][0].set_weights([WEIGHTS, BIAS])
    return layer


def test_utterances_by_hand():
    found = made()(X, mask=MASK).numpy()
    assert found[0].tolist() == [[3, 13, 6, *x] for x in X[0].tolist()]
    assert found[1].tolist() == [[4, 18, 12, *x] for x in X[1].tolist()]
    assert made()(X[0]).numpy().tolist() == found[0].tolist()


def test_owes_what_a_layer_owes():
    def make():
        net = [Affine(3, bias_mean=0.0, seed=1), keras.layers.Activation("tanh")]
        return SentenceAveraging([net], 10.0)

    check_layer(make, X / 10, MASK, rtol=1e-5)
    check_layer(make, X[0] / 10, rtol=1e-5)


def test_gradients_are_the_true_ones():
    layer, x = made("tanh"), X / 10
    check_true_gradient(layer, x, mask=MASK)
    # To the weights: the sum of each utterance's diff, averaged over its frames.
    diff = np.random.default_rng(0).normal(size=(2, 3, 5)).astype(np.float32)
    weights, bias = weight_gradients(layer, x, diff, mask=MASK)
    expected = np.zeros((3, 3))  # The bias is the last column.
    for utt, count in enumerate([3, 1]):
        sent = diff[utt, :, :3].sum(axis=0) / count
        for frame in x[utt, :count]:
            y = np.tanh(WEIGHTS @ frame + BIAS)
            expected += np.outer(sent * (1 - y**2), [*frame, 1])
    np.testing.assert_allclose(weights, expected[:, :2], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(bias, expected[:, 2], rtol=1e-4, atol=1e-6)


def test_nnet1_sends_nothing_back_through_the_network():
    layer = made(kaldi_gradients=True)
    diff = np.random.default_rng(0).normal(size=(2, 3, 5)).astype(np.float32)
    np.testing.assert_array_equal(gradient(layer, X, diff), diff[..., 3:])
    assert all(np.abs(g).max() > 0 for g in weight_gradients(layer, X, diff))


def test_the_networks_learn_rates_are_scaled():
    affine = Affine(3, learn_rate_coef=0.5, bias_learn_rate_coef=2.0)
    SentenceAveraging([[affine]], learn_rate_factor=10.0).build((None, None, 2))
    assert [w.learn_rate_coef for w in affine.weights] == [5.0, 20.0]
    assert [w.penalty_coef for w in affine.weights] == [5.0, 0.0]


def test_other_than_one_network():
    with pytest.raises(ValueError, match="one network is taken, not 2"):
        SentenceAveraging([[Affine(1)], [Affine(1)]])
