import numpy as np
import pytest

from seqzoo.layers import FrequencyAveragePooling
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

RNG = np.random.default_rng(0)
SIZES = [(2, 2, 6), (3, 2, 7), (3, 1, 5), (2, 2, 7), (2, 3, 8), (4, 4, 4)]


def means(x, size, step, stride):
    patches = x.reshape(len(x), -1, stride)
    starts = range(0, patches.shape[1] - size + 1, step)
    pools = [patches[:, begin : begin + size].mean(axis=1) for begin in starts]
    return np.concatenate(pools, axis=1)


@pytest.mark.parametrize(("size", "step", "patches"), SIZES)
def test_outputs_and_gradients(size, step, patches):
    x = RNG.normal(size=(3, 2 * patches)).astype(np.float32)
    for kaldi_gradients in (True, False):
        layer = FrequencyAveragePooling(size, step, 2, kaldi_gradients)
        expected = means(x, size, step, 2)
        np.testing.assert_allclose(layer(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    check_true_gradient(layer, x)


def test_nnet1_divides_by_the_pools_of_a_patch():
    # Patches 0 1 2, 2 3 4: only patch 2 is in two pools.
    layer = FrequencyAveragePooling(3, 2, 1, kaldi_gradients=True)
    x = np.zeros((1, 5), "float32")
    found = gradient(layer, x, np.array([[3, 6]], "float32"))
    np.testing.assert_allclose(found, [[1, 1, 1.5, 2, 2]], rtol=1e-6)
    layer.kaldi_gradients = False
    found = gradient(layer, x, np.array([[3, 6]], "float32"))
    np.testing.assert_allclose(found, [[1, 1, 3, 2, 2]], rtol=1e-6)


@pytest.mark.parametrize("kaldi_gradients", [False, True])
def test_owes_what_a_layer_owes(kaldi_gradients):
    def make():
        return FrequencyAveragePooling(3, 2, 2, kaldi_gradients)

    x = RNG.normal(size=(2, 3, 14)).astype(np.float32)
    check_layer(make, x, np.array([[True, True, False]] * 2), rtol=1e-5)
    check_layer(make, x[0], rtol=1e-5)
