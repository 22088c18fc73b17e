"""Perplexity: what it is, and what it does not depend on."""

import math

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.sentences import Sentences
from seqzoo.zoo.language import evaluate
from seqzoo.zoo.language.evaluate import Evaluation, WordScorer
from tests.small_language_models import build, float64, sentences

WORDS = 30


def test_it_is_exp_of_the_mean_and_not_the_mean_of_exp():
    found = Evaluation(sentences=1, words=2, log_prob=-1.0 - 3.0)
    assert found.perplexity == pytest.approx(7.389056, abs=1e-6)
    assert (found.nats, found.bits) == (2, pytest.approx(2 / math.log(2)))


def test_without_unknown_words():
    found = Evaluation(
        sentences=1, words=5, log_prob=-13.0, unknown=3, unknown_log_prob=-9.0
    )
    assert found.known_perplexity == pytest.approx(math.exp(4 / 2))
    only = Evaluation(
        sentences=1, words=1, log_prob=-1.0, unknown=1, unknown_log_prob=-1.0
    )
    assert math.isnan(only.known_perplexity)


def test_a_perplexity_beyond_all_numbers():
    assert Evaluation(sentences=1, words=1, log_prob=-1e4).perplexity == math.inf


@pytest.mark.parametrize(
    "output, k", [("nce", 1), ("nce", 5), ("nce", 9), ("sampled_softmax", 5)]
)
def test_of_equal_scores_it_is_the_number_of_words(output, k):
    model, _ = build(10, scale=0, output=output, k=k)
    found = evaluate.evaluate(model, sentences(10, [5, 7]))
    assert f"{found.perplexity:.3f}" == "10.000"


@pytest.fixture(scope="module", params=["lstm", "lstm_projected", "rnn", "gru"])
def model(request):
    settings = {
        "lstm": {"dropout": 0.5},
        "lstm_projected": {"projsize": 6, "peepholes": True},
        "rnn": {"name": "language/rnn"},
        "gru": {"name": "language/rnn", "cell": "gru"},
    }
    with float64():
        return build(WORDS, **settings[request.param])[0]


LENGTHS = [3, 2, 20, 2, 11, 3, 3, 15, 1, 2]


def one_by_one(model, text):
    """Log-probabilities of words, sentence after sentence, step after step."""
    found = []
    for k in range(len(text)):
        state = model.zero_state(1)
        for word, following in zip(text[k], text[k][1:], strict=False):
            logs, state = model.next_log_probs(tf.constant([[word]]), state)
            found.append(float(logs[0, following - 1]))
    return np.array(found)


def test_neither_batch_nor_chunks_nor_what_stands_before_matter(model):
    text = sentences(WORDS, LENGTHS)
    expected = one_by_one(model, text)
    assert len(expected) == text.targets == sum(n - 1 for n in LENGTHS)
    for batch_size, positions in [(1, 8192), (50, 8192), (3, 7)]:
        scorer = WordScorer(model, batch_size, positions)
        np.testing.assert_allclose(scorer.log_probs(text), expected, rtol=1e-12)
    last = text[len(text) - 1]
    alone = WordScorer(model).log_probs(Sentences.of([last]))
    np.testing.assert_allclose(alone, expected[1 - len(last) :], rtol=1e-12)


@pytest.mark.parametrize("batch_size", [1, 50])
def test_sums_and_what_each_is_told(batch_size, monkeypatch):
    monkeypatch.setattr(evaluate, "_PART_IDS", 25)
    with float64():
        model, _ = build(WORDS)
    text, told = sentences(WORDS, LENGTHS), []
    unknown = int(text[2][4])
    found = evaluate.evaluate(
        model,
        text,
        unknown,
        batch_size=batch_size,
        each=lambda *what: told.append(what),
    )
    assert len(told) > 2  # By parts.
    logs = one_by_one(model, text)
    ends = np.cumsum([n - 1 for n in LENGTHS if n > 1])[:-1]
    words, sums = map(np.concatenate, zip(*told, strict=True))
    assert words.tolist() == [n - 1 for n in LENGTHS if n > 1]
    np.testing.assert_allclose(sums, [p.sum() for p in np.split(logs, ends)], 1e-12)
    assert (found.sentences, found.words) == (9, len(logs))
    targets = np.concatenate([text[k][1:] for k in range(len(text))])
    known = targets != unknown
    assert found.unknown == np.sum(~known) > 0
    assert found.perplexity == pytest.approx(np.exp(-logs.mean()), 1e-12)
    assert found.known_perplexity == pytest.approx(np.exp(-logs[known].mean()), 1e-12)


def test_parts_of_a_set_may_be_empty():
    model, _ = build(WORDS)
    text = sentences(WORDS, [3, 2])
    parts = [Sentences.of([]), text, Sentences.of([])]
    assert evaluate.evaluate(model, iter(parts)).words == text.targets


def test_it_is_traced_once_and_its_memory_is_bounded(monkeypatch):
    model, _ = build(WORDS)
    scorer = WordScorer(model, batch_size=4, positions=40)
    shapes, step = [], scorer._step

    def record(words, targets, state):
        shapes.append(words.shape)
        return step(words, targets, state)

    with monkeypatch.context() as patch:
        patch.setattr(scorer, "_step", record)
        for seed in range(3):
            scorer.log_probs(sentences(WORDS, [300, 299, *range(2, 30)], seed))
    assert scorer.traces == 1
    assert len(set(shapes)) > 5
    assert max(time * rows for time, rows in shapes) == 40
    # Sentences of like lengths are side by side: little is padding.
    assert sum(time * rows for time, rows in shapes) < 3 * 1.1 * (597 + 434)


def test_bfloat16_is_near():
    model, _ = build(WORDS)
    text = sentences(WORDS, LENGTHS)
    exact = evaluate.evaluate(model, text).perplexity
    near = evaluate.evaluate(model, text, dtype="bfloat16").perplexity
    assert near != exact
    assert near == pytest.approx(exact, rel=0.02)


def test_two_million_words():
    model, _ = build(2_200_000, hiddensize=(2,))
    found = evaluate.evaluate(model, sentences(2_200_000, [4, 3]))
    assert 1e5 < found.perplexity < 1e12
    assert found.words == 5


def test_errors():
    model, _ = build(WORDS)
    with pytest.raises(InputError, match="no sentence"):
        evaluate.evaluate(model, Sentences.of([]))
    with pytest.raises(InputError, match="word ids 2 to 31, but the model has 1 to 30"):
        evaluate.evaluate(model, Sentences.of([[2, 31]]))
    with pytest.raises(ValueError, match="batch_size is 0"):
        WordScorer(model, 0)
    model.output_layer.bias.assign_add(tf.one_hot(5, WORDS) * np.float32("nan"))
    with pytest.raises(evaluate.NotFinite, match="of sentence 1 is nan"):
        evaluate.evaluate(model, sentences(WORDS, [2, 2]))
