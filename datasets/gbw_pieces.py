"""A piece of a text file as numbers: the fast part of reading a corpus.

A piece is a range of whole lines of about 16 MiB. Its words get numbers of its own, in
the order they come, so pieces are read apart from each other, by several processes or
one after another, and again only where a run was stopped. Nothing runs in Python for
each word: the interpreter splits a block, looks all its words up, and NumPy counts.
"""

import codecs
import collections
import dataclasses
import functools
import itertools
import os
import zlib
from collections.abc import Iterator
from typing import IO

import numpy as np

from seqzoo.datasets import text_lines
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.text_lines import LINE_BYTES, MARKS

PIECE_BYTES = 1 << 24
START, END, FIRST_WORD = 0, 1, 2
"""A piece's own numbers of the two marks of a sentence, and of its first word."""

_BLOCK_BYTES = 1 << 21
# Bytes that UTF-8 never has stand for the marks, so no text can be taken for one.
_START_MARK, _END_MARK = b"\xfe", b"\xff"


@dataclasses.dataclass(frozen=True)
class Range:
    """Whole lines of a file: bytes `start` to `end`."""

    path: str
    start: int
    end: int


@dataclasses.dataclass(frozen=True)
class Piece:
    """The sentences of a range.

    Attributes:
        ids: `(n,)` int32, the sentences one after another, each as
            `START, words, END`.
        counts: `(types,)` int64, how often each number stands in `ids`.
        words: the word of number `FIRST_WORD + i`, in UTF-8.
        blank_lines: lines without a word; they are no sentences.
        crc32: of the bytes read.
    """

    ids: np.ndarray
    counts: np.ndarray
    words: list[bytes]
    blank_lines: int
    crc32: int

    def save(self, path: str) -> None:
        """Writes one file, under a temporary name first: it is whole or not there."""
        partial = f"{path}.part"
        with open(partial, "wb") as file:
            np.savez(
                file,
                ids=self.ids,
                counts=self.counts,
                words=np.frombuffer(b"\n".join(self.words), np.uint8),
                rest=np.array([self.blank_lines, self.crc32], np.int64),
            )
        os.replace(partial, path)

    @classmethod
    def load(cls, path: str, with_ids: bool = True) -> "Piece":
        """Reads what `save` wrote; without its ids where these are not needed."""
        with np.load(path, allow_pickle=False) as file:
            words = file["words"].tobytes()
            blank_lines, crc32 = file["rest"].tolist()
            ids = file["ids"] if with_ids else np.zeros(0, np.int32)
            # Split at line feeds only: other bytes may be part of a word.
            split = words.split(b"\n") if words else []
            return cls(ids, file["counts"], split, blank_lines, crc32)


def ranges(path: str, piece_bytes: int = PIECE_BYTES) -> list[Range]:
    """Cuts a file at line ends into ranges of about `piece_bytes`.

    Raises:
        InputError: if the file is empty or cannot be read, or a line is too long.
    """
    cuts = [0]
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            raise InputError(f"{path}: an empty shard; fetch or write it again.")
        while cuts[-1] + piece_bytes < size:
            place = cuts[-1] + piece_bytes - 1
            file.seek(place)
            end = file.read(LINE_BYTES + 1).find(b"\n")
            if end < 0 and place + LINE_BYTES < size:
                raise text_lines.long_line(_where(path, place, 0))
            if end < 0 or place + end + 1 >= size:
                break
            cuts.append(place + end + 1)
    cuts.append(size)
    return [Range(path, *cut) for cut in itertools.pairwise(cuts)]


def read(where: Range) -> Piece:
    """Reads a range.

    Raises:
        InputError: for a line that is too long, is not UTF-8, or holds a NUL or a mark.
    """
    numbers: dict[bytes, int] = collections.defaultdict(itertools.count().__next__)
    for mark in (_START_MARK, _END_MARK):
        numbers[mark]  # START and END.
    parts = []
    blank_lines = crc32 = 0
    for block, raw, place in _blocks(where):
        crc32 = zlib.crc32(raw, crc32)
        if not place:
            block = block.removeprefix(codecs.BOM_UTF8)
        marked = block.replace(b"\n", b" " + _END_MARK + b" " + _START_MARK + b" ")
        words = (_START_MARK + b" " + marked).split()
        words.pop()  # The start after the last line.
        ids = np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))
        del words
        if any(mark in numbers for mark in MARKS):
            raise text_lines.mark_in_text(
                block, functools.partial(_where, where.path, place)
            )
        blank = np.flatnonzero((ids[:-1] == START) & (ids[1:] == END))
        if len(blank):
            blank_lines += len(blank)
            ids = np.delete(ids, np.concatenate([blank, blank + 1]))
        parts.append(ids)
    ids = np.concatenate(parts)
    counts = np.bincount(ids, minlength=len(numbers))
    return Piece(ids, counts, list(numbers)[FIRST_WORD:], blank_lines, crc32)


def crc32(where: Range) -> int:
    """The checksum of a range, as `Piece.crc32`; of what is there, if it is cut off."""
    found, left = 0, where.end - where.start
    with _open(where.path) as file:
        file.seek(where.start)
        while left and (raw := file.read(min(left, _BLOCK_BYTES))):
            found = zlib.crc32(raw, found)
            left -= len(raw)
    return found


def _blocks(where: Range) -> Iterator[tuple[bytes, bytes, int]]:
    """Checked whole lines, the bytes just read, and where in the file the lines are."""
    with _open(where.path) as file:
        file.seek(where.start)
        left, rest, place = where.end - where.start, b"", where.start
        while left:
            raw = file.read(min(left, _BLOCK_BYTES))
            if not raw:
                raise InputError(f"{where.path}: became shorter while it was read.")
            left -= len(raw)
            block = rest + raw
            if left:
                cut = block.rfind(b"\n") + 1
                block, rest = block[:cut], block[cut:]
                if len(rest) > LINE_BYTES:
                    raise text_lines.long_line(_where(where.path, place, cut))
            elif not block.endswith(b"\n"):
                block += b"\n"
            text_lines.check(block, functools.partial(_where, where.path, place))
            yield block, raw, place
            place += len(block)


def _where(path: str, place: int, byte: int) -> str:
    """`file:line` of a byte of the block that begins at `place`."""
    return f"{path}:{_line_number(path, place + byte)}"


def _line_number(path: str, place: int) -> int:
    """The line, from 1, that byte `place` is in."""
    number = 1
    with _open(path) as file:
        while place and (raw := file.read(min(place, _BLOCK_BYTES))):
            number += raw.count(b"\n")
            place -= len(raw)
    return number


def _open(path: str) -> IO[bytes]:
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise InputError(f"{path}: cannot read it: {error.strerror}.") from None
