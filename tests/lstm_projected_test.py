"""LstmProjected against a plain loop over frames, and by hand."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import LstmProjected, add_shadow, source
from tests.check_layer import check_layer
from tests.recurrent_loops import Lstm, finite_differences, sigmoid

DIM = 3
WEIGHTS = "w_ifco_x w_ifco_r bias peephole_i_c peephole_f_c peephole_o_c w_r_m".split()
CLOSE = {"rtol": 1e-4, "atol": 1e-6}


def made(units=2, cells=4, **kwargs) -> LstmProjected:
    kwargs = {"param_range": 0.9, "seed": 1, "diff_clip": 0.0, **kwargs}
    layer = LstmProjected(units, cells, **kwargs)
    layer.build((None, None, DIM))
    return layer


def data(*shape, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def gradients(layer, x, grad, **kwargs):
    """Of sum(grad * outputs), by the inputs and by each weight."""
    x = tf.constant(x)
    weights = [getattr(layer, name).value for name in WEIGHTS]
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, **kwargs)
    found = tape.gradient(outputs, [x, *weights], tf.constant(grad))
    return [value.numpy() for value in found]


def test_two_frames_by_hand():
    layer = made(1, 1, param_range=0.0)
    layer.w_ifco_x.assign([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])
    layer.w_ifco_r.assign([[0], [0], [4], [0]])
    layer.peephole_i_c.assign([1.0])
    layer.peephole_o_c.assign([2.0])
    layer.w_r_m.assign([[3.0]])
    x = np.array([[[0.5, 7, 7], [0, 7, 7]]], "float32")
    c1 = 0.5 * np.tanh(0.5)
    r1 = 3 * sigmoid(2 * c1) * np.tanh(c1)
    c2 = 0.5 * c1 + sigmoid(c1) * np.tanh(4 * r1)
    r2 = 3 * sigmoid(2 * c2) * np.tanh(c2)
    np.testing.assert_allclose(layer(x)[0, :, 0], [r1, r2], rtol=1e-6)


# Up to 32 frames are written out, more are a loop in the graph.
@pytest.mark.parametrize("time", [1, 9, 40])
@pytest.mark.parametrize("cell_clip", [0.0, 0.4])
@pytest.mark.parametrize("masked", [False, True])
def test_the_loop_over_frames_puts_out_the_same(time, cell_clip, masked):
    layer = made(cell_clip=cell_clip)
    x = data(3, time, DIM)
    mask = data(3, time, seed=1) > -0.5 if masked else None
    outputs = layer(x, mask=mask).numpy()
    for n in range(3):
        expected, _ = Lstm.of(layer).run(x[n], None if mask is None else mask[n])
        np.testing.assert_allclose(outputs[n], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("time", [6, 34])
@pytest.mark.parametrize("cell_clip", [0.0, 0.4])
def test_the_gradient_is_the_true_one(time, cell_clip):
    layer = made(cell_clip=cell_clip)
    x, grad = data(2, time, DIM), data(2, time, 2, seed=1)
    mask = np.arange(time) != time // 2
    mask = np.stack([mask, np.arange(time) < time - 2])
    loop = Lstm.of(layer)
    x64 = x.astype(np.float64)

    def loss():
        return sum(
            (grad[n] * loop.run(x64[n], mask[n])[0]).sum() for n in range(len(x))
        )

    found = gradients(layer, x, grad, mask=mask)
    arrays = [
        x64,
        *(
            getattr(loop, name)
            for name in loop.__dataclass_fields__
            if name != "cell_clip"
        ),
    ]
    for name, ours, array in zip(["inputs", *WEIGHTS], found, arrays, strict=True):
        expected = finite_differences(loss, array)
        np.testing.assert_allclose(ours, expected, **CLOSE, err_msg=name)


@pytest.mark.parametrize(
    ("diff_clip", "cell_diff_clip", "cell_clip"),
    [(0.03, 0.0, 0.0), (0.0, 0.1, 0.0), (0.03, 0.1, 0.4), (0.0, 0.0, 0.4)],
)
def test_derivatives_are_clipped_as_in_nnet1(diff_clip, cell_diff_clip, cell_clip):
    layer = made(
        diff_clip=diff_clip,
        cell_diff_clip=cell_diff_clip,
        cell_clip=cell_clip,
        kaldi_gradients=True,
    )
    x, grad = data(2, 7, DIM), data(2, 7, 2, seed=1)
    found = gradients(layer, x, grad)
    plain = gradients(made(), x, grad)
    by_row = [
        Lstm.of(layer).nnet1_gradient(x[n], grad[n], diff_clip, cell_diff_clip)
        for n in range(2)
    ]
    first, second = by_row
    expected = [np.stack([first[0], second[0]])]
    expected += [a + b for a, b in zip(first[1:], second[1:], strict=True)]
    names = ["inputs", *WEIGHTS]
    for name, ours, theirs, free in zip(names, found, expected, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, **CLOSE, err_msg=name)
        # The limits do bite; the projection is reached through the recurrence alone.
        assert np.abs(ours - free).max() > 1e-3


def test_padding_puts_out_nothing_and_changes_nothing():
    layer = made()
    x, grad = data(2, 5, DIM), data(2, 5, 2, seed=1)
    mask = np.array([[True] * 5, [True] * 3 + [False] * 2])
    outputs = layer(x, mask=mask).numpy()
    assert (outputs[1, 3:] == 0).all()
    np.testing.assert_allclose(outputs[1, :3], layer(x[1:, :3])[0], rtol=1e-6)
    other = np.where(mask[..., np.newaxis], x, 99).astype(np.float32)
    np.testing.assert_array_equal(layer(other, mask=mask).numpy(), outputs)
    for ours, theirs in zip(
        gradients(layer, x, grad, mask=mask)[1:],
        gradients(layer, other, grad, mask=mask)[1:],
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("chunks", [[12, 28], [1] * 40, [5, 1, 33, 1], [39, 1]])
def test_chunks_with_a_carried_state_are_one_call(chunks):
    layer = made()
    x = data(2, 40, DIM)
    whole, last = layer.run(x, layer.zero_state(2))
    state = layer.zero_state(2)
    assert [part.shape[1] for part in state] == list(layer.state_sizes) == [2, 4]
    parts = []
    for part in np.split(x, np.cumsum(chunks)[:-1], axis=1):
        outputs, state = layer.run(part, state)
        parts.append(outputs.numpy())
    np.testing.assert_allclose(np.concatenate(parts, 1), whole, atol=1e-6)
    np.testing.assert_array_equal(whole.numpy(), layer(x).numpy())
    for ours, theirs in zip(state, last, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-6)


def test_a_state_takes_and_gives_no_gradient():
    layer = made()
    x = tf.constant(data(2, 5, DIM))
    state = tuple(tf.constant(data(2, n)) for n in layer.state_sizes)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, *state])
        outputs, left = layer.run(x, state)
    assert tape.gradient(outputs, state) == (None, None)
    assert tape.gradient(left, x) is None
    # The weights' gradient sees what came in.
    ours = tape.gradient(outputs, layer.w_ifco_r.value).numpy()
    d = finite_gradient_of_recurrent(layer, x.numpy(), state)
    np.testing.assert_allclose(ours, d, **CLOSE)


def finite_gradient_of_recurrent(layer, x, state):
    loop = Lstm.of(layer)
    r, c = (part.numpy().astype(np.float64) for part in state)

    def loss():
        return sum(
            loop.run(x[n].astype(np.float64), state=(r[n], c[n]))[0].sum()
            for n in range(2)
        )

    return finite_differences(loss, loop.recurrent)


def test_a_graph_is_traced_once_for_all_lengths():
    layer = made()
    traces = []

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, DIM]),
            tf.TensorSpec([None, None], tf.bool),
        ]
    )
    def graph(x, mask):
        traces.append(1)
        with tf.GradientTape() as tape:
            outputs = layer(x, mask=mask)
        return outputs, tape.gradient(outputs, layer.w_r_m.value)

    for batch, time in [(1, 1), (2, 7), (3, 40), (0, 3)]:
        x, mask = data(batch, time, DIM), np.ones([batch, time], bool)
        outputs, gradient = graph(x, mask)
        np.testing.assert_allclose(outputs, layer(x), rtol=1e-5, atol=1e-6)
        expected = gradients(layer, x, np.ones([batch, time, 2], "float32"))[-1]
        np.testing.assert_allclose(gradient, expected, **CLOSE)
    assert len(traces) == 1


def test_owes_what_a_layer_owes():
    mask = np.array([[True] * 5, [True, False, True, True, False]])
    for m in (None, mask):
        check_layer(
            lambda: LstmProjected(
                2, 4, 0.5, 3.0, 0.5, 0.3, 9.0, 0.5, 0.25, kaldi_gradients=True, seed=1
            ),
            data(2, 5, DIM),
            m,
            rtol=1e-5,
        )


def test_bfloat16_with_shadows_is_near_and_differentiable():
    layer, exact = made(8, 16), made(8, 16)
    layer.dtype_policy = keras.DTypePolicy("mixed_bfloat16")
    matrices = ["w_ifco_x", "w_ifco_r", "w_r_m"]
    for name in matrices:
        add_shadow(getattr(layer, name))
    x = data(2, 6, DIM)
    sources = [source(getattr(layer, name)) for name in WEIGHTS]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        outputs = layer(x)
    assert outputs.dtype == tf.bfloat16
    expected = exact(x).numpy()
    low = tf.cast(outputs, tf.float32).numpy()
    assert np.abs(low - expected).max() < 0.02 * np.abs(expected).max()
    found = tape.gradient(outputs, sources)
    for name, ours, theirs in zip(
        WEIGHTS,
        found,
        gradients(exact, x, np.ones([2, 6, 8], "float32"))[1:],
        strict=True,
    ):
        assert ours.dtype == (tf.bfloat16 if name in matrices else tf.float32)
        ours = tf.cast(ours, tf.float32).numpy()
        assert np.abs(ours - theirs).max() < 0.05 * np.abs(theirs).max(), name


def test_initial_weights_are_uniform_and_each_their_own():
    layer = LstmProjected(20, 50, seed=3)
    layer.build((None, None, 30))
    values = [getattr(layer, name).value.numpy() for name in WEIGHTS]
    for value in values:
        assert np.abs(value).max() <= 0.1
        assert np.abs(value).max() > 0.09
        assert abs(value.mean()) < 3 * 0.2 / np.sqrt(12 * value.size)
    firsts = [value.ravel()[0] for value in values]
    assert len(set(firsts)) == len(firsts)
    again = LstmProjected(20, 50, seed=3)
    again.build((None, None, 30))
    for name, value in zip(WEIGHTS, values, strict=True):
        np.testing.assert_array_equal(getattr(again, name).value.numpy(), value)


def test_rates_and_clips_reach_the_weights():
    layer = made(learn_rate_coef=0.5, bias_learn_rate_coef=0.25, grad_clip=7.0)
    rates = {w.name: w.learn_rate_coef for w in layer.weights}
    assert {n for n, rate in rates.items() if rate == 0.5} == {
        "w_ifco_x",
        "w_ifco_r",
        "w_r_m",
    }
    assert {rate for rate in rates.values()} == {0.5, 0.25}
    assert {w.grad_clip for w in layer.weights} == {7.0}
    frozen = made(learn_rate_coef=0.0)
    assert [w.name for w in frozen.trainable_variables] == WEIGHTS[2:6]


@pytest.mark.parametrize("option", ["units", "cell_dim"])
def test_no_size(option):
    with pytest.raises(ValueError, match=f"{option} must be at least 1, not 0"):
        LstmProjected(**{"units": 2, "cell_dim": 2, option: 0})


@pytest.mark.parametrize(
    "option", ["param_range", "cell_clip", "diff_clip", "cell_diff_clip", "grad_clip"]
)
def test_negative_limits(option):
    with pytest.raises(ValueError, match=f"{option} is -1, below 0"):
        LstmProjected(2, 2, **{option: -1})
