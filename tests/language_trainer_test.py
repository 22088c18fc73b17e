"""LanguageTrainer's graphs: one for all lengths, and in bfloat16 one more."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.layers import lstm_narrow
from seqzoo.zoo.language.trainer import LanguageTrainer, Sums, compute_in_bfloat16
from tests import small_language_models

WORDS, COLUMNS = 9, 3


def losses(bfloat16: bool, lengths) -> list[float]:
    model, _ = small_language_models.build(WORDS, scale=0.3, k=4)
    model.set_counts(np.ones(WORDS))
    if bfloat16:
        compute_in_bfloat16(model)
    trainer = LanguageTrainer(model, layers.RowSGD(0.1, 0.9, 5.0))
    state, random, found = trainer.zero_state(COLUMNS), np.random.default_rng(1), []
    for length in lengths:
        words = random.integers(0, WORDS + 1, (length, COLUMNS))
        targets = np.where(words > 0, random.integers(1, WORDS + 1, words.shape), 0)
        chunk = (tf.constant(ids, tf.int32) for ids in (words, targets))
        sums = Sums()
        state = trainer.train(*chunk, state, sums)
        found.append(sums.loss)
    return found


@pytest.mark.parametrize("lengths", [(6, 6, 6), (6, 4, 6, 2, 3)])
def test_bfloat16_learns_as_float32_whatever_the_lengths(lengths, monkeypatch):
    traced = []
    plain = lstm_narrow.narrow_lstm

    def counted(inputs, *args, **kwargs):
        traced.append(inputs.shape[0])
        return plain(inputs, *args, **kwargs)

    monkeypatch.setattr(lstm_narrow, "narrow_lstm", counted)
    expected = losses(False, lengths)
    assert not traced
    np.testing.assert_allclose(losses(True, lengths), expected, rtol=0.02)
    # Both LSTMs are written out for the first length only.
    assert traced == [6, 6]
