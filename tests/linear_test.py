import numpy as np
import pytest

from seqzoo.layers import Linear
from tests.check_layer import check_layer


def test_by_hand():
    layer = Linear(2)
    layer.build((None, 3))
    layer.set_weights([np.array([[1, 0, 10], [0, 1, 20]], "float32")])
    inputs = np.array([[1, 2, 3]], "float32")
    assert layer(inputs).numpy().tolist() == [[31, 62]]
    assert layer(inputs[np.newaxis]).numpy().tolist() == [[[31, 62]]]


@pytest.mark.parametrize("shape", [(5, 2), (2, 3, 2)])
def test_owes_what_a_layer_owes(shape):
    inputs = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    mask = np.ones((2, 3), bool) if len(shape) == 3 else None
    check_layer(lambda: Linear(4, 0.3, 0.5, seed=1), inputs, mask, rtol=1e-5)


def test_the_initial_weights_are_normal_and_seeded():
    layers = [Linear(200, param_stddev=0.3, seed=seed) for seed in (1, 1, 2)]
    for layer in layers:
        layer.build((None, 500))
    first, same, other = (layer.linearity.value.numpy() for layer in layers)
    assert abs(first.mean()) < 3 * 0.3 / np.sqrt(first.size)
    assert abs(first.var() - 0.09) < 3 * np.sqrt(2 / first.size) * 0.09
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_a_coefficient_of_0_freezes():
    layer = Linear(2, learn_rate_coef=0.0)
    layer.build((None, 2))
    assert layer.trainable_variables == []


def test_options_out_of_range():
    with pytest.raises(ValueError, match="units is 0, below 1"):
        Linear(0)
    with pytest.raises(ValueError, match="param_stddev is -1, below 0"):
        Linear(1, param_stddev=-1)
