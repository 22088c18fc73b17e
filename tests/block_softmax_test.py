import numpy as np
import pytest

from seqzoo.layers import BlockSoftmax, block_softmax, kaldi_block_diff
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

X = np.log(np.array([[[1, 3, 1, 1, 2], [2, 2, 5, 5, 10]]], "float32"))
Y = np.array([[[0.25, 0.75, 0.25, 0.25, 0.5], [0.5, 0.5, 0.25, 0.25, 0.5]]], "float32")


def test_frames_by_hand():
    check_layer(lambda: BlockSoftmax([2, 3]), X, np.array([[True, False]]), Y)
    check_layer(lambda: BlockSoftmax([2, 3], True), X[0], None, Y[0])
    np.testing.assert_allclose(block_softmax(X, [2, 3]), Y, rtol=1e-6)


def test_the_gradient_is_the_true_one():
    check_true_gradient(BlockSoftmax([2, 3]), X)


def test_nnet1_masks_blocks_without_a_target():
    """The first frame has its target in the second block, the second in the first."""
    target = np.array([[[0, 0, 1, 0, 0], [0, 1, 0, 0, 0]]], "float32")
    found = gradient(BlockSoftmax([2, 3], kaldi_gradients=True), X, Y - target)
    expected = [[[0, 0, -0.75, 0.25, 0.5], [0.5, -0.5, 0, 0, 0]]]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_frame_weight_leaks_into_blocks_without_a_target():
    diff = 0.5 * np.array([[0.25, 0.75, -0.75, 0.25, 0.5]], "float32")
    # 0.5 (1 - 0.5) of the posteriors in the first block.
    expected = [[0.0625, 0.1875, -0.375, 0.125, 0.25]]
    np.testing.assert_allclose(kaldi_block_diff(diff, [2, 3]), expected, rtol=1e-6)


def test_blocks_that_do_not_fit():
    with pytest.raises(ValueError, match=r"1 or more, not \(2, 0\)"):
        BlockSoftmax([2, 0])
    with pytest.raises(ValueError, match=r"not \(\)"):
        BlockSoftmax([])
    with pytest.raises(ValueError, match=r"\(2, 2\) add up to 4, but the input is 5"):
        BlockSoftmax([2, 2])(X)
