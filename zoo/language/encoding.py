"""Text as the ids that a language model takes."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences


def encode_lines(
    vocabulary: Vocabulary,
    lines: Iterable[str],
    characters: bool = False,
    name: str = "the text",
) -> Sentences:
    """A text as sentences.

    Args:
        vocabulary: of the model.
        lines: with the line ends that they have.
        characters: whether the model's words are characters: all of the text is then
            one sentence, line ends and blanks included, and of its first character
            nothing is asked. Otherwise a line is a sentence of words with blanks
            between, `<S>` and `</S>` are put around it, words that are not in the
            vocabulary become `<UNK>`, and lines without a word are left out.
        name: what errors call the text.

    Raises:
        InputError: if there is a character that the model does not know, or nothing to
            score.
    """
    if characters:
        parts = list(_characters(vocabulary, lines, name))
        found = Sentences.of([np.concatenate([np.zeros(0, np.int32), *parts])])
        least = "a text of two characters or more"
    else:
        start, end = [vocabulary.start], [vocabulary.end]
        split = filter(None, map(str.split, lines))
        found = Sentences.of(start + vocabulary.encode(words) + end for words in split)
        least = "a line with a word"
    if not len(found):
        raise InputError(f"{name}: nothing to score; {least} is taken.")
    return found


def _characters(
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
