"""A model's words change; what it knows of those it keeps goes with them."""

import dataclasses
import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.layers import RowSGD
from seqzoo.zoo import registry
from seqzoo.zoo.language import trained_model, vocabulary_change
from seqzoo.zoo.language.lstm_config import LstmConfig
from seqzoo.zoo.training import weight_files

_TABLES = ("embedding/embeddings", "output/linearity", "output/bias")


def vocabulary(words, counts=None):
    words = words.split()
    return Vocabulary(words, np.array(counts or range(1, len(words) + 1), np.int64))


OLD = vocabulary("a b </S> c <UNK> <S>")
NEW = vocabulary("c <UNK> d e <S> </S> a", [4, 5, 2, 9, 10, 10, 20])
KEPT = {"c": "c", "<UNK>": "<UNK>", "<S>": "<S>", "</S>": "</S>", "a": "a"}


def settings(words=0, **options):
    return LstmConfig(words=words, hiddensize=(3,), k=2, **options)


def build(words, **options):
    return registry.build("language/lstm", settings(len(words), **options))


def save(path, words, **options):
    """A trained model: all its weights are different numbers."""
    model = build(words, **options)
    start = 1.0
    for name, weight in model.named_weights().items():
        if not name.startswith("seed/"):
            size = int(np.prod(weight.shape))
            weight.assign(np.arange(start, start + size).reshape(weight.shape))
            start += size
    model.embedding.embeddings.assign(
        model.embedding.embeddings.numpy() * (np.arange(len(words) + 1) > 0)[:, None]
    )
    config = settings(len(words), **options)
    trained_model.write(str(path), "language/lstm", config, model, words, {})
    return trained_model.read(str(path))


def arrays(named):
    return {name: weight.numpy() for name, weight in named.items()}


def row(values, name, words, word):
    """Of a table the row of a word."""
    return values[name][words.ids[word] - (name != "embedding/embeddings")]


def test_rows_go_by_word(tmp_path):
    # Old [a, b, c], new [c, d, a].
    words = vocabulary("a b c </S> <S> <UNK>")
    new = vocabulary("c d a <UNK> </S> <S>")
    old = save(tmp_path / "old", words)
    model = build(new)
    before = arrays(old.model.named_weights())
    fresh = arrays(model.named_weights())
    report = vocabulary_change.carry_over(old, new, model)
    after = arrays(model.named_weights())
    for name in _TABLES:
        for word in ("a", "c", "<UNK>", "<S>", "</S>"):
            found = row(after, name, new, word)
            np.testing.assert_array_equal(
                found, row(before, name, old.vocabulary, word)
            )
        np.testing.assert_array_equal(
            row(after, name, new, "d"), row(fresh, name, new, "d")
        )
    assert row(after, "output/bias", new, "d") == np.float32(-math.log(6))
    assert not after["embedding/embeddings"][0].any()
    assert (report.new, report.dropped) == (["d"], ["b"])
    assert list(report.kept) == ["c", "a", "<UNK>", "</S>", "<S>"]


def test_other_weights_stay_and_noise_has_the_new_counts(tmp_path):
    old = save(tmp_path / "old", OLD, dropout=0.2)
    old.model.output_layer.noise_seeds.next()
    model = build(NEW, dropout=0.2, seed=5)
    vocabulary_change.carry_over(old, NEW, model)
    before = trained_model.read(old.path).model.named_weights()
    after = model.named_weights()
    assert before.keys() == after.keys() and "seed/dropout_1" in after
    fresh = build(NEW, dropout=0.2, seed=5).named_weights()
    for name in after.keys() - set(_TABLES):
        # What is drawn is the new run's own.
        expected = (fresh if name.startswith("seed/") else before)[name]
        np.testing.assert_array_equal(after[name], expected, err_msg=name)
    assert float(after["output/z"].numpy()) > 1
    np.testing.assert_allclose(
        model.output_layer.sampler.probs.numpy(), NEW.counts / 60, rtol=1e-6
    )


@pytest.mark.parametrize("rule", ["momentum", "adagrad"])
def test_slots_follow_and_the_step_is_kept(tmp_path, rule):
    old = save(tmp_path / "old", OLD)

    def slots(model, vocabulary):
        optimizer = RowSGD(momentum=0.9, tables=rule, initial_accumulator=0.25)
        optimizer.build(model.trainable_variables)
        named = {id(weight): name for name, weight in model.named_weights().items()}
        weights = [named[id(weight)] for weight in model.trainable_variables]
        found = dict(zip(weights, optimizer.variables[2:], strict=True))
        return found | {"iterations": optimizer.iterations}

    before = slots(old.model, OLD)
    for number, slot in enumerate(before.values()):
        slot.assign(
            np.arange(slot.value.shape.num_elements()).reshape(slot.shape) + number
        )
    model = build(NEW)
    after = slots(model, NEW)
    fresh = arrays(after)
    vocabulary_change.carry_over(old, NEW, model, before, after)
    before, after = arrays(before), arrays(after)
    for name in _TABLES:
        for word in NEW.words:
            expected = row(before, name, OLD, word) if word in KEPT else None
            if expected is None:
                expected = np.full_like(
                    row(fresh, name, NEW, word), 0.25 * (rule == "adagrad")
                )
            np.testing.assert_array_equal(row(after, name, NEW, word), expected)
    for name in before.keys() - set(_TABLES):
        np.testing.assert_array_equal(after[name], before[name])
    assert after["iterations"] == len(before) - 1


def test_slots_may_be_files(tmp_path):
    old = save(tmp_path / "old", OLD)
    model = build(NEW)
    table = np.arange(21.0, dtype="f4").reshape(7, 3)
    slot = tf.Variable(tf.fill((8, 3), -1.0))
    slots = {"embedding/embeddings": table, "of the old one only": table}
    vocabulary_change.carry_over(
        old, NEW, model, slots, {"embedding/embeddings": slot, "other": slot}
    )
    assert slot.numpy()[:, 0].tolist() == [-1, 12, 15, -1, -1, 18, 9, 3]


def test_slots_may_be_in_a_folder(tmp_path):
    old = save(tmp_path / "old", OLD)
    slot, step = tf.Variable(tf.zeros(7)), tf.Variable(0, dtype=tf.int64)
    new = {"output/bias": slot, "iterations": step}
    folder = str(tmp_path / "slots")
    kept = {
        "output/bias": keras.Variable(np.arange(6.0)),
        "iterations": keras.Variable(7, dtype="int64"),
    }
    weight_files.save(folder, kept)
    vocabulary_change.carry_over(old, NEW, build(NEW), folder, new)
    assert slot.numpy().tolist() == [3, 4, 0, 0, 5, 2, 0] and int(step) == 7


def test_a_model_that_is_in_memory_only(tmp_path):
    old = save(tmp_path / "old", OLD)
    here = dataclasses.replace(old, weights="")
    models = [build(NEW), build(NEW)]
    reports = [
        vocabulary_change.carry_over(one, NEW, model)
        for one, model in zip([old, here], models, strict=True)
    ]
    assert reports[0] == reports[1]
    for name, weight in models[0].named_weights().items():
        np.testing.assert_array_equal(weight, models[1].named_weights()[name])


def test_rows_go_over_in_pieces(tmp_path, monkeypatch):
    old = save(tmp_path / "old", OLD)
    whole, pieces = build(NEW), build(NEW)
    vocabulary_change.carry_over(old, NEW, whole)
    monkeypatch.setattr(vocabulary_change, "_PIECE", 25)  # Two rows of three numbers.
    vocabulary_change.carry_over(old, NEW, pieces)
    for name, weight in whole.named_weights().items():
        np.testing.assert_array_equal(weight, pieces.named_weights()[name])


def test_the_same_vocabulary_gives_the_same_model(tmp_path):
    old = save(tmp_path / "old", OLD)
    model = build(OLD, seed=9)
    report = vocabulary_change.carry_over(old, OLD, model)
    for name, weight in old.model.named_weights().items():
        if not name.startswith("seed/"):
            np.testing.assert_array_equal(weight, model.named_weights()[name])
    assert (report.new, report.dropped, report.share) == ([], [], 1)
    assert report.text() == (
        "words: 6 kept, 0 new, 0 dropped\n"
        "kept words are 100.00 % of the new training text"
    )


def test_dropout_may_be_new(tmp_path):
    old = save(tmp_path / "old", OLD)
    model = build(NEW, dropout=0.5)
    seed = model.named_weights()["seed/dropout_0"].numpy()
    vocabulary_change.carry_over(old, NEW, model)
    np.testing.assert_array_equal(model.named_weights()["seed/dropout_0"], seed)


def test_a_model_of_another_size_is_not_touched(tmp_path):
    old = save(tmp_path / "old", OLD)
    other = dataclasses.replace(settings(len(NEW)), hiddensize=(3, 3))
    model = registry.build("language/lstm", other)
    before = arrays(model.named_weights())
    with pytest.raises(InputError, match="old: has no lstm_2/.*, but the new model"):
        vocabulary_change.carry_over(old, NEW, model)
    wide = registry.build("language/lstm", dataclasses.replace(other, hiddensize=(4,)))
    with pytest.raises(
        InputError, match=r"old: embedding/embeddings has shape \(7, 3\), .*\(8, 4\);"
    ):
        vocabulary_change.carry_over(old, NEW, wide)
    for name, weight in model.named_weights().items():
        np.testing.assert_array_equal(weight, before[name])
    with pytest.raises(ValueError, match="has 7 words, the vocabulary 6"):
        vocabulary_change.carry_over(old, OLD, model)


def test_the_report(tmp_path):
    report = vocabulary_change.carry_over(save(tmp_path / "old", OLD), NEW, build(NEW))
    text = (
        "words: 5 kept, 2 new, 1 dropped\n"
        "kept words are 81.67 % of the new training text\n"
        "new, most frequent first: e d\n"
        "dropped: b"
    )
    assert report.text() == text
    report.save(str(tmp_path / "words.txt"))
    lines = (tmp_path / "words.txt").read_text()
    assert lines == f"{text}\nnew e\nnew d\ndropped b\n"


def test_a_long_report(tmp_path):
    words = [f"w{n}" for n in range(25)]
    report = vocabulary_change.Report(
        kept=[], new=words, dropped=[*words[:19], "caf\udce9", "y"], share=0.5
    )
    _, _, new, dropped = report.text().split("\n")
    assert new.endswith(" w18 w19 and 5 more")
    assert dropped.endswith(r" w18 caf\udce9 and 1 more")
    report.save(str(tmp_path / "words.txt"))
    lines = (tmp_path / "words.txt").read_text().splitlines()
    assert len(lines) == 4 + 25 + 21
