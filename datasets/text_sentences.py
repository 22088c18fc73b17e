"""Text, one sentence a line, as word ids of a vocabulary that is there already.

It is read front to back in blocks, so files, pipes and what is still being written are
all the same, and memory does not grow with the text.
"""

import codecs
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from seqzoo.datasets import byte_reader, files
from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_pieces import LINE_BYTES, MARKS
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences

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
        _check(reader.name, block, place)
        found = table.sentences(block)
        if found is None:
            _fail_at_mark(reader.name, block, place)
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


def _check(name: str, block: bytes, place: int) -> None:
    """Raises an InputError unless these are lines of text, the first `place`."""

    def where(byte: int) -> str:
        number = place + block.count(b"\n", 0, byte)
        return f"{name}:{number}"

    def column(byte: int) -> int:
        return byte - block.rfind(b"\n", 0, byte)

    if (byte := block.find(b"\0")) >= 0:
        raise InputError(
            f"{where(byte)}: byte {column(byte)} of the line is NUL, so this is no "
            "text in UTF-8; one of UTF-16 can be converted with iconv."
        )
    line = 0
    while line < len(block):
        end = block.rfind(b"\n", line, line + LINE_BYTES + 1) + 1
        if not end:
            raise InputError(
                f"{where(line)}: a line of more than {LINE_BYTES} bytes; text with "
                "one sentence a line is taken."
            )
        line = end
    if block.isascii():
        return
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = error.start
        raise InputError(
            f"{where(byte)}: byte {column(byte)} of the line, 0x{block[byte]:02x}, is "
            "not UTF-8; convert the file, for instance with iconv."
        ) from None


def _fail_at_mark(name: str, block: bytes, place: int) -> NoReturn:
    for number, line in enumerate(block.split(b"\n"), place):
        for mark in MARKS:
            if mark in line.split():
                raise InputError(
                    f"{name}:{number}: holds the word {mark.decode()}, which marks "
                    "sentences here; it is set by itself at each line, so take it out "
                    "of the text."
                )
    raise AssertionError("no mark in the block")
