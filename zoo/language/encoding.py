"""A text of characters as the ids that a language model takes."""

from collections.abc import Iterable

import numpy as np

from seqzoo.datasets import character_text
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences


def encode_characters(
    vocabulary: Vocabulary, pieces: Iterable[str], name: str = "the text"
) -> Sentences:
    """A text as one sentence, line ends and blanks included.

    Nothing is put around it, and of its first character nothing is asked.

    Args:
        vocabulary: of a model whose words are characters.
        pieces: one behind the other, with the line ends that they have.
        name: what errors call the text.

    Raises:
        InputError: if there is a character that the model does not know, or nothing to
            score.
    """
    parts = list(character_text.encode(vocabulary, pieces, name))
    found = Sentences.of([np.concatenate([np.zeros(0, np.int32), *parts])])
    if not len(found):
        raise InputError(
            f"{name}: nothing to score; a text of two characters or more is taken."
        )
    return found
