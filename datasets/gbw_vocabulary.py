"""The vocabulary of a language model: words, their ids, and how often they come."""

import array
import dataclasses
import functools
import heapq
import itertools
import operator
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.word_list import WordList

UNKNOWN, START, END = "<UNK>", "<S>", "</S>"
SPECIAL = (UNKNOWN, START, END)
MOST_TYPES = 1 << 21
"""So many different words are counted in memory (about 400 MB); more go to disk."""

_ESCAPED = re.compile(r"[\\\n\udc80-\udcff]")
_ESCAPES = re.compile(r"\\(?:\\|n|x[89a-f][0-9a-f])")


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Words and their counts in the training text.

    The word of id `i` is `words[i - 1]`: ids begin with 1, as in Torch, and 0 stands
    between sentences. `<UNK>`, `<S>` and `</S>` are among the words, but not where
    these are characters.

    Attributes:
        words: each once. Bytes that are no UTF-8 stand as Python's surrogate escapes.
        counts: `(words,)` int64; their sum is the size of the training text,
            both marks of every sentence included.
    """

    words: Sequence[str]
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

    @functools.cached_property
    def ids(self) -> dict[str, int]:
        """Word -> id."""
        return dict(zip(self.words, itertools.count(1)))

    @property
    def unknown(self) -> int:
        """The id of `<UNK>`; an `InputError` where these are characters."""
        return self._special(UNKNOWN)

    @property
    def start(self) -> int:
        """The id of `<S>`; an `InputError` where these are characters."""
        return self._special(START)

    @property
    def end(self) -> int:
        """The id of `</S>`; an `InputError` where these are characters."""
        return self._special(END)

    def _special(self, word: str) -> int:
        if word not in self._marks:
            raise InputError(
                f"the vocabulary has no {word}: it is one of characters; give a model "
                "of words."
            )
        return self._marks[word]

    @functools.cached_property
    def _marks(self) -> dict[str, int]:
        """The ids of special words, for which `ids` need not be made."""
        words = self.words
        return {word: words.index(word) + 1 for word in SPECIAL if word in words}

    def encode(self, words: Iterable[str]) -> list[int]:
        """The ids of words; that of `<UNK>` for one that is not there."""
        return list(map(self.ids.get, words, itertools.repeat(self.unknown)))

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The words of ids."""
        return [self.words[i - 1] for i in ids]

    def save(self, path: str) -> None:
        r"""Writes `word count` lines, all or none; the word of id `i` is on line `i`.

        In words, `\\` stands for a backslash, `\n` for the end of a line and `\xff` for
        a byte that is no UTF-8.
        """
        words = (_ESCAPED.sub(_escape, word) for word in self.words)
        lines = map("{} {}\n".format, words, self.counts.tolist())
        partial = f"{path}.partial"
        with open(partial, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        os.replace(partial, path)

    @classmethod
    def load(cls, path: str, characters: bool = False) -> "Vocabulary":
        """Reads what `save` wrote.

        Args:
            path: of the file.
            characters: whether these are characters, with no `<UNK>`, `<S>`, `</S>`.

        Raises:
            InputError: for a line that is no word with a count, a word that comes
                twice, or one of `<UNK>`, `<S>`, `</S>` missing.
        """
        try:
            with open(path, "rb") as file:
                text = file.read().decode("utf-8")
        except OSError as error:
            raise InputError(f"{path}: cannot read it: {error.strerror}.") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: byte {error.start} is not UTF-8.") from None
        counts = array.array("q")

        def words() -> Iterator[str]:
            for number, line in enumerate(_lines(text), 1):
                word, space, count = line.rpartition(" ")
                if not word or not space or not count.isdecimal():
                    raise InputError(
                        f"{path}:{number}: {line[:40]!r} is not a word and its count."
                    )
                counts.append(int(count))
                yield _ESCAPES.sub(_unescape, word) if "\\" in word else word

        vocabulary = cls(WordList(words()), np.frombuffer(counts, np.int64))
        return vocabulary.checked(path, characters)

    def checked(self, where: str, characters: bool = False) -> "Vocabulary":
        """Itself, if each word is there once and the three special ones are.

        Args:
            where: begins errors.
            characters: as in `load`.

        Raises:
            InputError: if not.
        """
        # Numbers for words, as a set of 800,000 would take 80 MB.
        known = np.fromiter(map(hash, self.words), np.int64, len(self))
        if len(np.unique(known)) != len(self) and len(self.ids) != len(self):
            again = next(w for i, w in enumerate(self.words, 1) if self.ids[w] != i)
            raise InputError(f"{where}: the word {again!r} is there twice.")
        for word in SPECIAL:
            if word not in self._marks and not characters:
                raise InputError(
                    f"{where}: there is no word {word}; all of "
                    f"{' '.join(SPECIAL)} are needed."
                )
        return self

    def check_same(self, other: "Vocabulary", ours: str, others: str) -> None:
        """Raises an error unless the other one gives every word the same id.

        Args:
            other: to compare with.
            ours: names this one in the error, say "data/cache".
            others: names the other one, say "exp/lm".

        Raises:
            InputError: names the first id whose words differ.
        """
        if self.words == other.words:
            return
        pairs = enumerate(zip(self.words, other.words, strict=False), 1)
        differs = next(((i, a, b) for i, (a, b) in pairs if a != b), None)
        sizes = f"{len(self)} words there, {len(other)} in {others}"
        if differs:
            number, ours_there, others_there = differs
            sizes += f"; id {number} is {ours_there!r} and {others_there!r}"
        raise InputError(
            f"{ours}: its vocabulary is not that of {others} ({sizes}); make the "
            f"data with the vocabulary of {others}."
        )


def _lines(text: str) -> Iterator[str]:
    """Its lines, one after another: a list of 800,000 would take 60 MB."""
    start, size = 0, len(text.removesuffix("\n"))
    while start <= size:
        end = text.find("\n", start, size)
        end = size if end < 0 else end
        yield text[start:end]
        start = end + 1


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char == "\n":
        return r"\n"
    return r"\\" if char == "\\" else f"\\x{ord(char) - 0xDC00:02x}"


def _unescape(found: re.Match[str]) -> str:
    code = found[0][1:]
    if code[0] == "x":
        return chr(0xDC00 + int(code[1:], 16))
    return "\n" if code == "n" else code


def make(
    counted: Iterable[tuple[bytes, int]], sentences: Callable[[], int], min_count: int
) -> Vocabulary:
    """The vocabulary of a text.

    Words that come at least `min_count` times get the first ids, by how often they
    come; of words that come equally often, the one whose UTF-8 bytes are less is
    first. The last three ids are `<UNK>`, `<S>`, `</S>`, as in Torch's set. `<UNK>`
    takes the counts of all other words, and of words `<UNK>` in the text.

    Args:
        counted: words and their counts; a word comes once.
        sentences: tells, when all are counted, how many there are: each has one `<S>`
            and one `</S>`.
        min_count: 3 in the benchmark.
    """
    kept, unknown = {}, 0
    special = {word.encode() for word in SPECIAL}
    for word, count in counted:
        if count >= min_count and word not in special:
            kept[word] = count
        else:
            unknown += count
    words = sorted(kept)
    counts = np.array([kept[word] for word in words], np.int64)
    order = np.argsort(-counts, kind="stable")
    names = [words[i].decode("utf-8") for i in order.tolist()]
    rest = np.array([unknown, sentences(), sentences()], np.int64)
    return Vocabulary([*names, *SPECIAL], np.concatenate([counts[order], rest]))


def recount(
    given: Vocabulary,
    counted: Iterable[tuple[bytes, int]],
    sentences: Callable[[], int],
) -> Vocabulary:
    """A vocabulary with the counts of another text; arguments as in `make`.

    A word of count 0 can come of it.
    """
    counts = np.zeros(len(given), np.int64)
    unknown = given.unknown
    for word, count in counted:
        counts[given.ids.get(word.decode("utf-8"), unknown) - 1] += count
    for mark in (given.start, given.end):
        counts[mark - 1] = sentences()
    return Vocabulary(given.words, counts)


def total(
    pieces: Iterable[tuple[Sequence[bytes], Sequence[int]]],
    folder: str,
    most_types: int = MOST_TYPES,
) -> Iterator[tuple[bytes, int]]:
    """Adds up the counts of pieces, with no more than so many words in memory.

    Args:
        pieces: words, each once in a piece, and their counts.
        folder: for temporary files, where there are too many different words.
        most_types: words to hold at a time; one piece's words come on top.

    Yields:
        Each word and its count in all pieces, in no special order.
    """
    with tempfile.TemporaryDirectory(prefix="counts-", dir=folder) as scratch:
        runs: list[str] = []
        held: dict[bytes, int] = {}
        for words, counts in pieces:
            before = map(held.get, words, itertools.repeat(0))
            held.update(zip(words, map(operator.add, before, counts), strict=True))
            if len(held) > most_types:
                runs.append(os.path.join(scratch, str(len(runs))))
                _write_run(held, runs[-1])
                held = {}
        if not runs:
            yield from held.items()
            return
        sources = [_read_run(path) for path in runs] + [iter(sorted(held.items()))]
        merged = heapq.merge(*sources, key=operator.itemgetter(0))
        for word, same in itertools.groupby(merged, key=operator.itemgetter(0)):
            yield word, sum(count for _, count in same)


def _write_run(held: dict[bytes, int], path: str) -> None:
    with open(path, "wb") as file:
        for word in sorted(held):
            file.write(b"%b %d\n" % (word, held[word]))


def _read_run(path: str) -> Iterator[tuple[bytes, int]]:
    with open(path, "rb") as file:
        for line in file:
            word, _, count = line.rpartition(b" ")
            yield word, int(count)
