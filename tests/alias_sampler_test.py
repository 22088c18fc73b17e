"""The alias sampler draws by the counts, whatever their order and number."""

import keras
import numpy as np
import pytest

from seqzoo import layers
from seqzoo.layers.alias_sampler import alias_table, word_probs


def _stored(table):
    """The probabilities that a table stands for."""
    size = len(table.keep)
    given = np.bincount(table.other, 1 - table.keep, size)
    return (table.keep + given) / size


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_a_table_holds_its_distribution(size):
    probs = word_probs(np.random.RandomState(size).zipf(1.3, size), size)
    table = alias_table(probs)
    np.testing.assert_allclose(_stored(table), probs, 1e-12)
    assert table.keep.min() >= 0 and table.keep.max() <= 1


def test_the_table_of_793471_words_holds_the_rare_ones_exactly():
    counts = np.maximum(3, 3e7 // np.arange(1, 793_472))
    np.random.RandomState(0).shuffle(counts)
    probs = word_probs(counts, len(counts))
    np.testing.assert_allclose(_stored(alias_table(probs)), probs, 1e-6)


def test_draws_follow_the_counts_not_the_rank():
    counts = np.array([1, 500, 3, 0, 200, 296])  # A rare word has id 0.
    sampler = layers.AliasSampler(6, counts)
    drawn = np.bincount(sampler.sample((100_000,), (1, 2)).numpy(), minlength=6)
    expected = counts * 100.0
    assert drawn[3] == 0
    seen = counts > 0
    chi_square = ((drawn - expected)[seen] ** 2 / expected[seen]).sum()
    assert chi_square < 18.47  # p = 0.001 with 4 degrees of freedom.
    np.testing.assert_allclose(
        np.exp(sampler.log_probs([0, 4, 1])), [0.001, 0.2, 0.5], 1e-6
    )


def test_without_counts_all_are_drawn_alike():
    drawn = layers.AliasSampler(4).sample((40_000,), (0, 0)).numpy()
    np.testing.assert_allclose(np.bincount(drawn), 10_000, 0.03)


def test_a_seed_stands_for_its_draws():
    sampler = layers.AliasSampler(1000, np.arange(1000))
    first, again, other = (sampler.sample((3, 5), (7, i)) for i in (0, 0, 1))
    assert first.dtype == "int32" and first.shape == (3, 5)
    np.testing.assert_array_equal(first, again)
    assert (first.numpy() != other.numpy()).any()


def test_tables_are_saved_with_the_model(tmp_path):
    nce = layers.NCE(50, 5, np.arange(50))
    model = keras.Sequential([keras.Input((3,)), nce])
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras").layers[-1].sampler
    ids = nce.sampler.sample((200,), (3, 4))
    np.testing.assert_array_equal(again.sample((200,), (3, 4)), ids)
    np.testing.assert_array_equal(again.log_probs(ids), nce.sampler.log_probs(ids))


@pytest.mark.parametrize(
    "counts, message",
    [
        ([1, 2], r"shape \(2,\); \(3,\) is taken"),
        ([1, -2, 3], "the count of word 1 is -2"),
        ([1, 2, np.nan], "the count of word 2 is nan"),
        ([0, 0, 0], "all 3 counts are 0"),
    ],
)
def test_bad_counts(counts, message):
    with pytest.raises(ValueError, match=message):
        layers.AliasSampler(3, counts)
