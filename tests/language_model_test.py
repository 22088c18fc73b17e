"""`language/lstm` and `language/rnn`: what they compute, and how they are made.

`goldens/seqzoo/language_*.npz` hold the names of all that is kept of the models below,
and the losses with weights that rise from -1 to 1, so that a renamed or reordered
weight fails here. They were made once by

    python -c 'from tests import language_model_test as t; t.write_goldens()'
"""

import dataclasses
import math
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.zoo import registry
from seqzoo.zoo.language import trained_model
from seqzoo.zoo.language.language_model import LanguageModel
from tests.recurrent_loops import sigmoid
from tests.small_language_models import build, vocabulary

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "seqzoo"
WORDS = 9
INPUTS = np.array([[0, 3, 7, 1, 0, 4, 4], [5, 0, 0, 9, 2, 8, 6]])
TARGETS = np.array([[0, 7, 1, 6, 0, 4, 9], [1, 0, 0, 2, 8, 6, 3]])
KINDS = {
    "lstm": ("language/lstm", {}),
    "projected": ("language/lstm", {"projsize": 6}),
    "peepholes": ("language/lstm", {"peepholes": True}),
    "inputsize": ("language/lstm", {"inputsize": 3, "output": "full_softmax"}),
    "sigmoid": ("language/rnn", {}),
    "tanh": ("language/rnn", {"activation": "tanh", "output": "sampled_softmax"}),
    "relu": ("language/rnn", {"activation": "relu"}),
    "gru": ("language/rnn", {"cell": "gru"}),
}
FUNCTIONS = {"sigmoid": sigmoid, "tanh": np.tanh, "relu": lambda x: np.maximum(x, 0)}


def lstm_step(weights, x, state):
    """Without peepholes and projection, the equations (3) to (8) of the blog."""
    h, c = state
    of_x, of_h, bias = (weights[name] for name in ("w_ifco_x", "w_ifco_h", "bias"))
    i, f, g, o = np.split(of_x @ x + of_h @ h + bias, 4)
    peepholes = "peephole_i_c" in weights
    if peepholes:
        i, f = i + weights["peephole_i_c"] * c, f + weights["peephole_f_c"] * c
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    if peepholes:
        o = o + weights["peephole_o_c"] * c
    h = sigmoid(o) * np.tanh(c)
    return (weights["w_h_m"] @ h if "w_h_m" in weights else h), c


def gru_step(weights, x, state):
    zx, rx, nx = np.split(weights["w_zrn_x"] @ x + weights["bias"], 3)
    zh, rh, nh = np.split(weights["w_zrn_h"], 3)
    z, r = sigmoid(zx + zh @ state[0]), sigmoid(rx + rh @ state[0])
    return (z * state[0] + (1 - z) * np.tanh(nx + nh @ (r * state[0])),)


def rnn_step(function, weights, x, state):
    """The equation (1) of the blog."""
    return (function(weights["w_x"] @ x + weights["w_h"] @ state[0] + weights["bias"]),)


def loop(model, config, words):
    """All words' probabilities after each of one sequence, word by word."""
    named = {n: np.float64(w.value) for n, w in model.named_weights().items()}
    stack = []
    for layer in model.recurrent.layers:
        start = f"{layer.name}/"
        own = {
            n.removeprefix(start): w for n, w in named.items() if n.startswith(start)
        }
        stack.append((own, [np.zeros(n) for n in layer.state_sizes]))
    outputs = []
    for word in words:
        x, after = named["embedding/embeddings"][word], []
        for weights, state in stack:
            if isinstance(model.recurrent.layers[0], layers.SeqLSTM):
                found = lstm_step(weights, x, state)
            elif config.cell == "gru":
                found = gru_step(weights, x, state)
            else:
                found = rnn_step(FUNCTIONS[config.activation], weights, x, state)
            if word == 0:
                found = tuple(0 * part for part in found)
            after.append((weights, found))
            x = found[0]
        stack = after
        scores = np.exp(named["output/linearity"] @ x + named["output/bias"])
        outputs.append(scores / scores.sum())
    return np.array(outputs)


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_over_words_gives_the_same(kind):
    name, settings = KINDS[kind]
    model, config = build(WORDS, name, 0.7, **settings)
    losses = model({"words": INPUTS, "targets": TARGETS})["losses"].numpy()
    for row, target, found in zip(INPUTS, TARGETS, losses, strict=True):
        probs = loop(model, config, row)
        expected = -np.log(probs[np.arange(len(row)), target - 1])
        np.testing.assert_allclose(found, np.where(target, expected, 0), 1e-5)
        words = tf.constant(row)[:, tf.newaxis]
        last, _ = model.next_log_probs(words, model.zero_state(1))
        np.testing.assert_allclose(np.exp(last[0]), probs[-1], 1e-5)
        np.testing.assert_allclose(np.exp(last).sum(), 1, 1e-5)


GOLDEN_MODELS = {
    "language_lstm": lambda: build(WORDS, projsize=6, dropout=0.1),
    "language_rnn": lambda: build(WORDS, "language/rnn"),
}


def golden(name):
    model, _ = GOLDEN_MODELS[name]()
    size = sum(weight.value.shape.num_elements() for weight in model.trainable_weights)
    ramp = np.linspace(-1, 1, size, dtype=np.float32)
    for weight in model.trainable_weights:
        count = weight.value.shape.num_elements()
        weight.assign(ramp[:count].reshape(weight.shape))
        ramp = ramp[count:]
    losses = model({"words": INPUTS, "targets": TARGETS})["losses"].numpy()
    return {"names": np.array(list(model.named_weights())), "losses": losses}


def write_goldens():
    for name in GOLDEN_MODELS:
        np.savez(GOLDENS / f"{name}.npz", **golden(name))


@pytest.mark.parametrize("name", GOLDEN_MODELS)
def test_golden_seqzoo_language(name):
    found = golden(name)
    with np.load(GOLDENS / f"{name}.npz") as kept:
        assert found["names"].tolist() == kept["names"].tolist()
        np.testing.assert_allclose(found["losses"], kept["losses"], rtol=1e-5)


def test_a_separator_empties_the_state_of_its_column():
    model, _ = build(WORDS)
    words = np.array([[3, 3], [5, 0]])
    hidden, state = model.run(words, model.zero_state(2))
    for layer in state:
        for part in layer:
            assert part[0].numpy().all() and not part[1].numpy().any()
    assert hidden[1, 0].numpy().all() and not hidden[1, 1].numpy().any()


def test_a_long_text_goes_on_from_chunk_to_chunk():
    """Of 205 words in chunks of 50, as of documents; gradients stay in their chunk."""
    model, _ = build(WORDS)
    random = np.random.default_rng(1)
    words = random.integers(1, WORDS + 1, (205, 2))
    targets = np.concatenate([words[1:], 0 * words[:1]])
    whole, _ = model.log_probs(words, targets, model.zero_state(2))
    state, parts = model.zero_state(2), []
    for at in range(0, len(words), 50):
        chunk = slice(at, at + 50)
        found, state = model.log_probs(words[chunk], targets[chunk], state)
        parts.append(found)
    np.testing.assert_allclose(np.concatenate(parts), whole, 1e-4, 1e-5)
    first = words[:50]
    with tf.GradientTape() as tape:
        _, state = model.run(first, model.zero_state(2))
        losses, _ = model.word_losses(words[50:100], targets[50:100], state)
        loss = tf.reduce_sum(losses)
    table = model.embedding.embeddings.value
    gradient = tf.convert_to_tensor(tape.gradient(loss, table)).numpy()
    seen = np.isin(np.arange(WORDS + 1), words[50:100])
    assert gradient[seen].any(1).all() and not gradient[~seen].any()


@pytest.mark.parametrize("rownoise", [False, True])
def test_training_compares_with_noise_and_evaluation_does_not(rownoise):
    model, config = build(WORDS, k=4, rownoise=rownoise)
    words, targets = INPUTS.T, TARGETS.T
    random = np.random.default_rng(2)
    shape = (*words.shape, 4) if rownoise else (len(words), 4)
    noise = random.integers(1, WORDS + 1, shape)
    counts = np.arange(1, WORDS + 1)
    model.set_counts(counts)
    state = model.zero_state(2)
    found, _ = model.word_losses(words, targets, state, noise=noise)
    hidden, _ = model.run(words, state)
    weights = {n: np.float64(w.value) for n, w in model.named_weights().items()}
    for (t, b), target in np.ndenumerate(targets):
        if target == 0:
            assert found[t, b] == 0
            continue
        ids = np.append(target, noise[t, b] if rownoise else noise[t]) - 1
        h = np.float64(hidden[t, b])
        p = np.exp(weights["output/linearity"][ids] @ h + weights["output/bias"][ids])
        kp = 4 * counts[ids] / counts.sum()
        loss = -np.log(p[0] / (p[0] + kp[0])) - np.log(kp[1:] / (p + kp)[1:]).sum()
        np.testing.assert_allclose(found[t, b], loss, 1e-5)
    drawn = model.output_layer.draw(tf.constant(words.shape))
    assert drawn.shape == shape
    assert registry.config("language/lstm", ["rownoise=true"]).rownoise


def test_losses_in_training_are_those_of_noise_and_those_outside_are_exact():
    model, _ = build(WORDS)
    batch = {"words": INPUTS, "targets": TARGETS}
    first, second = (model(batch, training=True)["losses"] for _ in range(2))
    assert np.abs(first - second).max() > 0.01  # New noise.
    first, second = (model(batch)["losses"] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_z_is_estimated_in_the_first_step_and_kept(tmp_path):
    model, config = build(WORDS, Z=-1.0, k=6)
    words, targets = INPUTS.T + 1, TARGETS.T + 1
    words, targets = np.minimum(words, WORDS), np.minimum(targets, WORDS)
    noise = np.random.default_rng(3).integers(1, WORDS + 1, (len(words), 6))
    state = model.zero_state(2)
    model.word_losses(words, targets, state, noise=noise)
    hidden, _ = model.run(words, state)
    rows, bias = model.output_layer.linearity.value, model.output_layer.bias.value
    scores = (
        hidden[0].numpy() @ rows.numpy()[noise[0] - 1].T + bias.numpy()[noise[0] - 1]
    )
    expected = WORDS * np.exp(scores).mean()
    np.testing.assert_allclose(model.output_layer.z.value, expected, 1e-5)
    model.word_losses(words, targets, state, noise=noise[::-1])
    np.testing.assert_allclose(model.output_layer.z.value, expected, 1e-5)
    path = str(tmp_path / "run")
    trained_model.write(path, "language/lstm", config, model, vocabulary(WORDS), {})
    again = trained_model.read(path).model.output_layer.z.value
    np.testing.assert_allclose(again, expected, 1e-5)


def test_initial_weights_are_uniform_but_for_the_output_layer():
    config = registry.config("language/lstm", ["words=50", "hiddensize={4,3}"])
    model = registry.build("language/lstm", config)
    for name, weight in model.named_weights().items():
        values = weight.value.numpy()
        if name.startswith(("lstm", "embedding")):
            assert np.abs(values).max() <= 0.1 and np.abs(values).max() > 0.08, name
    reach = 1 / math.sqrt(3)
    rows = model.output_layer.linearity.value.numpy()
    assert 0.1 < 0.8 * reach < np.abs(rows).max() <= reach
    np.testing.assert_allclose(model.output_layer.bias.value, -math.log(50), 1e-6)


def test_widths_are_read_as_torch_writes_them():
    for text in ("{250,250}", "250,250"):
        config = registry.config("language/lstm", [f"hiddensize={text}", "words=3"])
        assert config.hiddensize == (250, 250)
        model = registry.build("language/lstm", dataclasses.replace(config, words=3))
        assert [layer.units for layer in model.recurrent.layers] == [250, 250]


def test_dropout_is_behind_the_embedding_and_each_lstm_or_nowhere():
    model, _ = build(WORDS)
    assert model.drop is None and model.recurrent.drops == []
    assert not any(isinstance(part, keras.layers.Dropout) for part in model.layers)
    model, _ = build(WORDS, dropout=0.2)
    drops = [model.drop, *model.recurrent.drops]
    assert [drop.rate for drop in drops] == [0.2] * 3
    state = model.zero_state(2)
    for training, different in ((True, True), (False, False)):
        first, second = (model.run(INPUTS.T, state, training)[0] for _ in range(2))
        assert (np.abs(first - second).max() > 0) == different


def test_the_order_of_the_layers():
    """LookupTable, LSTMs, then NCE, as the script puts them."""
    model, _ = build(WORDS)
    lines: list[str] = []
    model.summary(print_fn=lambda text, **_: lines.append(text))
    text = "\n".join(lines)
    places = [text.index(name) for name in ("embedding", "recurrent", "output")]
    assert places == sorted(places)
    names = [name.partition("/")[0] for name in model.named_weights()]
    order = ["embedding", "lstm_1", "lstm_2", "output", "seed"]
    assert list(dict.fromkeys(names)) == order


def test_a_saved_model_is_the_same(tmp_path):
    model, _ = build(WORDS, projsize=3, dropout=0.1)
    batch = {"words": INPUTS, "targets": TARGETS}
    expected = model(batch)["losses"]
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(again, LanguageModel) and again.words == WORDS
    np.testing.assert_array_equal(again(batch)["losses"], expected)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"words": -1}, "words is -1; 0 or more is taken"),
        ({"hiddensize": ()}, "hiddensize is \\(\\); a width of 1 or more"),
        ({"inputsize": 0}, "inputsize is 0; -1 or more than 0"),
        ({"dropout": 1.0}, "dropout is 1.0; it is taken in"),
        ({"k": 0}, "k is 0; 1 or more"),
        ({"eps": -1.0}, "eps is -1.0; 0 or more"),
        ({"projsize": 0}, "projsize is 0; -1 or more than 0"),
    ],
)
def test_settings_out_of_range(settings, message):
    config = registry.config("language/lstm")
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(config, **settings)
    with pytest.raises(ValueError, match="words is 0; give the size of the vocab"):
        registry.build("language/lstm", config)


def test_noise_is_drawn_by_a_power_of_the_counts():
    counts = np.array([1, 16, 0, 81, 1, 1, 1, 1, 1])
    for power in (1.0, 0.75, 0.0):
        settings = [f"words={WORDS}", "hiddensize=4", f"noise_power={power}"]
        _, model = registry.make("language/lstm", settings)
        model.set_counts(counts)
        shares = counts.astype(float) ** power
        found = model.output_layer.sampler.probs.value
        np.testing.assert_allclose(found, shares / shares.sum(), 1e-6)
        again = LanguageModel.from_config(model.get_config())
        assert again.noise_power == power
    with pytest.raises(ValueError, match="noise_power is 2"):
        registry.make("language/lstm", ["words=9", "noise_power=2"])


def test_biases_start_at_the_words_shares():
    settings = [f"words={WORDS}", "hiddensize=4", "output=full_softmax"]
    _, model = registry.make("language/lstm", settings)
    counts = np.array([3, 1, 0, 4, 1, 5, 9, 2, 6])
    model.start_biases(counts)
    model.output_layer.linearity.assign(np.zeros((WORDS, 4)))
    zero = model.zero_state(1)
    logs, _ = model.next_log_probs(tf.constant([[1]]), zero)
    expected = np.maximum(counts, 0.5) / 31.5
    np.testing.assert_allclose(np.exp(logs)[0], expected, 1e-6)
