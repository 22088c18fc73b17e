import keras
import numpy as np
import pytest

from seqzoo.layers import (
    Affine,
    Copy,
    Parallel,
    SimpleSentenceAveraging,
    Softmax,
    Splice,
)
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

X = np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], "float32")
MASK = np.array([[True, True, False]])


def test_columns_go_to_their_networks():
    layer = Parallel([[Copy([1, 0, 1])], [Copy([0])]], [2, 1])
    expected = np.array([[[2, 1, 2, 3], [5, 4, 5, 6], [8, 7, 8, 9]]], "float32")
    assert layer(X).numpy().tolist() == expected.tolist()
    assert layer(X[0]).numpy().tolist() == expected[0].tolist()


def test_networks_get_the_mask():
    layer = Parallel([[Splice([1])], [SimpleSentenceAveraging()]], [2, 1])
    found = layer(X, mask=MASK).numpy()
    assert found[0, :2].tolist() == [[4, 5, 4.5]] * 2
    assert layer(X).numpy()[0].tolist() == [[4, 5, 6], [7, 8, 6], [7, 8, 6]]


def test_a_softmax_in_it_is_not_masked():
    layer = Parallel([[Softmax()], [keras.layers.Softmax()]], [1, 2])
    found = layer(X, mask=MASK).numpy()
    expected = [[1, 1 / (1 + np.e), np.e / (1 + np.e)]] * 3
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)


def test_dropout_in_it_is_on_in_training():
    layer = Parallel([[keras.layers.Dropout(0.5, seed=1)], [Copy([0])]], [2, 1])
    x = np.ones((50, 3), "float32")
    assert (layer(x).numpy() == 1).all()
    found = layer(x, training=True).numpy()
    assert set(found[:, :2].ravel().tolist()) == {0, 2}
    assert (found[:, 2] == 1).all()


@pytest.mark.parametrize("shape", [(2, 3, 3), (4, 3)])
def test_owes_what_a_layer_owes(shape):
    def make():
        net = [Affine(4, bias_mean=0.0, seed=1), keras.layers.Activation("tanh")]
        inner = Parallel([[Affine(2, seed=3)]], [1])
        return Parallel([net, [inner, Softmax()]], [2, 1])

    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    mask = None if len(shape) == 2 else np.array([[True, True, False]] * 2)
    check_layer(make, x, mask, rtol=1e-5)


def test_the_gradient_is_the_true_one():
    net = [Affine(4, seed=1), keras.layers.Activation("tanh")]
    check_true_gradient(Parallel([net, [Copy([0, 0])]], [2, 1]), X / 10)


def test_nnet1s_gradients_are_set_for_all_within():
    layer = Parallel([[Softmax()], [Copy([0])]], [2, 1])
    diff = np.array([[[1, 2, 3]] * 3], "float32")
    layer.kaldi_gradients = True
    assert layer.nets[0][0].kaldi_gradients and layer.nets[1][0].kaldi_gradients
    # The softmax passes it through, the copy sends zeros.
    assert gradient(layer, X, diff).tolist() == [[[1, 2, 0]] * 3]


def test_weights_are_its_own_and_layers_know_their_dims():
    affine = Affine(4, seed=1)
    layer = Parallel([[affine], [Copy([0])]], [2, 1])
    layer.build((None, 3))
    assert layer.trainable_weights == affine.trainable_weights
    assert [net[0].dims for net in layer.nets] == [(2, 4), (1, 1)]
    layer.trainable = False
    assert affine.trainable_weights == []


def test_networks_that_do_not_fit():
    with pytest.raises(ValueError, match="at least one network"):
        Parallel([], [])
    with pytest.raises(ValueError, match=r"\(2,\) are not one width for each of 2"):
        Parallel([[Copy([0])], [Copy([0])]], [2])
    with pytest.raises(ValueError, match="add up to 2, but the input is 3 wide"):
        Parallel([[Copy([0])], [Copy([0])]], [1, 1])(X)
