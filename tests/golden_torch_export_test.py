"""Torch's trained models as SavedModels give what Torch gave."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.zoo.commands import main

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
_LOGS = sorted(_GOLDENS.glob("*/xplog_*.t7"))


@pytest.fixture(scope="module", params=_LOGS, ids=lambda path: path.stem)
def case(request, tmp_path_factory):
    """The signatures, the ids of the vocabulary, and what Torch gave."""
    directory = str(tmp_path_factory.mktemp("models") / "lm")
    assert main.main(["export", str(request.param), directory]) == 0
    words = pathlib.Path(directory, "1", "assets.extra", "vocabulary.txt")
    ids = {word: i for i, word in enumerate(words.read_text().split("\n"), 1)}
    name = request.param.stem.removeprefix("xplog_")
    expected = dict(np.load(_GOLDENS / f"{name}lm_expected.npz"))
    return tf.saved_model.load(f"{directory}/1").signatures, ids, expected


def test_golden_torch_scores(case):
    signatures, ids, expected = case
    inputs, logs = expected["test_inputs"], expected["test_logprob_or_0_masked"]
    # One stream, with 0 between sentences; each of them is behind its <S>.
    cuts = np.flatnonzero(inputs == 0)
    sentences = [part[part != 0] for part in np.split(inputs, cuts)]
    wanted = [part for part in np.split(logs, cuts)]
    pairs = [
        (ids_, [x for x in logs_ if x != 0])
        for ids_, logs_ in zip(sentences, wanted, strict=True)
        if len(ids_)
    ]
    # What was cut off at the stream's end has no </S>.
    whole = [pair for pair in pairs if pair[0][0] == ids["<S>"]]
    assert len(whole) > 5
    lengths = [len(words) - 1 for words, _ in whole]
    batch = np.full((len(whole), max(lengths)), 1, np.int32)
    for row, (words, _) in zip(batch, whole, strict=True):
        row[: len(words) - 1] = words[1:]
    found = signatures["score"](words=tf.constant(batch), lengths=tf.constant(lengths))
    for row, (_, expected_logs) in enumerate(whole):
        got = found["log_probs"][row, : len(expected_logs)]
        np.testing.assert_allclose(got, expected_logs, rtol=1e-5)


def test_golden_torch_next_words(case):
    signatures, ids, expected = case
    for key, values in expected.items():
        if key.startswith("next_logprob_after_S"):
            prefix = [int(n) for n in key.split("_")[4:]]
            found = signatures["next_word"](
                words=tf.constant(np.array([prefix], np.int32)),
                lengths=tf.constant([len(prefix)]),
                n=tf.constant(len(values)),
            )
            order = found["ids"][0].numpy() - 1
            np.testing.assert_allclose(found["log_probs"][0], values[order], rtol=1e-5)
            assert (np.diff(values[order]) <= 1e-6).all()
            assert sorted(order) == list(range(len(values)))
