"""WordList: many words in little memory."""

import array
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np

_CODEC = "utf-8", "surrogatepass"
_AT_A_TIME = 1 << 14


class WordList(Sequence[str]):
    """A list of words that cannot be changed.

    800,000 words take 14 MB, where Python's list of them takes 60. Equal to any
    sequence of the same words.

    Args:
        words: of any characters, surrogates among them.
    """

    def __init__(self, words: Iterable[str]):
        text, lengths = bytearray(), array.array("q", [0])
        for word in words:
            part = word.encode(*_CODEC)
            text += part
            lengths.append(len(part))
        self._bytes = bytes(text)
        self._bounds = np.cumsum(np.frombuffer(lengths, np.int64))

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        place = range(len(self))[index]
        begin, end = self._bounds[place : place + 2].tolist()
        return self._bytes[begin:end].decode(*_CODEC)

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _AT_A_TIME):
            bounds = self._bounds[first : first + _AT_A_TIME + 1].tolist()
            for begin, end in zip(bounds, bounds[1:], strict=False):
                yield self._bytes[begin:end].decode(*_CODEC)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and next(self._places(word), None) is not None

    def index(self, word: str, start: int = 0, stop: int | None = None) -> int:
        """The first place of a word; a ValueError if it is not there."""
        for place in self._places(word):
            if place in range(len(self))[start:stop]:
                return place
        raise ValueError(f"{word!r} is not in the list")

    def _places(self, word: str) -> Iterator[int]:
        wanted = word.encode(*_CODEC)
        for place in np.flatnonzero(np.diff(self._bounds) == len(wanted)).tolist():
            if self._bytes.startswith(wanted, int(self._bounds[place])):
                yield place

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WordList):
            same = self._bytes == other._bytes
            return same and np.array_equal(self._bounds, other._bounds)
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(
            a == b for a, b in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"WordList of {len(self)} words"
