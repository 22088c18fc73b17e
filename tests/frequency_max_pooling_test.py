import numpy as np
import pytest

from seqzoo.layers import FrequencyMaxPooling
from tests.check_gradient import check_true_gradient, gradient
from tests.check_layer import check_layer

RNG = np.random.default_rng(0)
# Pools side by side, overlapping, with a rest, with gaps, all in one.
SIZES = [(2, 2, 6), (3, 2, 7), (3, 1, 5), (2, 2, 7), (2, 3, 8), (4, 4, 4)]


def by_loops(x, size, step, stride):
    """Outputs, and for each the patches that have its maximum."""
    patches = x.shape[1] // stride
    pools = 1 + (patches - size) // step
    y, winners = np.zeros((len(x), pools * stride), np.float32), {}
    for t, q, f in np.ndindex(len(x), pools, stride):
        pool = range(q * step, q * step + size)
        y[t, q * stride + f] = best = max(x[t, p * stride + f] for p in pool)
        winners[t, q, f] = [p for p in pool if x[t, p * stride + f] == best]
    return y, winners


def kaldi_gradient(x, diff, size, step, stride):
    """Every winner gets a pool's gradient; a patch's is divided by its pools."""
    _, winners = by_loops(x, size, step, stride)
    patches = x.shape[1] // stride
    count = np.zeros(patches)
    for q in range(1 + (patches - size) // step):
        count[q * step : q * step + size] += 1
    found = np.zeros(x.shape)
    for (t, q, f), tied in winners.items():
        for p in tied:
            found[t, p * stride + f] += diff[t, q * stride + f] / count[p]
    return found


def frames(patches, stride, ties=False):
    x = RNG.permutation(3 * patches * stride).reshape(3, -1).astype(np.float32)
    return np.floor(x / 12) if ties else x / 4


@pytest.mark.parametrize(("size", "step", "patches"), SIZES)
def test_outputs_and_gradients(size, step, patches):
    x = frames(patches, 2)
    layer = FrequencyMaxPooling(size, step, 2)
    expected, _ = by_loops(x, size, step, 2)
    np.testing.assert_array_equal(layer(x).numpy(), expected)
    check_true_gradient(layer, x)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("size", "step", "patches"), SIZES)
def test_nnet1s_gradient(size, step, patches, ties):
    x = frames(patches, 2, ties)
    layer = FrequencyMaxPooling(size, step, 2, kaldi_gradients=True)
    expected, winners = by_loops(x, size, step, 2)
    assert ties == any(len(tied) > 1 for tied in winners.values())
    np.testing.assert_array_equal(layer(x).numpy(), expected)
    diff = RNG.normal(size=expected.shape).astype(np.float32)
    expected = kaldi_gradient(x, diff, size, step, 2)
    np.testing.assert_allclose(gradient(layer, x, diff), expected, rtol=1e-6, atol=1e-6)


def test_without_ties_and_overlap_nnet1s_gradient_is_the_true_one():
    x = frames(6, 2)
    diff = RNG.normal(size=(3, 6)).astype(np.float32)
    found = [gradient(FrequencyMaxPooling(2, 2, 2, k), x, diff) for k in (True, False)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("kaldi_gradients", [False, True])
def test_owes_what_a_layer_owes(kaldi_gradients):
    def make():
        return FrequencyMaxPooling(3, 2, 2, kaldi_gradients)

    x = RNG.normal(size=(2, 3, 14)).astype(np.float32)
    check_layer(make, x, np.array([[True, True, False]] * 2))
    check_layer(make, x[0])


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="pool_stride is 0, below 1"):
        FrequencyMaxPooling(2, 2, 0)
    with pytest.raises(ValueError, match="the input is 7 wide, which is not 2 or more"):
        FrequencyMaxPooling(2, 2, 2)(np.zeros((1, 7), "float32"))
    with pytest.raises(ValueError, match="not 4 or more whole patches of 2"):
        FrequencyMaxPooling(4, 2, 2)(np.zeros((1, 6), "float32"))
