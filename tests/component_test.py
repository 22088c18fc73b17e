import keras
import numpy as np
import pytest

from seqzoo.layers import Component, KaldiSGD, UpdatableComponent
from tests.check_layer import check_layer


@keras.saving.register_keras_serializable(package="seqzoo_tests")
class Doubled(Component):
    """Twice the input."""

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        return 2 * inputs


@keras.saving.register_keras_serializable(package="seqzoo_tests")
class Scaled(UpdatableComponent):
    """The input times one learnt number."""

    def build(self, input_shape):
        self.factor = self.add_parameter(
            "factor",
            (1, 1),
            "ones",
            learn_rate_coef=0.5,
            penalty_coef=2.0,
            max_norm=9.0,
        )

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        return inputs * self.factor


@pytest.mark.parametrize(("kind", "factor"), [(Doubled, 2), (Scaled, 1)])
def test_new_components_owe_what_a_layer_owes(kind, factor):
    inputs = np.array([[[1, 2], [3, 4]]], "float32")
    mask = np.array([[True, False]])
    check_layer(kind, inputs, mask, expected=factor * inputs)
    check_layer(kind, inputs[0])


def test_the_two_kinds():
    assert Doubled().weights == []
    assert isinstance(Scaled(), Component)
    layer = Scaled()
    layer.build((None, 2))
    assert list(layer.parameters()) == ["factor"]
    assert layer.parameters()["factor"] is layer.factor


def test_parameters_carry_their_options():
    layer = Scaled()
    layer.build((None, 2))
    factor = layer.factor
    assert (factor.learn_rate_coef, factor.penalty_coef) == (0.5, 2.0)
    assert (factor.momentum, factor.max_norm, factor.trainable) == (True, 9.0, True)

    plain = UpdatableComponent()
    weight = plain.add_parameter("plain", (2,), "zeros")
    assert (weight.learn_rate_coef, weight.penalty_coef) == (1.0, 0.0)
    assert (weight.momentum, weight.max_norm) == (True, 0.0)
    assert not plain.add_parameter("fixed", (2,), "zeros", learn_rate_coef=0).trainable


def test_the_optimizer_obeys_them():
    layer = Scaled()
    layer.build((None, 2))
    optimizer = KaldiSGD(0.1, l2_penalty=0.25, minibatch_size=2)
    optimizer.apply([np.ones((1, 1), "float32")], [layer.factor])
    # 1 - 0.1 * 2 * 0.25 * 2 * 1 = 0.9, less 0.1 * 0.5 * 1.
    np.testing.assert_allclose(layer.factor.value.numpy(), [[0.85]], rtol=1e-6)
