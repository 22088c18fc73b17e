"""Text as ids of words, and of characters."""

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo.language.encoding import encode_lines

WORDS = Vocabulary(["a", "b", "<UNK>", "<S>", "</S>"], np.arange(5))
LETTERS = Vocabulary(["x", "\n", " ", "é"], np.ones(4, np.int64))


def sentences(found):
    return [found[k].tolist() for k in range(len(found))]


def test_a_line_of_words_is_a_sentence():
    found = encode_lines(WORDS, ["b a\n", " \n", "", "a  what\tb"])
    assert sentences(found) == [[4, 2, 1, 5], [4, 1, 3, 2, 5]]


def test_a_text_of_characters_is_one_sentence():
    found = encode_lines(LETTERS, ["x \n", "\n", "é"], characters=True)
    assert sentences(found) == [[1, 3, 2, 2, 4]]
    assert found.targets == 4 and found.ids.dtype == np.int32


def test_what_cannot_be_encoded():
    with pytest.raises(InputError) as error:
        encode_lines(LETTERS, ["x\n", "xé?\n"], characters=True, name="f.txt")
    assert str(error.value) == (
        "f.txt:2: the model does not know the character '?'; its 4 are '\\n x\\xe9'."
    )
    for lines in ([], ["x"]):
        with pytest.raises(InputError, match="a text of two characters or more"):
            encode_lines(LETTERS, lines, characters=True)
    with pytest.raises(InputError, match="the text: nothing to score; a line with"):
        encode_lines(WORDS, ["\n"])
    with pytest.raises(InputError, match="no <S>: it is one of characters; give a"):
        encode_lines(LETTERS, ["x"])
