"""BlstmProjected against plain loops over frames from either end."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import BlstmProjected, LstmProjected
from tests.check_layer import check_layer
from tests.recurrent_loops import Lstm, finite_differences

DIM = 3
NAMES = "w_ifco_x w_ifco_r bias peephole_i_c peephole_f_c peephole_o_c w_r_m".split()
CLOSE = {"rtol": 1e-4, "atol": 1e-6}


def made(**kwargs) -> BlstmProjected:
    kwargs = {"param_range": 0.9, "seed": 1, "diff_clip": 0.0, **kwargs}
    layer = BlstmProjected(4, 3, **kwargs)
    layer.build((None, None, DIM))
    return layer


def data(*shape, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def both(layer, x) -> np.ndarray:
    """Outputs of one utterance by the loops."""
    forward, _ = Lstm.of(layer, "f_").run(x)
    backward, _ = Lstm.of(layer, "b_").run(x[::-1])
    return np.concatenate([forward, backward[::-1]], 1)


def gradients(layer, x, grad, **kwargs) -> dict[str, np.ndarray]:
    x = tf.constant(x)
    names = [prefix + name for prefix in ("f_", "b_") for name in NAMES]
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, **kwargs)
    sources = [x, *(getattr(layer, name).value for name in names)]
    found = tape.gradient(outputs, sources, tf.constant(grad))
    values = (value.numpy() for value in found)
    return dict(zip(["inputs", *names], values, strict=True))


@pytest.mark.parametrize("time", [1, 8, 40])
def test_the_loops_put_out_the_same(time):
    layer = made()
    x = data(2, time, DIM)
    for ours, utterance in zip(layer(x).numpy(), x, strict=True):
        np.testing.assert_allclose(ours, both(layer, utterance), rtol=1e-5, atol=1e-6)


def test_the_backward_direction_starts_at_the_last_real_frame():
    layer = made()
    x = data(3, 6, DIM)
    lengths = [6, 4, 0]
    mask = np.arange(6) < np.array(lengths)[:, np.newaxis]
    outputs = layer(x, mask=mask).numpy()
    for ours, utterance, length in zip(outputs, x, lengths, strict=True):
        assert (ours[length:] == 0).all()
        if length:
            np.testing.assert_allclose(
                ours[:length], both(layer, utterance[:length]), rtol=1e-5, atol=1e-6
            )


@pytest.mark.parametrize("masked", [False, True])
def test_the_gradient_is_the_true_one(masked):
    layer = made()
    x, grad = data(2, 6, DIM), data(2, 6, 4, seed=1)
    lengths = [6, 4] if masked else [6, 6]
    mask = np.arange(6) < np.array(lengths)[:, np.newaxis]
    loops = {"f_": Lstm.of(layer, "f_"), "b_": Lstm.of(layer, "b_")}
    x64 = x.astype(np.float64)

    def loss():
        total = 0.0
        for n, length in enumerate(lengths):
            real = x64[n, :length]
            forward, _ = loops["f_"].run(real)
            backward, _ = loops["b_"].run(real[::-1])
            outputs = np.concatenate([forward, backward[::-1]], 1)
            total += (grad[n, :length] * outputs).sum()
        return total

    found = gradients(layer, x, grad, **({"mask": mask} if masked else {}))
    fields = list(Lstm.__dataclass_fields__)[:-1]
    arrays = {"inputs": x64}
    for prefix, loop in loops.items():
        for name, field in zip(NAMES, fields, strict=True):
            arrays[prefix + name] = getattr(loop, field)
    for name, array in arrays.items():
        expected = finite_differences(loss, array)
        np.testing.assert_allclose(found[name], expected, **CLOSE, err_msg=name)


def test_nnet1s_gradient_takes_the_frame_before_for_the_frame_after():
    options = {"diff_clip": 0.2, "cell_diff_clip": 0.4}
    layer = made(kaldi_gradients=True, **options)
    x, grad = data(1, 7, DIM), data(1, 7, 4, seed=1)
    forward = Lstm.of(layer, "f_").nnet1_gradient(x[0], grad[0, :, :2], 0.2, 0.4)
    backward = Lstm.of(layer, "b_").nnet1_gradient(
        x[0, ::-1], grad[0, ::-1, 2:], 0.2, 0.4, late=True
    )
    expected = {"inputs": (forward[0] + backward[0][::-1])[np.newaxis]}
    for prefix, values in (("f_", forward), ("b_", backward)):
        for name, value in zip(NAMES, values[1:], strict=True):
            expected[prefix + name] = value
    found = gradients(layer, x, grad)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, **CLOSE, err_msg=name)
    # With padding it is the same, and the frame after the last is 0.
    padded = np.concatenate([x, 9 * np.ones_like(x[:, :2])], 1)
    mask = np.arange(9)[np.newaxis] < 7
    more = np.concatenate([grad, np.zeros_like(grad[:, :2])], 1)
    again = gradients(layer, padded, more, mask=mask)
    for name, value in expected.items():
        ours = again[name][:, :7] if name == "inputs" else again[name]
        np.testing.assert_allclose(ours, value, **CLOSE, err_msg=name)
    true = gradients(made(**options), x, grad)
    differing = {n for n in true if np.abs(true[n] - found[n]).max() > 1e-4}
    assert differing == {"inputs", *("b_" + name for name in NAMES)}


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
        return layer(x, mask=mask)

    for batch, time in [(1, 1), (2, 7), (1, 40)]:
        x = data(batch, time, DIM)
        outputs = graph(x, np.ones([batch, time], bool))
        np.testing.assert_allclose(outputs, layer(x), rtol=1e-5, atol=1e-6)
    assert len(traces) == 1


def test_owes_what_a_layer_owes():
    mask = np.array([[True] * 5, [True] * 3 + [False] * 2])
    for m in (None, mask):
        check_layer(
            lambda: BlstmProjected(
                4, 3, 0.5, 3.0, 0.5, 0.3, 9.0, 0.5, 0.25, kaldi_gradients=True, seed=1
            ),
            data(2, 5, DIM),
            m,
            rtol=1e-5,
        )


def test_forget_gates_start_open_and_directions_differ():
    layer = BlstmProjected(4, 200, seed=3)
    layer.build((None, None, DIM))
    for prefix in ("f_", "b_"):
        i, f, c, o = np.split(getattr(layer, prefix + "bias").value.numpy(), 4)
        for gate, centre in ((i, 0), (f, 1), (c, 0), (o, 0)):
            assert np.abs(gate - centre).max() <= 0.1 + 1e-6
            assert np.abs(gate - centre).max() > 0.09
    for name in NAMES:
        ours, other = getattr(layer, "f_" + name), getattr(layer, "b_" + name)
        assert (ours.value.numpy() != other.value.numpy()).all(), name


def test_an_lstm_has_no_open_forget_gates():
    layer = LstmProjected(4, 200, seed=3)
    layer.build((None, None, DIM))
    assert np.abs(layer.bias.value.numpy()).max() <= 0.1


def test_an_odd_width():
    with pytest.raises(ValueError, match="units must be even, not 3"):
        BlstmProjected(3, 2)
