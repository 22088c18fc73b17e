"""NCE and the sampled softmax against their formulas, written out."""

import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers

_COUNTS = np.array([1, 40, 5, 9, 20, 25])
_PN = _COUNTS / 100


def _filled(layer, dim, seed=0):
    layer.build((None, None, dim))
    rng = np.random.default_rng(seed)
    layer.linearity.assign(rng.normal(size=(layer.words, dim)))
    layer.bias.assign(rng.normal(size=layer.words))
    return layer


def _noise_of(noise, share, b, t):
    return {
        "step": lambda: noise[t],
        "row": lambda: noise[b, t],
        "batch": lambda: noise,
    }[share]()


def _nce_loop(nce, hidden, targets, noise):
    """Position by position, word by word."""
    w, c = nce.linearity.value.numpy(), nce.bias.value.numpy()
    z, eps, losses = float(nce.z.value), nce.eps, np.zeros(targets.shape)
    for b, t in np.ndindex(*targets.shape):
        h, own = hidden[b, t], targets[b, t]

        def prob(word, h=h):
            return math.exp(w[word] @ h + c[word]) / z

        expected = nce.k * _PN
        loss = -math.log(prob(own) / (prob(own) + expected[own] + eps))
        for word in _noise_of(noise, nce.share, b, t):
            if not (nce.drop_hits and word == own):
                loss -= math.log(expected[word] / (prob(word) + expected[word] + eps))
        losses[b, t] = loss
    return losses


def _softmax_loop(layer, hidden, targets, noise):
    w, c = layer.linearity.value.numpy(), layer.bias.value.numpy()
    losses = np.zeros(targets.shape)
    for b, t in np.ndindex(*targets.shape):
        h, own = hidden[b, t], targets[b, t]
        drawn = _noise_of(noise, layer.share, b, t)
        kept = [x for x in drawn if not (layer.drop_hits and x == own)]
        scores = [w[x] @ h + c[x] - math.log(layer.k * _PN[x]) for x in [own, *kept]]
        losses[b, t] = math.log(sum(map(math.exp, scores))) - scores[0]
    return losses


_SHAPES = {"step": (4, 5), "row": (3, 4, 5), "batch": (5,)}


@pytest.mark.parametrize("drop_hits", [False, True])
@pytest.mark.parametrize("share", _SHAPES)
@pytest.mark.parametrize("kind", ["nce", "nce_z", "nce_eps", "softmax"])
def test_losses_and_gradients_equal_the_loop(kind, share, drop_hits):
    options = dict(share=share, drop_hits=drop_hits, dtype="float64")
    if kind == "softmax":
        layer, loop = layers.SampledSoftmax(6, 5, _COUNTS, **options), _softmax_loop
    else:
        options |= {"nce_z": dict(z=2.5), "nce_eps": dict(eps=1e-7)}.get(kind, {})
        layer, loop = layers.NCE(6, 5, _COUNTS, **options), _nce_loop
    _filled(layer, 3)
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(3, 4, 3))
    targets = rng.integers(0, 6, (3, 4))
    noise = rng.integers(0, 6, _SHAPES[share])
    upstream = rng.normal(size=(3, 4))
    inputs = tf.constant(hidden)
    variables = [layer.linearity.value, layer.bias.value]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        losses = layer((inputs, tf.constant(targets)), noise=noise)
        total = tf.reduce_sum(losses * upstream)
    np.testing.assert_allclose(losses, loop(layer, hidden, targets, noise), 1e-6)

    to_hidden, *to_weights = tape.gradient(total, [inputs, *variables])
    assert all(isinstance(g, tf.IndexedSlices) for g in to_weights)
    moves = [rng.normal(size=v.shape) for v in (inputs, *variables)]

    def at(step):
        for weight, move in zip((layer.linearity, layer.bias), moves[1:], strict=True):
            weight.assign_add(step * move)
        value = (loop(layer, hidden + step * moves[0], targets, noise) * upstream).sum()
        for weight, move in zip((layer.linearity, layer.bias), moves[1:], strict=True):
            weight.assign_add(-step * move)
        return value

    slope = (at(1e-5) - at(-1e-5)) / 2e-5
    found = sum(
        (tf.convert_to_tensor(g).numpy() * move).sum()
        for g, move in zip((to_hidden, *to_weights), moves, strict=True)
    )
    # dpnn's gradient with eps is off the true one by about eps.
    np.testing.assert_allclose(found, slope, 1e-5)


def test_the_loss_of_known_probabilities():
    # P of the target .3, of noise .1 and .6; Pn of the target .2, of noise .5 and .2.
    nce = layers.NCE(4, 2, [2, 5, 2, 1], share="batch")
    nce.build((None, 1))
    nce.linearity.assign(np.zeros((4, 1)))
    nce.bias.assign(np.log([0.3, 0.1, 0.6, 1.0]))
    loss = nce((tf.zeros((1, 1)), tf.constant([0])), noise=tf.constant([1, 2]))
    # -ln(.3/.7) - ln(1/1.1) - ln(.4/1).
    np.testing.assert_allclose(loss, [1.858899], 1e-6)


@pytest.mark.parametrize("hits", [False, True])
def test_it_equals_tensorflows_where_that_keeps_accidental_hits(hits):
    nce = _filled(layers.NCE(6, 4, _COUNTS, share="batch", drop_hits=hits), 3)
    hidden = np.random.default_rng(2).normal(size=(5, 3)).astype("float32")
    # TensorFlow leaves out one hit for a target, so let no noise come twice.
    targets, noise = np.array([0, 1, 1, 4, 5]), np.array([1, 4, 3, 2])
    expected = tf.nn.nce_loss(
        nce.linearity.value,
        nce.bias.value,
        targets[:, None],
        hidden,
        4,
        6,
        sampled_values=(
            noise.astype("int64"),
            np.float32(4 * _PN[targets])[:, None],
            np.float32(4 * _PN[noise]),
        ),
        remove_accidental_hits=hits,
    )
    found = nce((hidden, tf.constant(targets)), noise=tf.constant(noise))
    np.testing.assert_allclose(found, expected, 1e-5)


def test_time_major_is_the_same_turned():
    nce = _filled(layers.NCE(6, 5, _COUNTS), 3)
    turned = layers.NCE.from_config({**nce.get_config(), "time_major": True})
    turned.build((None, None, 3))
    for weight, value in zip(turned.weights, nce.weights, strict=True):
        weight.assign(value)
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(3, 4, 3)).astype("float32")
    targets, noise = rng.integers(0, 6, (3, 4)), rng.integers(0, 6, (4, 5))
    one = nce((hidden, tf.constant(targets)), noise=noise)
    other = turned((hidden.swapaxes(0, 1), tf.constant(targets.T)), noise=noise)
    np.testing.assert_allclose(one, tf.transpose(other), 1e-6)


def test_new_noise_for_each_step_and_call_and_the_same_for_the_same_seed():
    nce, again = (_filled(layers.NCE(5000, 8, seed=3), 2) for _ in range(2))
    first, second = (nce.draw([4, 2]).numpy() for _ in range(2))
    assert len(set(first.ravel())) > 28 and first.shape == (4, 8)
    assert (first != second).any()
    np.testing.assert_array_equal(again.draw([4, 2]), first)


def test_masked_positions_count_for_nothing_and_need_no_word():
    nce = _filled(layers.NCE(6, 5, _COUNTS), 3)
    rng = np.random.default_rng(1)
    hidden = tf.constant(rng.normal(size=(2, 3, 3)).astype("float32"))
    mask = tf.constant([[True, False, True], [True, True, False]])
    targets = tf.constant([[0, -1, 2], [1, 0, 99]])  # Id 0 is a word.
    noise = tf.constant(rng.integers(0, 6, (3, 5)))
    with tf.GradientTape() as tape:
        tape.watch(hidden)
        losses = nce((hidden, targets, mask), noise=noise)
    gradient = tape.gradient(losses, hidden).numpy()
    assert (losses.numpy() > 0).tolist() == mask.numpy().tolist()
    assert (np.abs(gradient).sum(-1) > 0).tolist() == mask.numpy().tolist()
    loss = losses.numpy()
    steps = [loss[:, 0].mean(), loss[1, 1], loss[0, 2]]
    np.testing.assert_allclose(layers.sum_of_step_means(losses, mask), sum(steps), 1e-6)


def test_a_keras_mask_of_hidden_is_taken():
    words = keras.Input((None,), dtype="int32")
    targets = keras.Input((None,), dtype="int32")
    hidden = keras.layers.Embedding(7, 4, mask_zero=True)(words)
    losses = layers.NCE(6, 5, _COUNTS)((hidden, targets))
    model = keras.Model((words, targets), losses)
    found = model((np.array([[3, 0, 1]]), np.array([[0, 0, 0]]))).numpy()
    assert (found > 0).tolist() == [[True, False, True]]
    model.compile(layers.RowSGD(0.1), loss=layers.given_losses)
    one = model.evaluate(
        (np.array([[3]]), np.array([[0]])), np.zeros((1, 1)), verbose=0
    )
    assert np.isfinite(one)


def test_z_is_estimated_once_and_saved(tmp_path):
    nce = _filled(layers.NCE(6, 5, _COUNTS, z=-1), 3)
    hidden = np.random.default_rng(5).normal(size=(3, 4, 3)).astype("float32")
    targets = tf.zeros((3, 4), tf.int32)
    noise = np.random.default_rng(6).integers(0, 6, (4, 5))
    assert nce.z.value == 0
    nce((hidden, targets), noise=noise)
    w, c = nce.linearity.value.numpy(), nce.bias.value.numpy()
    scores = hidden[:, 0] @ w[noise[0]].T + c[noise[0]]
    expected = 6 * np.exp(scores).mean()
    np.testing.assert_allclose(nce.z.value, expected, 1e-6)
    nce((2 * hidden, targets), noise=noise)
    np.testing.assert_allclose(nce.z.value, expected, 1e-6)
    model = keras.Sequential([keras.Input((None, 3)), nce])
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras").layers[-1]
    np.testing.assert_array_equal(again.z.value, nce.z.value)


def test_all_words_start_with_probability_1_together():
    nce = layers.NCE(793_471, 1)
    nce.build((None, 2))
    np.testing.assert_allclose(nce.bias.value[:3], -13.584172, 1e-6)
    np.testing.assert_allclose(tf.reduce_sum(tf.exp(nce.bias.value)), 1, 1e-3)
    assert np.abs(nce.linearity.value).max() <= 1 / math.sqrt(2)


def test_only_rows_of_targets_and_noise_have_a_gradient():
    nce = _filled(layers.NCE(40, 3), 3)
    noise = tf.constant([[7, 9, 7]])
    with tf.GradientTape() as tape:
        losses = nce((tf.ones((2, 3)), tf.constant([1, 30])), noise=noise)
    gradient = tape.gradient(losses, nce.linearity.value)
    rows = np.flatnonzero(np.abs(tf.convert_to_tensor(gradient)).sum(1))
    assert rows.tolist() == [1, 7, 9, 30]
    assert gradient.values.shape[0] == 4


@pytest.mark.parametrize("k", [1, 5, 9])
def test_perplexity_of_equal_scores_is_the_number_of_words(k):
    nce = layers.NCE(10, k, normalized=True)
    nce.build((None, 2))
    nce.linearity.assign(np.zeros((10, 2)))
    loss = tf.reduce_mean(nce((tf.ones((4, 2)), tf.constant([0, 3, 5, 9]))))
    np.testing.assert_allclose(tf.exp(loss), 10.0, 1e-5)


def test_perplexity_is_the_exp_of_the_mean():
    # -log p of the first target is 1, of the second 3.
    layer = layers.FullSoftmax(2)
    model = keras.Sequential([keras.Input((2,)), layer])
    p = np.exp([-1.0, -3.0])
    layer.linearity.assign(np.log([p, 1 - p]))
    layer.bias.assign([0, 0])
    hidden, targets = keras.Input((2,)), keras.Input((), dtype="int32")
    model = keras.Model((hidden, targets), layer((hidden, targets)))
    model.compile(loss=layers.given_losses)
    loss = model.evaluate((np.eye(2), np.zeros(2, "int32")), np.zeros(2), verbose=0)
    np.testing.assert_allclose(np.exp(loss), 7.389056, 1e-5)


def test_2200000_words_stay_finite():
    nce = layers.NCE(2_200_000, 20, np.r_[np.zeros(9), np.ones(2_199_991)], eps=1e-7)
    exact = layers.NCE(2_200_000, 20)
    for layer in (nce, exact):
        layer.build((None, 2))
        hidden = tf.constant([[3e3, -1.0], [0, 0], [-3e3, 1]]) / (
            100 if layer.eps else 1
        )
        with tf.GradientTape() as tape:
            tape.watch(hidden)
            losses = layer((hidden, tf.constant([0, 5, 2_199_999])))
        assert np.isfinite(losses).all()
        assert np.isfinite(tape.gradient(losses, hidden)).all()
        assert np.isfinite(layer.log_probs(hidden, tf.constant([1, 2, 3]))).all()


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("make", [layers.NCE, layers.SampledSoftmax])
def test_half_precision_computes_with_weights_and_losses_in_single(make, half):
    whole = _filled(make(6, 5, _COUNTS), 3)
    mixed = _filled(make(6, 5, _COUNTS, dtype=f"mixed_{half}"), 3)
    hidden = np.random.default_rng(5).normal(size=(3, 4, 3)).astype("float32")
    noise = np.random.default_rng(6).integers(0, 6, (4, 5))
    targets = tf.ones((3, 4), tf.int32)
    one, other = (x((hidden, targets), noise=noise) for x in (whole, mixed))
    assert other.dtype == "float32" and mixed.linearity.dtype == "float32"
    np.testing.assert_allclose(other, one, 0.03, 0.03)


def test_a_model_is_saved_and_trained_on(tmp_path):
    inputs = keras.Input((None, 3)), keras.Input((None,), dtype="int32")
    model = keras.Model(inputs, layers.NCE(6, 5, _COUNTS, normalized=True)(inputs))
    assert model.output.shape == (None, None)
    model.compile(layers.RowSGD(0.5, cutoff=5.0), loss=layers.given_losses)
    hidden = np.random.default_rng(5).normal(size=(8, 4, 3)).astype("float32")
    x = hidden, hidden.argmax(-1).astype("int32")
    before = model.evaluate(x, x[1], verbose=0)
    model.fit(x, x[1], epochs=20, batch_size=4, verbose=0)
    after = model.evaluate(x, x[1], verbose=0)
    assert after < 0.8 * before
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(again.evaluate(x, x[1], verbose=0), after, 1e-5)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(k=0), "k must be at least 1, not 0"),
        (dict(share="all"), "share is 'all'; one of step, row, batch"),
        (dict(eps=-1.0), "eps is -1.0, below 0"),
        (dict(words=0), "words must be at least 1"),
        (dict(budget=0), "budget must be at least 1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        layers.NCE(**{"words": 6, **options})


@pytest.mark.parametrize(
    "targets, message",
    [
        (tf.zeros((2, 3)), "targets are float32; word ids"),
        (tf.zeros((2,), tf.int32), r"hidden has shape \(2, 3, 4\)"),
    ],
)
def test_bad_inputs(targets, message):
    with pytest.raises(ValueError, match=message):
        layers.NCE(6)((tf.zeros((2, 3, 4)), targets))
