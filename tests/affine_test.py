import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import Affine, add_shadow, refresh_shadow
from tests.check_layer import check_layer

WEIGHTS = np.array([[1, 2], [0, 10], [-1, 0]], "float32")


def made(**kwargs) -> Affine:
    layer = Affine(3, seed=5, **kwargs)
    layer.build((None, 2))
    return layer


def values(layer) -> list[np.ndarray]:
    return [weight.value.numpy() for weight in layer.weights]


def set_by_hand() -> Affine:
    layer = made()
    layer.set_weights([WEIGHTS, np.array([0, 0, 0.5], "float32")])
    return layer


def test_frames_by_hand():
    # W [1, 2] = [1 + 4, 20, -1]
    outputs = set_by_hand()(np.array([[1, 2], [0, 0]], "float32")).numpy()
    assert outputs.tolist() == [[5, 20, -0.5], [0, 0, 0.5]]


def test_utterances_by_hand():
    inputs = np.array([[[1, 2], [0, 0]], [[0, 1], [1, 0]]], "float32")
    outputs = set_by_hand()(inputs).numpy()
    assert outputs.tolist() == [
        [[5, 20, -0.5], [0, 0, 0.5]],
        [[2, 10, 0.5], [1, 0, -0.5]],
    ]


@pytest.mark.parametrize("shape", [(5, 2), (2, 3, 2), (2, 1, 3, 2)])
def test_owes_what_a_layer_owes(shape):
    inputs = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    mask = None if len(shape) == 2 else np.arange(np.prod(shape[:-1])) % 2 == 0
    if mask is not None:
        mask = mask.reshape(shape[:-1])
    check_layer(
        lambda: Affine(4, 0.3, -1.0, 3.0, 0.5, 0.25, 7.0, seed=1),
        inputs,
        mask,
        rtol=1e-5,
    )


def test_the_initial_weights_are_normal():
    layer = Affine(200, param_stddev=0.3, seed=1)
    layer.build((None, 500))
    kernel = layer.linearity.value.numpy().astype(np.float64)
    n = kernel.size
    assert abs(kernel.mean()) < 3 * 0.3 / np.sqrt(n)
    # The variance of a sample of n has standard deviation sqrt(2 / n) s^2.
    assert abs(kernel.var() - 0.09) < 3 * np.sqrt(2 / n) * 0.09
    assert np.abs(kernel).max() > 0.9  # Not truncated at two sigmas.
    within = np.mean(np.abs(kernel) < 0.3)
    assert abs(within - 0.682689) < 3 * np.sqrt(0.6827 * 0.3173 / n)


def test_the_initial_bias_is_uniform():
    layer = Affine(100_000, bias_mean=-2.0, bias_range=4.0, seed=1)
    layer.build((None, 1))
    bias = layer.bias.value.numpy().astype(np.float64)
    assert -4 <= bias.min() < -3.99 and -0.01 < bias.max() <= 0
    stddev = 4 / np.sqrt(12)
    assert abs(bias.mean() + 2) < 3 * stddev / np.sqrt(bias.size)
    # Var of the sample variance of a uniform: (mu4 - s^4) / n, mu4 = range^4 / 80.
    spread = np.sqrt((4**4 / 80 - stddev**4) / bias.size)
    assert abs(bias.var() - stddev**2) < 3 * spread


def test_a_bias_without_range_is_constant():
    layer = Affine(50, bias_mean=-1.5, bias_range=0.0)
    layer.build((None, 3))
    assert layer.bias.value.numpy().tolist() == [-1.5] * 50


def test_defaults_are_those_of_nnet1():
    config = Affine(1).get_config()
    assert (config["param_stddev"], config["bias_mean"], config["bias_range"]) == (
        0.1,
        -2.0,
        2.0,
    )


def test_a_seed_gives_the_same_weights_again():
    first, same, other = made(), made(), Affine(3, seed=6)
    other.build((None, 2))
    for a, b, c in zip(*(values(x) for x in (first, same, other)), strict=True):
        np.testing.assert_array_equal(a, b)
        assert (a != c).all()
    drawn = Affine(3), Affine(3)
    for layer in drawn:
        layer.build((None, 2))
    assert (values(drawn[0])[0] != values(drawn[1])[0]).all()


def test_a_coefficient_of_0_freezes():
    layer = made(learn_rate_coef=0.0)
    assert [w.name for w in layer.trainable_variables] == ["bias"]
    layer = made(bias_learn_rate_coef=0.0)
    assert [w.name for w in layer.trainable_variables] == ["linearity"]


def test_no_retracing_and_static_shape_in_graphs():
    layer = made()

    @tf.function(reduce_retracing=True)
    def call(inputs):
        outputs = layer(inputs)
        assert outputs.shape[-1] == 3
        return outputs

    for time in (2, 5, 9):
        assert call(tf.zeros([2, time, 2])).shape == (2, time, 3)
    assert call.experimental_get_tracing_count() <= 2


def test_a_shadow_is_what_is_computed_with():
    layer = Affine(3, seed=5, dtype="mixed_bfloat16")
    layer.build((None, 2))
    layer.set_weights([WEIGHTS, np.zeros(3, "float32")])
    add_shadow(layer.linearity)
    inputs = np.array([[[1, 2], [0, 1]]], "float32")
    outputs = layer(inputs)
    assert outputs.dtype == tf.bfloat16
    assert outputs.numpy().tolist() == [[[5, 20, -1], [2, 10, 0]]]
    layer.linearity.assign(2 * WEIGHTS)
    assert layer(inputs).numpy().tolist() == outputs.numpy().tolist()
    refresh_shadow(layer.linearity)
    assert layer(inputs).numpy().tolist() == (2 * outputs).numpy().tolist()
    assert layer.linearity.dtype == "float32"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 0}, "units is 0, below 1"),
        ({"units": 1, "param_stddev": -0.1}, "param_stddev is -0.1, below 0"),
        ({"units": 1, "bias_range": -1.0}, "bias_range is -1.0, below 0"),
        ({"units": 1, "max_norm": -2.0}, "max_norm is -2.0, below 0"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        Affine(**options)


def test_in_a_model_of_keras():
    model = keras.Sequential([keras.Input((2,)), Affine(3), keras.layers.Dense(1)])
    assert model.count_params() == 2 * 3 + 3 + 3 + 1
