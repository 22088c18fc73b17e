"""Checking a language model's SavedModel in a process of its own."""

import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.export import language_check, language_saved_model
from tests import small_language_models

WORDS = ["a", "b", "\udcff", "d", "e", "<UNK>", "<S>", "</S>"]
SIGNATURES = {
    "score",
    "serving_default",
    "score_text",
    "next_word",
    "next_word_text",
    "step",
    "step_log_probs",
}


@pytest.fixture(scope="module")
def model():
    return small_language_models.build(8, projsize=6, dropout=0.5)[0]


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("models") / "lm")
    return language_saved_model.export(model, WORDS, directory)


def test_all_signatures_agree(model, exported):
    differences = language_check.check(exported, model, WORDS)
    assert differences.keys() == SIGNATURES
    assert max(differences.values()) < 1e-5


def test_other_words(model, exported):
    words = ["a", "b", "c", *WORDS[3:]]
    with pytest.raises(InputError, match=r"tokens differs .* it is b'.*', not b'.*'"):
        language_check.check(exported, model, words)


def test_another_model_is_found_and_not_written(model, tmp_path, monkeypatch):
    """One whose states do not reach the next word."""
    zeros = model.zero_state

    def forgets(words, state):
        return original(words, zeros(tf.shape(words)[1]))

    original = model.run
    monkeypatch.setattr(model, "run", forgets)
    made = language_check.check

    def check(*args):
        monkeypatch.undo()
        return made(*args)

    monkeypatch.setattr(language_check, "check", check)
    with pytest.raises(InputError, match="step.* differs from the model's: at "):
        language_saved_model.export(model, WORDS, str(tmp_path / "lm"), check=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings", [{"cell": "gru"}, {"activation": "tanh"}])
def test_other_layers_and_characters(tmp_path, settings):
    model, _ = small_language_models.build(5, "language/rnn", **settings)
    characters = ["a", "\n", " ", "é", "\0"]
    folder = language_saved_model.export(
        model, characters, str(tmp_path), characters=True, check=True
    )
    step = tf.saved_model.load(folder).signatures["step"]
    states = [name for name in step.structured_outputs if name.startswith("state_")]
    kind = settings.get("cell", "rnn")
    assert sorted(states) == [f"state_{kind}_1_h", f"state_{kind}_2_h"]
