"""Text, one sentence a line, as word ids of a vocabulary that is there already.

It is read front to back in blocks, so files, pipes and what is still being written are
all the same, and memory does not grow with the text.
"""

import codecs
import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from seqzoo.datasets import byte_reader, files, text_lines
from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences
from seqzoo.datasets.text_lines import LINE_BYTES, MARKS

BLOCK_BYTES = 1 << 21

# Bytes that UTF-8 never has stand for the marks, so no text can be taken for one.
_START, _END = b"\xfe", b"\xff"
_MARK_IN_TEXT = -1


def text_sentences(
    sources: Iterable[str | Any],
    vocabulary: Vocabulary,
    *,
    allow_pipes: bool = True,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Sentences]:
    """The sentences of tokenised text, some at a time, in order.

    A line is `<S>`, its words, `</S>`; words are parted by white space, those that are
    not in the vocabulary are `<UNK>`. Lines without a word are no sentences.

    Args:
        sources: what `files.open_input` takes (paths, also `.gz`; `-`; `command |`),
            or binary files that are open.
        vocabulary: gives the ids.
        allow_pipes: whether `command |` may run.
        block_bytes: of text that is held at a time, and `LINE_BYTES` more.

    Raises:
        InputError: names source and line: for one that holds no word, and a line that
            is too long, is not UTF-8, or holds a NUL or a mark.
    """
    table = _Table(vocabulary)
    for source in sources:
        if isinstance(source, str):
            reader = files.open_input(source, allow_pipes=allow_pipes)
        else:
            name = getattr(source, "name", None)
            reader = byte_reader.of_stream(source, str(name or "the text"))
        with reader:
            yield from _of_one(reader, table, block_bytes)


class _Table:
    """Word in UTF-8 -> id."""

    def __init__(self, vocabulary: Vocabulary):
        # Words of old models need not be UTF-8; no text has those.
        pairs = vocabulary.ids.items()
        self._ids = {word.encode("utf-8", "surrogateescape"): n for word, n in pairs}
        self._ids |= dict.fromkeys(MARKS, _MARK_IN_TEXT)
        self._ids |= {_START: vocabulary.start, _END: vocabulary.end}
        self._unknown = vocabulary.unknown
        self._start = vocabulary.start

    def sentences(self, lines: bytes) -> Sentences | None:
        """Of whole lines; None if a mark is among the words."""
        marked = lines.replace(b"\n", b" " + _END + b" " + _START + b" ")
        words = (_START + b" " + marked).split()
        words.pop()  # The start after the last line.
        found = map(self._ids.get, words, itertools.repeat(self._unknown))
        ids = np.fromiter(found, np.int32, len(words))
        if (ids == _MARK_IN_TEXT).any():
            return None
        starts = np.flatnonzero(ids == self._start)
        lengths = np.diff(starts, append=len(ids))
        real = lengths > 2
        if not real.all():
            ids = ids[np.repeat(real, lengths)]
            starts = np.cumsum([0, *lengths[real]])[:-1]
        return Sentences.cut(ids, starts)


def _of_one(reader: ByteReader, table: _Table, block_bytes: int) -> Iterator[Sentences]:
    place, empty = 1, True  # `place` is the line that a block begins with.
    for block in _blocks(reader, block_bytes):
        if place == 1:
            block = block.removeprefix(codecs.BOM_UTF8)
        where = functools.partial(_where, reader.name, block, place)
        text_lines.check(block, where)
        found = table.sentences(block)
        if found is None:
            raise text_lines.mark_in_text(block, where)
        place += block.count(b"\n")
        if len(found):
            empty = False
            yield found
    if empty:
        lines = f"{place - 1} blank lines" if place > 1 else "an empty file"
        raise InputError(
            f"{reader.name}: {lines}, no word; text with one sentence a line is taken."
        )


def _blocks(reader: ByteReader, block_bytes: int) -> Iterator[bytes]:
    """Whole lines; or more bytes of one than it may have, at the end."""
    rest = b""
    while piece := reader.peek(block_bytes):
        reader.take(len(piece))
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
        if len(rest) > LINE_BYTES:
            yield rest
    if rest:
        yield rest + b"\n"


def _where(name: str, block: bytes, place: int, byte: int) -> str:
    """`file:line` of a byte of a block whose first line is `place`."""
    lines = block.count(b"\n", 0, byte)
    return f"{name}:{place + lines}"
