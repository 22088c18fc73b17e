"""`seqzoo export` of language models: runs, versions, checks, and errors."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.export import saved_model
from seqzoo.zoo.commands import main
from tests import small_language_models


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with the run exp/lm."""
    monkeypatch.chdir(tmp_path)
    small_language_models.write_run(tmp_path / "exp" / "lm")
    return tmp_path


def test_a_run_is_exported_and_checked(work, capsys):
    assert main.main(["export", "--check", "--version=4", "exp/lm", "models/lm"]) == 0
    out, err = capsys.readouterr()
    assert out == "models/lm/4\n"
    for name in ("score", "next_word_text", "step"):
        assert f"{name}: as in the model, within " in err
    assert saved_model.description("models/lm/4")["model"] == "language/lstm"
    signatures = tf.saved_model.load("models/lm/4").signatures
    found = signatures["score_text"](text=tf.constant(["a b", "zzz"]))
    assert found["tokens"].numpy().tolist() == [
        [b"a", b"b", b"</S>"],
        [b"<UNK>", b"</S>", b""],
    ]


def test_a_model_of_characters(work):
    about = {"tokens": "characters"}
    model = small_language_models.write_run("exp/chars", about=about)
    assert main.main(["export", "exp/chars", "models/chars"]) == 0
    page = saved_model.description("models/chars/1")
    assert page["characters"][:3] == ["a", "b", "c"]
    signatures = tf.saved_model.load("models/chars/1").signatures
    found = signatures["score_text"](text=tf.constant(["abca", ""]))
    assert found["word_counts"].numpy().tolist() == [3, 0]
    assert found["tokens"].numpy().tolist() == [[b"a", b"b", b"c", b"a"], [b""] * 4]
    ids = tf.constant([[1], [2], [3]])
    expected, _ = model.log_probs(ids, ids % 3 + 1, model.zero_state(1))
    logs = found["log_probs"].numpy()
    np.testing.assert_allclose(logs[0, 1:], expected[:, 0], rtol=1e-5)
    assert logs[0, 0] == 0 and not logs[1].any()
    best = signatures["next_word_text"](text=tf.constant(["ab"]), n=tf.constant(2))
    after, _ = model.next_log_probs(ids[:2], model.zero_state(1))
    assert best["ids"].numpy().tolist() == [(np.argsort(-after[0])[:2] + 1).tolist()]
    for text, message in (("ab?", r"does not know:\] \[\?\]"), ("", "must be there")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            signatures["next_word_text"](text=tf.constant([text]), n=tf.constant(2))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--format=nnet1 exp/lm m",
            "--format=nnet1 is for an acoustic model, and exp/lm is a language model",
        ),
        ("--class_frame_counts=none exp/lm m", "--class_frame_counts is for an acoust"),
        ("--nostep exp/lm m", "--step is for an acoustic model"),
        ("--block=1 exp/lm m", "--block is for an acoustic model"),
        ("preset:none m", "no preset 'none'"),
        ("exp/lm exp/lm/config.json", "exp/lm/config.json: cannot write a SavedModel"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(work, words, message, capsys):
    before = sorted(work.rglob("*"))
    assert main.main(["export", *words.split()]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("seqzoo export: ")
    assert message in line
    assert sorted(work.rglob("*")) == before
