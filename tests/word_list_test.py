"""WordList is a list of words."""

import numpy as np
import pytest

from seqzoo.datasets.word_list import WordList

WORDS = ["the", "", "thé", "</S>", "a\nb", "\udcff", "the"]
WORDS += [f"w{i}" for i in range(9)]


def test_it_is_as_the_list():
    found = WordList(WORDS)
    assert len(found) == len(WORDS)
    assert list(found) == WORDS
    assert found == WORDS and found == WordList(WORDS)
    assert found != WORDS[1:] and found != [*WORDS[1:], "x"] and found != "the"
    assert [found[i] for i in (0, -1, np.int64(2))] == ["the", "w8", "thé"]
    assert found[2:5] == WORDS[2:5] and found[::-1] == WORDS[::-1]
    for word in WORDS:
        assert word in found and found.index(word) == WORDS.index(word)
    assert found.index("the", 1) == 6
    assert "th" not in found and 3 not in found
    with pytest.raises(IndexError):
        found[len(WORDS)]
    with pytest.raises(ValueError, match="'th' is not in"):
        found.index("th")
    assert not WordList([]) and list(WordList([])) == []


def test_many_words():
    words = [f"word{i}" for i in range(100_000)]
    found = WordList(words)
    assert list(found) == words
    assert found.index("word99999") == 99_999
