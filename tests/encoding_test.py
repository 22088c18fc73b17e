"""Text as ids of characters."""

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo.language.encoding import encode_characters

LETTERS = Vocabulary(["x", "\n", " ", "é"], np.ones(4, np.int64))


def test_a_text_is_one_sentence():
    found = encode_characters(LETTERS, ["x \n", "\n", "é"])
    assert len(found) == 1 and found[0].tolist() == [1, 3, 2, 2, 4]
    assert found.targets == 4 and found.ids.dtype == np.int32


def test_what_cannot_be_encoded():
    with pytest.raises(InputError) as error:
        encode_characters(LETTERS, ["x\n", "xé?\n"], "f.txt")
    assert str(error.value) == (
        "f.txt:2: the model does not know the character '?'; its 4 are '\\n x\\xe9'."
    )
    for lines in ([], ["x"]):
        with pytest.raises(InputError, match="the text: nothing to score; a text of"):
            encode_characters(LETTERS, lines)
