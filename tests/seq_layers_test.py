"""SeqLSTM, SeqGRU and SeqRNN against loops over steps, with masks and states."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import Remember, SeqGRU, SeqLSTM, SeqRNN, SequenceStack
from tests.check_layer import check_layer
from tests.recurrent_loops import finite_differences, sigmoid

DIM = 3
KINDS = {
    "lstm": lambda **kwargs: SeqLSTM(2, **kwargs),
    "projected": lambda **kwargs: SeqLSTM(2, 4, **kwargs),
    "peepholes": lambda **kwargs: SeqLSTM(2, 4, peepholes=True, **kwargs),
    "gru": lambda **kwargs: SeqGRU(2, **kwargs),
    "rnn": lambda **kwargs: SeqRNN(2, **kwargs),
    "tanh": lambda **kwargs: SeqRNN(2, "tanh", **kwargs),
}
all_kinds = pytest.mark.parametrize("kind", KINDS)
both_modes = pytest.mark.parametrize("mode", ["reset", "carry"])


def made(kind, **kwargs):
    layer = KINDS[kind](uniform=0.9, seed=1, **kwargs)
    layer.build((None, None, DIM))
    return layer


def data(*shape, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def one_step(kind, weights, x, state):
    """The state after a step of one sequence, its output first."""
    h = state[0]
    if kind == "gru":
        of_x, of_h, bias = weights
        zx, rx, nx = np.split(of_x @ x + bias, 3)
        zh, rh, nh = np.split(of_h, 3)
        z, r = sigmoid(zx + zh @ h), sigmoid(rx + rh @ h)
        return (z * h + (1 - z) * np.tanh(nx + nh @ (r * h)),)
    if kind in ("rnn", "tanh"):
        of_x, of_h, bias = weights
        return ((np.tanh if kind == "tanh" else sigmoid)(of_x @ x + of_h @ h + bias),)
    of_x, of_h, bias, *others = weights
    c = state[1]
    i, f, g, o = np.split(of_x @ x + of_h @ h + bias, 4)
    if kind == "peepholes":
        i, f = i + others[0] * c, f + others[1] * c
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    if kind == "peepholes":
        o = o + others[2] * c
    h = sigmoid(o) * np.tanh(c)
    return (others[-1] @ h if others else h), c


def loop(kind, mode, weights, xs, states, mask):
    """Outputs (batch, time, units) and last states, by part (batch, n)."""
    outputs, last = [], []
    for n, x in enumerate(xs):
        state, row = tuple(part[n] for part in states), []
        for t, step in enumerate(x):
            after = one_step(kind, weights, step, state)
            row.append(after[0] * mask[n, t])
            if mask[n, t]:
                state = after
            elif mode == "reset":
                state = tuple(0 * part for part in after)
        outputs.append(row)
        last.append(state)
    return np.array(outputs), [np.array(part) for part in zip(*last, strict=True)]


# float64 goes back in time another way than float32; 35 steps are a loop in the graph.
@pytest.mark.parametrize(("dtype", "time"), [("float32", 6), ("float64", 35)])
@both_modes
@all_kinds
def test_a_loop_puts_out_the_same_and_has_the_same_gradient(kind, mode, dtype, time):
    layer = made(kind, mask_mode=mode, through_state=True, dtype=dtype)
    x = data(2, time, DIM).astype(np.float64)
    mask = np.ones([2, time], bool)
    mask[0, [0, 2]] = mask[1, -2:] = False
    states = [data(2, n, seed=5).astype(np.float64) for n in layer.state_sizes]
    weights = [w.value.numpy().astype(np.float64) for w in layer.weights]
    grad = data(2, time, 2, seed=1).astype(np.float64)
    last_grads = [data(2, n, seed=2).astype(np.float64) for n in layer.state_sizes]

    def total():
        outputs, last = loop(kind, mode, weights, x, states, mask)
        pairs = zip(last_grads, last, strict=True)
        return (grad * outputs).sum() + sum((g * part).sum() for g, part in pairs)

    given = [tf.constant(v, dtype) for v in (x, *states)]
    with tf.GradientTape() as tape:
        tape.watch(given)
        outputs, last = layer.run(given[0], given[1:], mask)
        loss = tf.reduce_sum(grad * tf.cast(outputs, "float64"))
        for g, part in zip(last_grads, last, strict=True):
            loss += tf.reduce_sum(g * tf.cast(part, "float64"))
    expected, expected_last = loop(kind, mode, weights, x, states, mask)
    np.testing.assert_allclose(outputs, expected, 1e-5, 1e-6)
    for ours, theirs in zip(last, expected_last, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-5, 1e-6)
    sources = [*given, *(w.value for w in layer.weights)]
    found = tape.gradient(loss, sources)
    for ours, array in zip(found, [x, *states, *weights], strict=True):
        expected = finite_differences(total, array)
        atol = 2e-6 * max(1, np.abs(expected).max())
        np.testing.assert_allclose(ours, expected, 1e-4, atol)


@all_kinds
def test_owes_what_a_layer_owes(kind):
    mask = np.array([[True] * 5, [True, False, True, True, False]])
    for m, mode in ((None, "reset"), (mask, "reset"), (mask, "carry")):
        check_layer(
            lambda mode=mode: KINDS[kind](mask_mode=mode, uniform=0.5, seed=1),
            data(2, 5, DIM),
            m,
            rtol=1e-5,
        )


def test_a_stack_owes_it_too():
    mask = np.array([[True] * 5, [True, False, True, True, False]])

    def make():
        stacked = [SeqLSTM(3, 4, uniform=0.5, seed=1), SeqGRU(2, uniform=0.5, seed=2)]
        return SequenceStack(stacked, dropout=0.3, seed=1)

    check_layer(make, data(2, 5, DIM), mask, rtol=1e-5)


# Keras has none with a projection or peepholes.
@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn", "tanh"])
def test_gates_and_weights_are_keras_own(kind):
    layer = made(kind)
    theirs = {
        "lstm": lambda: keras.layers.LSTM(2, return_sequences=True),
        "gru": lambda: keras.layers.GRU(2, return_sequences=True, reset_after=False),
        "rnn": lambda: keras.layers.SimpleRNN(2, "sigmoid", return_sequences=True),
        "tanh": lambda: keras.layers.SimpleRNN(2, "tanh", return_sequences=True),
    }[kind]()
    x = data(2, 6, DIM)
    theirs.build(x.shape)
    values = [w.value.numpy() for w in layer.weights]
    theirs.set_weights([values[0].T, values[1].T, values[2]])
    np.testing.assert_allclose(layer(x), theirs(x), 1e-5, 1e-6)


# What users of Torch's rnn stumbled over.
@all_kinds
def test_a_step_of_zeros_is_a_step(kind):
    layer = made(kind)
    x = data(1, 4, DIM)
    x[0, 1] = 0
    plain = layer(x).numpy()
    assert plain[0, 1].all()
    np.testing.assert_array_equal(layer(x, mask=np.ones([1, 4], bool)), plain)


@all_kinds
def test_padding_loses_the_last_state_only_where_it_resets(kind):
    x = data(1, 5, DIM)
    mask = np.array([[True, True, True, False, False]])
    for mode in ("reset", "carry"):
        layer = made(kind, mask_mode=mode)
        zeros = layer.zero_state(1)
        outputs, padded = layer.run(x, zeros, mask)
        short, last = layer.run(x[:, :3], zeros)
        np.testing.assert_allclose(outputs[:, :3], short, rtol=1e-6)
        assert not outputs[:, 3:].numpy().any()
        for ours, theirs in zip(padded, last, strict=True):
            expected = theirs if mode == "carry" else np.zeros_like(theirs)
            np.testing.assert_allclose(ours, expected, rtol=1e-6)


@both_modes
@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16", "float64"])
@all_kinds
def test_what_is_masked_need_not_be_finite(kind, dtype, mode):
    layer = made(kind, mask_mode=mode, dtype=dtype)
    x = data(2, 5, DIM)
    mask = np.array([[True, True, False, True, True], [False, True, True, True, False]])
    spoilt = np.where(mask[..., None], x, np.nan)
    expected = layer(np.where(mask[..., None], x, 0), mask=mask)
    np.testing.assert_array_equal(layer(spoilt, mask=mask), expected)
    weights = [weight.value for weight in layer.trainable_weights]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.cast(layer(spoilt, mask=mask), tf.float32))
    for gradient in tape.gradient(loss, weights):
        assert np.isfinite(tf.cast(gradient, tf.float32)).all()


@both_modes
@all_kinds
def test_chunks_are_one_call_and_time_may_come_first(kind, mode):
    layer = made(kind, mask_mode=mode)
    first = made(kind, mask_mode=mode, time_major=True)
    x, mask = data(2, 40, DIM), data(2, 40, seed=1) > -1
    whole, last = layer.run(x, layer.zero_state(2), mask)
    turned, _ = first.run(x.swapaxes(0, 1), first.zero_state(2), mask.T)
    np.testing.assert_allclose(turned.numpy().swapaxes(0, 1), whole, atol=1e-6)
    remembered = Remember(layer, "both")
    parts = [
        remembered(x[:, a:b], mask[:, a:b], training=True)
        for a, b in ((0, 5), (5, 6), (6, 40))
    ]
    np.testing.assert_allclose(np.concatenate(parts, 1), whole, atol=1e-6)
    for ours, theirs in zip(remembered.state, last, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


@all_kinds
def test_states_are_cut_from_the_gradient(kind):
    layer = made(kind)
    x = tf.constant(data(2, 4, DIM))
    state = tuple(tf.constant(data(2, n)) for n in layer.state_sizes)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, *state])
        outputs, after = layer.run(x, state)
    assert all(g is None for g in tape.gradient(outputs, state))
    assert tape.gradient(after, x) is None


@all_kinds
def test_bfloat16_is_near_and_differentiable(kind):
    exact, low = (made(kind, dtype=d) for d in ("float32", "mixed_bfloat16"))
    x = tf.constant(data(4, 6, DIM))
    found = []
    for layer in (exact, low):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.cast(layer(x), tf.float32))
        found.append(tape.gradient(total, [w.value for w in layer.weights]))
    for ours, theirs in zip(*found, strict=True):
        assert ours.dtype == theirs.dtype == tf.float32
        assert np.abs(ours - theirs).max() < 0.05 * np.abs(ours).max()


def test_one_trace_serves_all_lengths():
    layer, traces = made("lstm"), []

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
        return outputs, tape.gradient(outputs, layer.w_ifco_h.value)

    for batch, time in [(1, 1), (2, 7), (3, 40), (0, 3)]:
        x, mask = data(batch, time, DIM), np.ones([batch, time], bool)
        outputs, gradient = graph(x, mask)
        assert np.isfinite(gradient).all()
        np.testing.assert_allclose(outputs, layer(x), rtol=1e-5, atol=1e-6)
    assert len(traces) == 1


def test_initial_weights_are_torchs():
    layer = SeqLSTM(40, 50, seed=3)
    layer.build((None, None, 60))
    assert layer.w_ifco_x.value.numpy().std() == pytest.approx(0.1, rel=0.05)
    bias = layer.bias.value.numpy()
    np.testing.assert_array_equal(bias, np.repeat([0, 1, 0, 0], 50))
    uniform = SeqGRU(20, uniform=0.1, seed=3)
    uniform.build((None, None, 30))
    for weight in uniform.weights:
        assert 0.08 < np.abs(weight.value.numpy()).max() <= 0.1


def test_dropout_acts_on_outputs_in_training_only():
    stack = SequenceStack([SeqRNN(50, uniform=0.5, seed=1)], dropout=0.5, seed=1)
    x = data(4, 5, DIM)
    stack.build(x.shape)
    outputs, after = stack.run(x, stack.zero_state(4))
    dropped, same = stack.run(x, stack.zero_state(4), training=True)
    kept = dropped.numpy() != 0
    assert kept.mean() == pytest.approx(0.5, abs=0.05)
    np.testing.assert_allclose(dropped.numpy()[kept], 2 * outputs.numpy()[kept], 1e-6)
    np.testing.assert_array_equal(after[0][0], same[0][0])
    assert not SequenceStack([SeqRNN(2)]).drops


@pytest.mark.parametrize("mode", ["both", "train", "eval", "neither"])
def test_remember_modes(mode):
    layer = made("lstm")
    x = data(2, 3, DIM)
    fresh = layer(x).numpy()
    remembered = Remember(layer, mode)
    for training in (True, False):
        goes_on = mode in ("both", "train" if training else "eval")
        # Going over to evaluation forgets.
        np.testing.assert_array_equal(remembered(x, training=training), fresh)
        again = remembered(x, training=training).numpy()
        assert (again != fresh).any() == goes_on
    remembered.forget()
    np.testing.assert_array_equal(remembered(x), fresh)
    if mode == "both":
        with pytest.raises(ValueError, match="3 sequences came.* of 2; give as many"):
            remembered(data(3, 3, DIM))


def test_what_is_refused():
    with pytest.raises(ValueError, match="units must be at least 1, not 0"):
        SeqLSTM(0)
    with pytest.raises(ValueError, match="cell_dim must be at least 1, not 0"):
        SeqLSTM(1, 0)
    with pytest.raises(ValueError, match="'keep'; one of reset, carry is taken"):
        SeqGRU(1, mask_mode="keep")
    with pytest.raises(ValueError, match="uniform is -1, below 0"):
        SeqGRU(1, uniform=-1)
    with pytest.raises(ValueError, match="'cube'; one of sigmoid, tanh, relu"):
        SeqRNN(1, "cube")
    with pytest.raises(ValueError, match="'all'; one of both, train, eval, neither"):
        Remember(SeqRNN(1), "all")
    with pytest.raises(ValueError, match="at least one layer"):
        SequenceStack([])
    with pytest.raises(ValueError, match="all the same time_major"):
        SequenceStack([SeqRNN(1), SeqRNN(1, time_major=True)])
    with pytest.raises(ValueError, match=r"dropout is 1; it is taken in \[0, 1\)"):
        SequenceStack([SeqRNN(1)], dropout=1)
