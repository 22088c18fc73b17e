"""Recurrent against a plain loop over frames."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import Recurrent
from tests import recurrent_loops
from tests.check_layer import check_layer

DIM = 3
WEIGHTS = ["w_forward", "w_recurrent", "bias"]
CLOSE = {"rtol": 1e-4, "atol": 1e-6}


def made(**kwargs) -> Recurrent:
    layer = Recurrent(4, **{"param_range": 0.7, "seed": 1, "diff_clip": 0.0, **kwargs})
    layer.build((None, None, DIM))
    return layer


def arrays(layer) -> list[np.ndarray]:
    weights = (getattr(layer, name).value.numpy() for name in WEIGHTS)
    return [weight.astype(np.float64) for weight in weights]


def data(*shape, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def gradients(layer, x, grad, **kwargs):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, **kwargs)
    sources = [x, *(getattr(layer, name).value for name in WEIGHTS)]
    return [v.numpy() for v in tape.gradient(outputs, sources, tf.constant(grad))]


def test_two_frames_by_hand():
    layer = Recurrent(1, param_range=0.0)
    layer.build((None, None, 1))
    layer.set_weights([np.array([[2.0]]), np.array([[0.5]]), np.array([-1.0])])
    y1 = np.tanh(2 * 3 - 1)
    y2 = np.tanh(2 * 0.5 + 0.5 * y1 - 1)
    outputs = layer(np.array([[[3.0], [0.5]]], "float32"))
    np.testing.assert_allclose(outputs[0, :, 0], [y1, y2], rtol=1e-6)


@pytest.mark.parametrize("time", [1, 9, 40])
@pytest.mark.parametrize("masked", [False, True])
def test_the_loop_over_frames_puts_out_the_same(time, masked):
    layer = made()
    x = data(3, time, DIM)
    mask = data(3, time, seed=1) > -0.5 if masked else None
    outputs = layer(x, mask=mask).numpy()
    for n in range(3):
        expected = recurrent_loops.recurrent(
            x[n], *arrays(layer), None if mask is None else mask[n]
        )
        np.testing.assert_allclose(outputs[n], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("time", [1, 6, 34])
def test_the_gradient_is_the_true_one(time):
    layer = made()
    x, grad = data(2, time, DIM), data(2, time, 4, seed=1)
    mask = np.stack([np.arange(time) != time // 2, np.arange(time) < time - 1])
    x64, weights = x.astype(np.float64), arrays(layer)

    def loss():
        return sum(
            (grad[n] * recurrent_loops.recurrent(x64[n], *weights, mask[n])).sum()
            for n in range(2)
        )

    found = gradients(layer, x, grad, mask=mask)
    for ours, array in zip(found, [x64, *weights], strict=True):
        expected = recurrent_loops.finite_differences(loss, array)
        np.testing.assert_allclose(ours, expected, **CLOSE)


@pytest.mark.parametrize("time", [1, 7, 34])
def test_derivatives_are_clipped_once_the_later_frame_has_added_to_them(time):
    layer = made(diff_clip=0.6)
    x, grad = data(1, time, DIM), data(1, time, 4, seed=1)
    grad[0, -1] = 1.0  # Beyond the limit, and not clipped: it is the last.
    expected = recurrent_loops.recurrent_gradient(x[0], grad[0], *arrays(layer), 0.6)
    found = gradients(layer, x, grad)
    np.testing.assert_allclose(found[0][0], expected[0], **CLOSE)
    for ours, theirs in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_allclose(ours, theirs, **CLOSE)
    if time > 1:
        assert np.abs(found[1] - gradients(made(), x, grad)[1]).max() > 1e-2


@pytest.mark.parametrize("chunks", [[12, 28], [1] * 40, [5, 1, 33, 1]])
def test_chunks_with_a_carried_state_are_one_call(chunks):
    layer = made()
    x = data(2, 40, DIM)
    state = layer.zero_state(2)
    assert [part.shape[1] for part in state] == list(layer.state_sizes) == [4]
    parts = []
    for part in np.split(x, np.cumsum(chunks)[:-1], axis=1):
        outputs, state = layer.run(part, state)
        parts.append(outputs.numpy())
    whole = layer(x).numpy()
    np.testing.assert_allclose(np.concatenate(parts, 1), whole, atol=1e-6)
    np.testing.assert_allclose(state[0].numpy(), whole[:, -1], atol=1e-6)


def test_a_state_takes_and_gives_no_gradient():
    layer = made()
    x, state = tf.constant(data(2, 5, DIM)), tf.constant(data(2, 4))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, state])
        outputs, left = layer.run(x, (state,))
    assert tape.gradient(outputs, state) is None
    assert tape.gradient(left, x) is None


def test_a_graph_is_traced_once_for_all_lengths():
    layer = made()
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None, None, DIM])])
    def graph(x):
        traces.append(1)
        return layer(x)

    for batch, time in [(1, 1), (2, 7), (3, 40)]:
        x = data(batch, time, DIM)
        np.testing.assert_allclose(graph(x), layer(x), rtol=1e-5, atol=1e-6)
    assert len(traces) == 1


def test_owes_what_a_layer_owes():
    mask = np.array([[True] * 5, [True, False, True, True, False]])
    for m in (None, mask):
        check_layer(
            lambda: Recurrent(4, 0.5, 0.7, 9.0, 0.5, 0.25, seed=1),
            data(2, 5, DIM),
            m,
            rtol=1e-5,
        )


def test_initial_weights_and_their_rates():
    layer = Recurrent(30, learn_rate_coef=0.5, bias_learn_rate_coef=0.25, seed=1)
    layer.build((None, None, 20))
    for name, rate in zip(WEIGHTS, (0.5, 0.5, 0.25), strict=True):
        weight = getattr(layer, name)
        assert weight.learn_rate_coef == rate
        assert 0.015 < np.abs(weight.value.numpy()).max() <= 0.02
        # Written to files, never applied.
        assert weight.grad_clip == 0


def test_bad_arguments():
    with pytest.raises(ValueError, match="units must be at least 1, not 0"):
        Recurrent(0)
    with pytest.raises(ValueError, match="diff_clip is -1, below 0"):
        Recurrent(2, diff_clip=-1)
