"""Text to ids and back, as a SavedModel does it."""

import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.export.served_vocabulary import ServedVocabulary

WORDS = ["a", "\udcff", "<UNK>", "<S>", "</S>", "é"]


def split(vocabulary, *lines):
    ids, lengths = vocabulary.split(tf.constant(lines, tf.string))
    return ids.numpy().tolist(), lengths.numpy().tolist()


def test_words_between_blanks():
    vocabulary = ServedVocabulary(WORDS)
    assert len(vocabulary) == 6
    assert (vocabulary.unknown, vocabulary.start, vocabulary.end) == (3, 4, 5)
    found = split(vocabulary, b"a\t\xff \r\n", b"", b" a\xffa  \xc3\xa9 a")
    assert found == ([[1, 2, 0], [0, 0, 0], [3, 6, 1]], [2, 0, 3])
    tokens = vocabulary.tokens([[1, 2], [6, 0]]).numpy().tolist()
    assert tokens == [[b"a", b"\xff"], [b"\xc3\xa9", b""]]


def test_blanks_are_those_of_the_training_text():
    """There words are cut by `bytes.split`."""
    text = b"a\x0bb\x0cc \x1cd \xc2\xa0e\xe3\x80\x80f\x85"
    words = [w.decode("utf-8", "surrogateescape") for w in text.split()]
    vocabulary = ServedVocabulary([*words, *WORDS[2:5]])
    assert split(vocabulary, text) == ([[*range(1, len(words) + 1)]], [len(words)])


def test_characters_in_utf_8():
    vocabulary = ServedVocabulary(["é", "a", "\n"], characters=True)
    assert (vocabulary.unknown, vocabulary.start, vocabulary.end) == (0, 0, 0)
    found = split(vocabulary, "éa\n", "", "a")
    assert found == ([[1, 2, 3], [0, 0, 0], [2, 0, 0]], [3, 0, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not know"):
        split(ServedVocabulary(["a", "è"], characters=True), "aé")


def test_characters_that_are_bytes():
    vocabulary = ServedVocabulary(["\udcc3", "\udca9", " "], characters=True)
    assert split(vocabulary, "é é") == ([[1, 2, 3, 1, 2]], [5])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not know"):
        split(vocabulary, "a")


@pytest.mark.parametrize("words", [WORDS[1:] + ["é"], WORDS[:4]])
def test_words_that_are_no_vocabulary(words):
    with pytest.raises(InputError, match="a word twice|no </S>"):
        ServedVocabulary(words)
