import numpy as np
import pytest

from seqzoo.layers import FrequencyConvolution
from tests.check_gradient import check_true_gradient, weight_gradients
from tests.check_layer import check_layer

RNG = np.random.default_rng(0)


def random(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def by_loops(x, filters, bias, patch_dim, patch_step, patch_stride):
    """`(frames, dim)` by the formula, a number at a time."""
    splices = x.shape[1] // patch_stride
    patches = 1 + (patch_stride - patch_dim) // patch_step
    y = np.zeros((len(x), patches * len(filters)))
    for t in range(len(x)):
        for p in range(patches):
            for f in range(len(filters)):
                total = float(bias[f])
                for s in range(splices):
                    for d in range(patch_dim):
                        column = s * patch_stride + p * patch_step + d
                        total += float(filters[f, s * patch_dim + d]) * x[t, column]
                y[t, p * len(filters) + f] = total
    return y


def made(filters=2, dim=3, step=1, stride=5, **kwargs):
    return FrequencyConvolution(filters, dim, step, stride, seed=1, **kwargs)


def test_a_frame_by_hand():
    layer = FrequencyConvolution(2, 2, 1, 3)
    layer.build((None, 6))
    layer.filters.assign([[1, 0, 10, 0], [0, 1, 0, 0]])
    layer.bias.assign([0, 100])
    # Frames (1, 2, 3) and (4, 5, 6): patches (1, 2, 4, 5) and (2, 3, 5, 6).
    found = layer(np.array([[1, 2, 3, 4, 5, 6]], "float32")).numpy()
    assert found.tolist() == [[41, 102, 52, 103]]


@pytest.mark.parametrize(
    ("dim", "step", "stride", "splices"),
    [(3, 1, 5, 2), (2, 2, 6, 3), (4, 4, 4, 1), (3, 2, 6, 2), (1, 1, 4, 2)],
)
def test_patches_of_all_kinds(dim, step, stride, splices):
    layer = made(3, dim, step, stride)
    x = random(4, splices * stride)
    found = layer(x).numpy()
    filters, bias = (w.value.numpy() for w in layer.weights)
    expected = by_loops(x, filters, bias, dim, step, stride)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(5, 10), (2, 3, 10)])
def test_owes_what_a_layer_owes(shape):
    mask = None if len(shape) == 2 else np.array([[True, True, False]] * 2)
    check_layer(lambda: made(max_norm=2.0), random(*shape), mask, rtol=1e-5)


def test_the_gradients_are_the_true_ones():
    layer, x = made(), random(3, 10)
    check_true_gradient(layer, x)
    diff = random(3, 6)
    filters, bias = weight_gradients(layer, x, diff)
    expected = np.zeros((2, 6))
    for t, p in np.ndindex(3, 3):
        patch = x[t].reshape(2, 5)[:, p : p + 3].ravel()
        expected += np.outer(diff[t].reshape(3, 2)[p], patch)
    np.testing.assert_allclose(filters, expected, rtol=1e-5, atol=1e-5)
    expected = diff.reshape(9, 2).sum(axis=0)
    np.testing.assert_allclose(bias, expected, rtol=1e-5, atol=1e-6)


def test_update_options():
    layer = made(learn_rate_coef=0.5, bias_learn_rate_coef=2.0, max_norm=3.0)
    layer.build((None, 10))
    filters, bias = layer.weights
    assert (filters.learn_rate_coef, bias.learn_rate_coef) == (0.5, 2.0)
    assert (filters.max_norm, bias.max_norm) == (3.0, 0.0)
    for weight in layer.weights:
        assert (weight.momentum, weight.penalty_coef) == (False, 0.0)


def test_initial_values():
    layer = FrequencyConvolution(
        500, 10, 1, 20, param_stddev=0.3, bias_mean=1.0, bias_range=0.5, seed=1
    )
    layer.build((None, 40))
    filters, bias = (w.value.numpy().astype(np.float64) for w in layer.weights)
    assert abs(filters.std() - 0.3) < 0.01 and abs(filters.mean()) < 0.01
    assert 0.75 <= bias.min() < 0.76 and 1.24 < bias.max() <= 1.25


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="patch_step is 0, below 1"):
        FrequencyConvolution(2, 3, 0, 5)
    with pytest.raises(ValueError, match="patch_dim 6 is more than the 5 frequencies"):
        FrequencyConvolution(2, 6, 1, 5)
    with pytest.raises(ValueError, match="max_norm is -1, below 0"):
        FrequencyConvolution(2, 3, 1, 5, max_norm=-1)
    with pytest.raises(ValueError, match="the input is 11 wide, which is not whole"):
        made()(random(2, 11))
