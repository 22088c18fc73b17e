import numpy as np
import pytest

from seqzoo.layers import SimpleSentenceAveraging
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

X = np.array([[[1, 2], [3, 6], [5, 1]], [[4, 8], [99, np.nan], [7, 7]]], "float32")
MASK = np.array([[True, True, True], [True, False, False]])


def test_utterances_by_hand():
    found = SimpleSentenceAveraging()(X, mask=MASK).numpy()
    assert found.tolist() == [[[3, 3]] * 3, [[4, 8]] * 3]
    found = SimpleSentenceAveraging(shrinkage=6.0)(X[:1]).numpy()
    assert found.tolist() == [[[1, 1]] * 3]
    found = SimpleSentenceAveraging(shrinkage=6.0, only_summing=True)(X[0]).numpy()
    assert found.tolist() == [[9, 9]] * 3


def test_an_utterance_of_padding_alone():
    mask = np.array([[True, True, True], [False, False, False]])
    assert SimpleSentenceAveraging()(X, mask=mask).numpy()[1].tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("kaldi_gradients", [False, True])
def test_owes_what_a_layer_owes(kaldi_gradients):
    def make():
        return SimpleSentenceAveraging(50.0, 2.0, kaldi_gradients=kaldi_gradients)

    check_layer(make, np.nan_to_num(X), MASK)
    check_layer(make, X[0])


def test_a_long_utterance_in_half_precision():
    layer = SimpleSentenceAveraging(dtype="mixed_float16")
    found = layer(np.full((1, 3000, 1), 1000, "float32")).numpy()
    assert (found == 1000).all()


@pytest.mark.parametrize("only_summing", [False, True])
def test_the_gradient_is_the_true_one(only_summing):
    layer = SimpleSentenceAveraging(50.0, 2.0, only_summing)
    check_true_gradient(layer, np.nan_to_num(X), mask=MASK)


def test_nnet1_boosts_the_gradient():
    layer = SimpleSentenceAveraging(gradient_boost=50.0, shrinkage=2.0)
    layer.kaldi_gradients = True
    diff = np.array([[[1, 0], [2, 0], [3, 10]]], "float32")
    # 50 (1 + 2 + 3) / (3 + 2), 50 * 10 / 5.
    found = gradient(layer, X[:1], diff)
    np.testing.assert_allclose(found, [[[60, 100]] * 3], rtol=1e-6)


def test_a_shrinkage_below_0():
    with pytest.raises(ValueError, match="shrinkage is -1, below 0"):
        SimpleSentenceAveraging(shrinkage=-1)
