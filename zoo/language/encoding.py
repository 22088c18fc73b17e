"""A text of characters as the ids that a language model takes."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences


def encode_characters(
    vocabulary: Vocabulary, lines: Iterable[str], name: str = "the text"
) -> Sentences:
    """A text as one sentence, line ends and blanks included.

    Nothing is put around it, and of its first character nothing is asked.

    Args:
        vocabulary: of a model whose words are characters.
        lines: with the line ends that they have.
        name: what errors call the text.

    Raises:
        InputError: if there is a character that the model does not know, or nothing to
            score.
    """
    parts = list(_ids(vocabulary, lines, name))
    found = Sentences.of([np.concatenate([np.zeros(0, np.int32), *parts])])
    if not len(found):
        raise InputError(
            f"{name}: nothing to score; a text of two characters or more is taken."
        )
    return found


def _ids(
    vocabulary: Vocabulary, lines: Iterable[str], name: str
) -> Iterator[np.ndarray]:
    """The ids of each line's characters."""
    for number, line in enumerate(lines, 1):
        ids = np.fromiter(
            map(vocabulary.ids.get, line, itertools.repeat(0)), np.int32, len(line)
        )
        if not ids.all():
            unknown = line[int(np.argmin(ids != 0))]
            raise InputError(
                f"{name}:{number}: the model does not know the character {unknown!r}; "
                f"its {len(vocabulary)} are {_some(vocabulary.words)}."
            )
        yield ids


def _some(characters: Iterable[str]) -> str:
    text = "".join(sorted(characters))
    return ascii(text if len(text) <= 100 else text[:97] + "...")
