import numpy as np
import pytest

from seqzoo.datasets.sentences import Sentences


def test_sentences_of_one_word_are_skipped_and_counted():
    for found in (
        Sentences.of([[1, 2], [3], [4, 5, 6], [], [7]]),
        Sentences.cut([1, 2, 3, 4, 5, 6, 7], [0, 2, 3, 6]),
    ):
        assert found.ids.tolist() == [1, 2, 4, 5, 6]
        assert found.starts.tolist() == [0, 2, 5]
        assert found[1].tolist() == [4, 5, 6]
        assert len(found) == 2
        assert found.targets == 3
    assert Sentences.of([[1, 2], [3], [], [7]]).skipped == 3
    assert Sentences.cut([1, 2, 3, 4, 5, 6, 7], [0, 2, 3, 6]).skipped == 2


def test_nothing_is_copied_where_nothing_is_skipped():
    ids = np.arange(1, 7, dtype=np.int32)
    assert np.shares_memory(Sentences.cut(ids, [0, 3]).ids, ids)


def test_the_empty_set():
    assert len(Sentences.of([])) == 0
    with pytest.raises(IndexError, match="no sentence 0 of 0"):
        Sentences.of([])[0]
    with pytest.raises(IndexError):
        Sentences.of([[1, 2]])[-1]
