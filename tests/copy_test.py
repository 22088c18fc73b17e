import numpy as np
import pytest

from seqzoo.layers import Copy
from tests.check_gradient import gradient
from tests.check_layer import check_layer

X = np.array([[[1, 2, 3], [4, 5, 6]]], "float32")
MASK = np.array([[True, False]])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([2, 0, 2], [[[3, 1, 3], [6, 4, 6]]]),
        ([1, 2], [[[2, 3], [5, 6]]]),
        ([0], [[[1], [4]]]),
    ],
)
@pytest.mark.parametrize("kaldi_gradients", [False, True])
def test_columns_by_hand(columns, expected, kaldi_gradients):
    expected = np.array(expected, "float32")
    check_layer(lambda: Copy(columns, kaldi_gradients), X, MASK, expected)
    check_layer(lambda: Copy(columns, kaldi_gradients), X[0], None, expected[0])


def test_a_column_gets_the_gradient_of_all_its_copies():
    diff = np.array([[1, 2, 4], [8, 16, 32]], "float32")
    found = gradient(Copy([2, 0, 2]), X[0], diff)
    assert found.tolist() == [[2, 0, 5], [16, 0, 40]]


def test_nnet1_sends_zeros():
    layer = Copy([1, 2])
    layer.kaldi_gradients = True
    assert gradient(layer, X[0], np.ones((2, 2), "float32")).tolist() == [[0] * 3] * 2


def test_columns_that_cannot_be():
    with pytest.raises(ValueError, match=r"one or more numbers from 0, not \(1, -1\)"):
        Copy([1, -1])
    with pytest.raises(ValueError, match=r"not \(\)"):
        Copy([])
    with pytest.raises(ValueError, match="column 3 is asked for, but the input has 3"):
        Copy([0, 3])(X)
