import keras
import numpy as np
import pytest

from seqzoo.layers import Affine, Copy, HiddenSoftmax, MultiBasis
from tests.check_gradient import check_true_gradient
from tests.check_layer import check_layer

RNG = np.random.default_rng(0)
# Two bases: the column as it is, and a constant of 10; posteriors are given.
X = np.array([[[3, 0.5, 0.25], [5, 1, 0.5], [7, 0, 1]]], "float32")


def made() -> MultiBasis:
    constant = Affine(1, param_stddev=0.0, bias_mean=10.0, bias_range=0.0)
    return MultiBasis([[Copy([0, 1])], [Copy([0])], [constant]], 2)


def learnt(**kwargs) -> MultiBasis:
    selector = [Affine(2, bias_mean=0.0, seed=1), HiddenSoftmax()]
    bases = [[Affine(4, seed=i), keras.layers.Activation("tanh")] for i in (2, 3)]
    return MultiBasis([selector, *bases], 3, **kwargs)


def test_bases_are_mixed_by_hand():
    assert made()(X).numpy().tolist() == [[[4], [10], [10]]]
    assert made()(X[0]).numpy().tolist() == [[4], [10], [10]]


def test_a_basis_of_little_occupancy_is_left_out():
    x = X.copy()
    x[0, :, 2] = [0.05, 0.04, 0.5]
    mask = np.array([[True, True, False]])
    assert made()(x, mask=mask).numpy()[0, :2].tolist() == [[1.5], [5]]
    np.testing.assert_allclose(made()(x).numpy(), [[[2], [5.4], [5]]], rtol=1e-6)


def test_each_utterance_has_its_own_occupancy():
    x = np.concatenate([X, X])
    x[0, :, 2] = 0.01
    assert made()(x).numpy().tolist() == [[[1.5], [5], [0]], [[4], [10], [10]]]


@pytest.mark.parametrize("shape", [(2, 3, 8), (4, 8)])
def test_owes_what_a_layer_owes(shape):
    mask = None if len(shape) == 2 else np.array([[True, True, False]] * 2)
    x = RNG.normal(size=shape).astype(np.float32)
    check_layer(lambda: learnt(selector_learn_rate_coef=0.5), x, mask, rtol=1e-5)


def test_the_gradient_is_the_true_one():
    check_true_gradient(learnt(), RNG.normal(size=(1, 3, 8)).astype(np.float32))


def test_the_selectors_learn_rates_are_scaled():
    layer = learnt(selector_learn_rate_coef=0.25)
    layer.build((None, 8))
    coefs = [[w.learn_rate_coef for w in net[0].weights] for net in layer.nets]
    assert coefs == [[0.25, 0.25], [1, 1], [1, 1]]
    again = MultiBasis.from_config(layer.get_config())
    again.build((None, 8))
    assert [w.learn_rate_coef for w in again.nets[0][0].weights] == [0.25, 0.25]


def test_networks_that_do_not_fit():
    with pytest.raises(ValueError, match="a selector and at least a basis"):
        MultiBasis([[Copy([0])]], 1)
    with pytest.raises(ValueError, match=r"has 1 outputs and the bases are \[1, 1\]"):
        MultiBasis([[Copy([0])], [Copy([0])], [Copy([0])]], 1).build((None, 3))
    with pytest.raises(ValueError, match=r"the bases are \[1, 2\] wide"):
        MultiBasis([[Copy([0, 0])], [Copy([0])], [Copy([0, 0])]], 1).build((None, 3))
