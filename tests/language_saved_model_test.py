"""SavedModels of language models: names, values, padding, bytes, what is refused."""

import json
import os
import pathlib
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.export import language_saved_model, language_signatures, saved_model
from seqzoo.export.language_signatures import LanguageSignatures
from tests import saved_model_page, small_language_models
from tests.language_loops import Loop

# A word that is no UTF-8, one that is, and one with a blank that is not ASCII.
WORDS = ["the", "cat", "\udcff\udc80x", "café", "a\u00a0b", "<UNK>", "<S>", "</S>"]
UNKNOWN, START, END = 6, 7, 8
SENTENCES = [[1, 2, 3, 5], [], [4, 6]]
LENGTHS = [4, 0, 2]
TEXT = [b"the cat \xff\x80x a\xc2\xa0b", b"", b" caf\xc3\xa9\t dog\r\n"]


@pytest.fixture(scope="module")
def model():
    return small_language_models.build(len(WORDS))[0]


@pytest.fixture(scope="module")
def loop(model):
    return Loop(model)


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("models") / "lm")
    return language_saved_model.export(model, WORDS, directory, notes={"model": "x"})


@pytest.fixture(scope="module")
def signatures(exported):
    return tf.saved_model.load(exported).signatures


def ask(signature, **inputs):
    specs = signature.structured_input_signature[1]
    given = {k: tf.constant(v, specs[k].dtype) for k, v in inputs.items()}
    return {name: value.numpy() for name, value in signature(**given).items()}


def padded(padding, sentences=SENTENCES, time=4):
    return [[*ids, *[padding] * (time - len(ids))] for ids in sentences]


def log_probs(loop, ids):
    """Of a sentence's words and its end, each after those before."""
    after, _ = loop.run([START, *ids])
    return [row[word - 1] for row, word in zip(after, [*ids, END], strict=True)]


def check_scores(found, loop, sentences=SENTENCES):
    for row, ids in enumerate(sentences):
        expected = log_probs(loop, ids)
        actual = found["log_probs"][row]
        np.testing.assert_allclose(actual[: len(expected)], expected, rtol=1e-5)
        assert not actual[len(expected) :].any()
        total = found["sentence_log_probs"][row]
        np.testing.assert_allclose(total, sum(expected), rtol=1e-5)
        assert found["word_counts"][row] == len(expected)


@pytest.mark.parametrize("padding", [0, 1, START, 10**6, -5])
@pytest.mark.parametrize("name", ["score", "serving_default"])
def test_score_whatever_stands_in_the_padding(signatures, loop, name, padding):
    found = ask(signatures[name], words=padded(padding), lengths=LENGTHS)
    assert found["log_probs"].shape == (3, 5)
    check_scores(found, loop)


def test_a_sentence_by_itself_scores_as_in_a_batch(signatures, loop):
    for ids in SENTENCES:
        words = np.reshape(ids, (1, -1))
        found = ask(signatures["score"], words=words, lengths=[len(ids)])
        check_scores(found, loop, [ids])


def test_score_of_text(signatures, loop):
    found = ask(signatures["score_text"], text=TEXT)
    check_scores(found, loop)
    assert found["tokens"].tolist() == [
        [b"the", b"cat", b"\xff\x80x", b"a\xc2\xa0b", b"</S>"],
        [b"</S>", b"", b"", b"", b""],
        [b"caf\xc3\xa9", b"<UNK>", b"</S>", b"", b""],
    ]


def test_nothing_to_score(signatures):
    found = ask(signatures["score"], words=np.zeros((0, 3)), lengths=[])
    assert found["log_probs"].shape == (0, 4) and found["word_counts"].shape == (0,)
    assert ask(signatures["score_text"], text=[])["tokens"].shape == (0, 1)


def check_best(found, loop, sentences, n):
    for row, ids in enumerate(sentences):
        after = loop.run([START, *ids])[0][-1]
        order = np.argsort(-after)[:n]
        assert (found["ids"][row] == order + 1).all()
        np.testing.assert_allclose(found["log_probs"][row], after[order], rtol=1e-5)
        words = [WORDS[i].encode("utf-8", "surrogateescape") for i in order]
        assert found["tokens"][row].tolist() == words


@pytest.mark.parametrize("padding", [0, 1, 10**6])
def test_next_word(signatures, loop, padding):
    words = padded(padding)
    found = ask(signatures["next_word"], words=words, lengths=LENGTHS, n=3)
    check_best(found, loop, SENTENCES, 3)


def test_next_word_of_text(signatures, loop):
    check_best(ask(signatures["next_word_text"], text=TEXT, n=2), loop, SENTENCES, 2)


def test_no_more_words_than_there_are(signatures, loop):
    found = ask(signatures["next_word_text"], text=TEXT, n=100)
    assert found["ids"].shape == (3, len(WORDS))
    check_best(found, loop, SENTENCES, 100)


def test_a_number_of_words_in_each_row(signatures, loop):
    """As a server has it that joins requests."""
    found = ask(signatures["next_word_text"], text=TEXT, n=[1, 3, 2])
    check_best(found, loop, SENTENCES, 3)
    assert ask(signatures["next_word_text"], text=[], n=[])["ids"].shape == (0, 1)


def zero_state(signature, batch):
    specs = signature.structured_input_signature[1]
    return {
        name: np.zeros((batch, spec.shape[1]), np.float32)
        for name, spec in specs.items()
        if name.startswith("state_")
    }


@pytest.mark.parametrize("name", ["step", "step_log_probs"])
def test_words_one_by_one(signatures, loop, name):
    """Two streams, of which one begins anew after two words."""
    step = signatures[name]
    state = zero_state(step, 2)
    more = {"n": 4} if name == "step" else {}
    streams = [START, 1, 2], [START, 4, 0]
    for time in range(3):
        found = ask(step, words=[s[time] for s in streams], **state, **more)
        state = {key: found[key] for key in state}
        after, expected = loop.run(streams[0][: time + 1])
        for layer, parts in expected.items():
            for part, values in zip("hc", parts, strict=True):
                got = state[f"state_{layer}_{part}"][0]
                np.testing.assert_allclose(got, values, rtol=1e-5, atol=1e-7)
        if name == "step_log_probs":
            np.testing.assert_allclose(found["log_probs"][0], after[-1], rtol=1e-5)
    if name == "step":
        check_best(found, loop, [[1, 2]], 4)
        assert not found["ids"][1].any() and set(found["tokens"][1]) == {b""}
    assert not any(value[1].any() for value in state.values())
    assert not found["log_probs"][1].any()
    again = ask(step, words=[3, START], **state, **more)
    first = loop.run([START])[0][-1]
    best = again["log_probs"][1]
    expected = np.sort(first)[::-1][:4] if name == "step" else first
    np.testing.assert_allclose(best, expected, rtol=1e-5)


def test_the_same_request_has_the_same_answer(signatures):
    for _ in range(2):
        state = zero_state(signatures["step"], 1)
        found = ask(signatures["step"], words=[START], n=8, **state)
        twice = ask(signatures["step"], words=[START], n=8, **state)
        for name, values in found.items():
            np.testing.assert_array_equal(twice[name], values)


def test_more_rows_than_are_held_at_a_time(model, loop, tmp_path, monkeypatch):
    monkeypatch.setattr(language_signatures, "_NUMBERS", 2 * len(WORDS))
    folder = language_saved_model.export(model, WORDS, str(tmp_path))
    found = tf.saved_model.load(folder).signatures
    prefixes = [[1], [2, 3], [], [4, 5, 6], [1, 1]]
    given = {"words": padded(0, prefixes), "lengths": [len(p) for p in prefixes]}
    check_best(ask(found["next_word"], **given, n=3), loop, prefixes, 3)
    state = zero_state(found["step"], 5)
    first = ask(found["step"], words=[START] * 5, n=1, **state)
    state = {name: first[name] for name in state}
    second = ask(found["step"], words=[1, 2, 3, 4, 5], n=3, **state)
    check_best(second, loop, [[1], [2], [3], [4], [5]], 3)


ONE = {"words": [[1]], "lengths": [1]}


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("score", {"words": [[1, 9]], "lengths": [2]}, "ids of 1 to 8; found] [9]"),
        ("score", {"words": [[-1, 2]], "lengths": [2]}, "ids of 1 to 8; found] [-1]"),
        ("score", {"words": [[1, 0, 2]], "lengths": [3]}, "of 1 to 8; found] [0]"),
        ("score", {"words": [[7, 2]], "lengths": [2]}, "without <S>, id 7, which is"),
        ("score_text", {"text": ["the </S>"]}, "without </S>, id 8, which is put in"),
        ("score", {"words": [[1]], "lengths": [2]}, "at most the ids in a row"),
        ("score", {"words": [[1]], "lengths": [-1]}, "lengths must be 0 or more"),
        ("score", {"words": [[1]], "lengths": [1, 1]}, "one number for each row"),
        ("next_word", {**ONE, "n": 0}, "n must be 1 or more; found] [0]"),
        ("next_word", {"words": [[9]], "lengths": [1], "n": 1}, "ids of 1 to 8"),
    ],
)
def test_requests_that_make_no_sense(signatures, name, inputs, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(message)):
        ask(signatures[name], **inputs)


@pytest.mark.parametrize("word", [-1, 9])
def test_steps_that_make_no_sense(signatures, word):
    step = signatures["step_log_probs"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="ids of 0 to 8; found"):
        ask(step, words=[word], **zero_state(step, 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="a row for each of words"):
        ask(step, words=[1, 1], **zero_state(step, 1))


def test_saved_model_cli_shows_our_names(exported):
    words = saved_model_page.shown(exported)
    for name, kind, shape in (
        ("inputs['words']", "DT_INT32", "(-1, -1)"),
        ("inputs['lengths']", "DT_INT32", "(-1)"),
        ("inputs['text']", "DT_STRING", "(-1)"),
        ("inputs['n']", "DT_INT32", "unknown_rank"),
        ("inputs['state_lstm_1_h']", "DT_FLOAT", "(-1, 5)"),
        ("inputs['state_lstm_2_c']", "DT_FLOAT", "(-1, 4)"),
        ("outputs['log_probs']", "DT_FLOAT", "(-1, -1)"),
        ("outputs['log_probs']", "DT_FLOAT", "(-1, 8)"),
        ("outputs['sentence_log_probs']", "DT_FLOAT", "(-1)"),
        ("outputs['word_counts']", "DT_INT32", "(-1)"),
        ("outputs['ids']", "DT_INT32", "(-1, -1)"),
        ("outputs['tokens']", "DT_STRING", "(-1, -1)"),
        ("outputs['state_lstm_1_h']", "DT_FLOAT", "(-1, 5)"),
    ):
        assert f"{name} tensor_info: dtype: {kind} shape: {shape}" in words


def test_the_description(exported):
    page = saved_model.description(exported)
    assert json.dumps(page)
    assert page["words"] == 8 and page["tokens"] == "words" and page["model"] == "x"
    assert page["ids"] == {"unknown": UNKNOWN, "start": START, "end": END}
    assert page["inputs"]["score"] == {"lengths": "int32", "words": "int32"}
    assert page["outputs"]["next_word"] == {
        "ids": "int32",
        "log_probs": "float32",
        "tokens": "string",
    }
    assert page["step"]["state"] == {
        "state_lstm_1_h": ["float32", 5],
        "state_lstm_1_c": ["float32", 5],
        "state_lstm_2_h": ["float32", 4],
        "state_lstm_2_c": ["float32", 4],
    }


def test_the_vocabulary_for_clients_that_send_ids(exported):
    raw = (pathlib.Path(exported) / language_saved_model.VOCABULARY).read_bytes()
    words = [word.encode("utf-8", "surrogateescape") for word in WORDS]
    assert raw.split(b"\n") == [*words, b""]


def test_noise_and_training_are_left_out(model, exported):
    model.set_counts(np.arange(1, len(WORDS) + 1))
    reader = tf.train.load_checkpoint(f"{exported}/variables/variables")
    shapes = [tuple(s) for n, s in reader.get_variable_to_shape_map().items()]
    assert sum(len(shape) == 2 for shape in shapes) == 6
    # Rows of words, gates and outputs.
    assert {shape for shape in shapes if len(shape) == 2} == {
        (9, 5),
        (20, 5),
        (16, 5),
        (16, 4),
        (8, 4),
    }


def test_no_step_copies_a_table(exported):
    """TensorFlow copies a variable of which rows were read when it is read whole."""
    graph = (pathlib.Path(exported) / "saved_model.pb").read_bytes()
    assert b"ReadVariableOp" in graph and b"ResourceGather" not in graph


def test_a_model_in_bfloat16_is_exported_in_float32(model, loop, tmp_path):
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        half, _ = small_language_models.build(len(WORDS))
    finally:
        keras.config.set_dtype_policy("float32")
    layers.add_shadow(half.recurrent.layers[0].w_ifco_x)
    folder = language_saved_model.export(half, WORDS, str(tmp_path))
    found = tf.saved_model.load(folder).signatures["score_text"]
    check_scores(ask(found, text=TEXT), loop)
    lstm = half.recurrent.layers[0]  # As it was.
    assert lstm.compute_dtype == lstm.w_ifco_x.shadow.dtype == "bfloat16"


def test_versions_and_a_vocabulary_of_another_size(model, tmp_path, monkeypatch):
    directory = str(tmp_path / "lm")
    with pytest.raises(InputError, match="8 words and its vocabulary 7"):
        language_saved_model.export(model, WORDS[1:], directory)
    with pytest.raises(InputError, match="no <UNK>"):
        wrong = [word.replace("<UNK>", "dog") for word in WORDS]
        language_saved_model.export(model, wrong, directory)
    with pytest.raises(InputError, match="a word twice"):
        language_saved_model.export(model, ["cat", *WORDS[1:]], directory)
    assert not os.listdir(tmp_path)
    # Writing takes seconds, and is tested above.
    monkeypatch.setattr(LanguageSignatures, "functions", lambda self: {})
    for version, name in ((None, "1"), (7, "7"), (None, "8")):
        folder = language_saved_model.export(model, WORDS, directory, version=version)
        assert folder == f"{directory}/{name}"
    with pytest.raises(InputError, match="7 is there already"):
        language_saved_model.export(model, WORDS, directory, version=7)
    assert sorted(os.listdir(directory)) == ["1", "7", "8"]
