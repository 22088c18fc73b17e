"""LanguageTrainer's graphs: one for all lengths, and in bfloat16 one more."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.layers import lstm_narrow
from seqzoo.zoo.language.trainer import LanguageTrainer, Sums, compute_in_bfloat16
from tests import small_language_models

WORDS, COLUMNS = 9, 3


def losses(bfloat16: bool, chunks) -> list[float]:
    """Of each chunk, given as what is done with it and its length."""
    model, _ = small_language_models.build(WORDS, scale=0.3, k=4)
    model.set_counts(np.ones(WORDS))
    if bfloat16:
        compute_in_bfloat16(model)
    trainer = LanguageTrainer(model, layers.RowSGD(0.1, 0.9, 5.0), usual_steps=6)
    state, random, found = trainer.zero_state(COLUMNS), np.random.default_rng(1), []
    for do, length in chunks:
        words = random.integers(0, WORDS + 1, (length, COLUMNS))
        targets = np.where(words > 0, random.integers(1, WORDS + 1, words.shape), 0)
        chunk = (tf.constant(ids, tf.int32) for ids in (words, targets))
        sums = Sums()
        state = getattr(trainer, do)(*chunk, state, sums)
        found.append(sums.loss)
    return found


@pytest.mark.parametrize(
    ("chunks", "written_out"),
    [
        ([("train", 6), ("train", 6), ("score", 6), ("score", 6)], 2),
        ([("train", 4), ("train", 6), ("score", 2), ("train", 6), ("train", 3)], 1),
    ],
)
def test_bfloat16_learns_as_float32_whatever_the_lengths(
    chunks, written_out, monkeypatch
):
    traced = []
    plain = lstm_narrow.narrow_lstm

    def counted(inputs, *args, **kwargs):
        traced.append(inputs.shape[0])
        return plain(inputs, *args, **kwargs)

    monkeypatch.setattr(lstm_narrow, "narrow_lstm", counted)
    expected = losses(False, chunks)
    assert not traced
    np.testing.assert_allclose(losses(True, chunks), expected, rtol=0.02)
    # Both LSTMs are, in a graph for chunks of the usual length.
    assert traced == [6, 6] * written_out
