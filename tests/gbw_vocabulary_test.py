import collections
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets import gbw_vocabulary
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary


def test_ids_by_count_then_by_bytes_and_the_special_ones_last():
    counted = {"b": 3, "rare": 2, "é": 5, "a": 3, "z": 5, "<UNK>": 4}
    items = [(word.encode(), count) for word, count in counted.items()]
    for order in (items, items[::-1]):
        vocabulary = gbw_vocabulary.make(order, lambda: 7, min_count=3)
        assert vocabulary.words == ["z", "é", "a", "b", "<UNK>", "<S>", "</S>"]
        assert vocabulary.counts.tolist() == [5, 5, 3, 3, 2 + 4, 7, 7]
    assert vocabulary.counts.sum() == sum(counted.values()) + 2 * 7
    assert (vocabulary.unknown, vocabulary.start, vocabulary.end) == (5, 6, 7)


def test_ids_of_the_benchmark():
    """793,468 words and the three marks, which have the ids of Torch's set."""
    counted = ((b"%d" % n, 3) for n in range(793_468))
    vocabulary = gbw_vocabulary.make(counted, lambda: 30_301_028, min_count=3)
    assert len(vocabulary) == 793_471
    marks = vocabulary.unknown, vocabulary.start, vocabulary.end
    assert marks == (793_469, 793_470, 793_471)


def test_words_and_ids():
    vocabulary = gbw_vocabulary.make([(b"b", 3), (b"a", 4)], lambda: 1, 1)
    assert vocabulary.encode(["b", "what", "a", "</S>"]) == [2, 3, 1, 5]
    assert vocabulary.decode([2, 3, 1, 5]) == ["b", "<UNK>", "a", "</S>"]
    assert len(vocabulary) == 5


def test_recounting_keeps_the_ids():
    vocabulary = gbw_vocabulary.make([(b"b", 3), (b"a", 4)], lambda: 1, 1)
    again = gbw_vocabulary.recount(vocabulary, [(b"b", 9), (b"x", 8)], lambda: 6)
    assert again.words == vocabulary.words
    assert again.counts.tolist() == [0, 9, 8, 6, 6]


@pytest.mark.parametrize("most_types", [1, 5, 1000])
def test_counting_is_exact_however_little_is_held(most_types, tmp_path):
    rng = np.random.default_rng(0)
    pieces, wanted = [], collections.Counter()
    for _ in range(6):
        drawn = collections.Counter(f"w{n}".encode() for n in rng.integers(0, 40, 60))
        pieces.append((list(drawn), list(drawn.values())))
        wanted += drawn
    found = gbw_vocabulary.total(pieces, str(tmp_path), most_types)
    found = sorted(found)
    assert found == sorted(wanted.items())
    assert os.listdir(tmp_path) == []


def test_a_vocabulary_comes_back_from_disk(tmp_path):
    path = str(tmp_path / "v")
    words = ["\x85", "字\x1c", "a", "<UNK>", "<S>", "</S>"]
    Vocabulary(words, np.arange(6)).save(path)
    again = Vocabulary.load(path)
    assert again.words == words
    assert again.counts.tolist() == list(range(6))


TOKENS = st.text(
    st.one_of(
        st.sampled_from("\\nx \n\r\u2028f8"),
        st.characters(codec="utf-8"),
        st.integers(0xDC80, 0xDCFF).map(chr),  # Bytes that are no UTF-8.
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(st.lists(TOKENS, unique=True, min_size=1))
def test_any_tokens_come_back_from_disk(tmp_path_factory, words):
    path = str(tmp_path_factory.getbasetemp() / "tokens")
    Vocabulary(words, np.arange(len(words))).save(path)
    again = Vocabulary.load(path, characters=True)
    assert again.words == words
    assert again.counts.tolist() == list(range(len(words)))


def test_how_tokens_stand_in_the_file(tmp_path):
    path = tmp_path / "v"
    Vocabulary(["\n", " ", "\\", "caf\udce9", "é"], np.arange(5)).save(str(path))
    assert path.read_bytes() == b"\\n 0\n  1\n\\\\ 2\ncaf\\xe9 3\n\xc3\xa9 4\n"
    # A backslash that nobody doubled is one, unless it says something else.
    path.write_bytes(rb"C:\temp 1")
    assert Vocabulary.load(str(path), characters=True).words == [r"C:\temp"]


def test_characters_have_no_special_words(tmp_path):
    (tmp_path / "v").write_bytes(b"a 1\n\\n 2\n")
    vocabulary = Vocabulary.load(str(tmp_path / "v"), characters=True)
    for name, word in {"unknown": "<UNK>", "start": "<S>", "end": "</S>"}.items():
        with pytest.raises(InputError, match=f"has no {word}: it is one of characters"):
            getattr(vocabulary, name)


@pytest.mark.parametrize(
    "text, message",
    [
        (b"a 1\nb\n", "v:2: 'b' is not a word and its count"),
        (b"a -1\n", "v:1: 'a -1' is not a word"),
        (b"", "v:1: '' is not a word"),
        (b"a 1\n<UNK> 1\n<S> 1\n", "v: there is no word </S>; all of <UNK> <S> </S>"),
        (b"a 1\n<UNK> 1\n<S> 1\n</S> 1\na 2\n", "v: the word 'a' is there twice"),
        (b"a\xff 1\n", "v: byte 1 is not UTF-8"),
    ],
)
def test_files_that_are_no_vocabulary(text, message, tmp_path):
    (tmp_path / "v").write_bytes(text)
    with pytest.raises(InputError, match=message):
        Vocabulary.load(str(tmp_path / "v"))


def test_a_vocabulary_that_does_not_match():
    ours = gbw_vocabulary.make([(b"b", 3), (b"a", 4)], lambda: 1, 1)
    ours.check_same(gbw_vocabulary.make([(b"a", 9), (b"b", 1)], lambda: 2, 1), "", "")
    other = gbw_vocabulary.make([(b"c", 3), (b"a", 4)], lambda: 1, 1)
    with pytest.raises(InputError) as error:
        ours.check_same(other, "data/cache", "exp/lm")
    assert str(error.value) == (
        "data/cache: its vocabulary is not that of exp/lm (5 words there, 5 in exp/lm; "
        "id 2 is 'b' and 'c'); make the data with the vocabulary of exp/lm."
    )
    longer = Vocabulary([*ours.words, "x"], np.zeros(6))
    with pytest.raises(InputError, match=r"\(5 words there, 6 in exp/lm\)"):
        ours.check_same(longer, "data/cache", "exp/lm")
