"""Binary matrices that lie in a buffer one after the other, read together.

A matrix read by itself costs as much in steps of Python as in arithmetic; here the
steps are few. What is not plain and sound is left to `ObjectReader`.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.compressed_matrix import (
    HEADER,
    SANE,
    Columns,
    decode_columns,
    decode_steps,
)

_ENTRY = re.compile(rb"([!-~]{1,200}) \0B(FM|CM|CM2|CM3) ")
_OBJECT = re.compile(rb"()\0B(FM|CM|CM2|CM3) ")
_FLOAT_HEADER = struct.Struct("<bibi")
_FLOAT = np.dtype("<f4")
_AHEAD = 256  # Room for a key and a header.
# A matrix that is not in the buffer as a whole is read into it up to this size;
# larger floats are better read straight into their array.
_WAITED_FOR = {b"FM": 1 << 16, b"CM": 1 << 18, b"CM2": 1 << 18, b"CM3": 1 << 18}

# Token, where the data begin, rows, columns, minimum, range; or, where there is no
# token, the matrix itself.
_Found = tuple[bytes, Any, int, int, float, float]


class Run:
    """Matrices found in a reader's buffer, which it has passed over.

    Iterating decodes them: float32 `(rows, cols)`, each the caller's own.

    Attributes:
        keys: of the entries of an archive; of objects, empty bytes.
    """

    def __init__(self, buffer: bytes, keys: list[bytes], found: list[_Found]):
        self.keys = keys
        self._buffer = buffer
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[np.ndarray]:
        buffer, found = self._buffer, self._found
        columns: Iterator[np.ndarray] = iter(())
        left = 0
        for at, (token, data, rows, cols, low, span) in enumerate(found):
            if not token:
                yield data
            elif token == b"FM":
                yield np.ndarray((rows, cols), _FLOAT, buffer, data).copy()
            elif token == b"CM":
                if not left:
                    group = self._columns(at)
                    columns, left = decode_columns(buffer, group, cols), len(group)
                yield next(columns)
                left -= 1
            else:
                yield decode_steps(buffer, data, token, rows, cols, low, span)

    def _columns(self, at: int) -> list[Columns]:
        """The CM matrices of one width that follow each other from number `at`."""
        width = self._found[at][3]
        group: list[Columns] = []
        for token, data, rows, cols, low, span in self._found[at:]:
            if token != b"CM" or cols != width:
                break
            group.append(Columns(data, rows, low, span))
        return group


def scan_entries(source: ByteReader) -> Run:
    """The next entries of an archive; none if something else is next, sound or not.

    Raises:
        InputError: one that is too large for the buffer is cut short.
    """
    return _scan(source, _ENTRY, None)


def scan_objects(source: ByteReader, offsets: Sequence[int]) -> Run:
    """The matrices at the first of `offsets`, which ascend; perhaps none.

    `source` stands at the first of them.
    """
    return _scan(source, _OBJECT, offsets)


def _scan(
    source: ByteReader, pattern: re.Pattern[bytes], offsets: Sequence[int] | None
) -> Run:
    """A run of entries, one behind the other, or of objects at `offsets`."""
    buffer, begin = source.window(_AHEAD)
    starts = None if offsets is None else iter(offsets)
    first = source.offset - begin
    end = len(buffer)
    last = end - _FLOAT_HEADER.size
    place, start = begin, begin
    keys: list[bytes] = []
    matrices: list[_Found] = []
    low = span = 0.0
    while True:
        if starts is not None:
            start = next(starts, first + end + 1) - first
        if start > last or (found := pattern.match(buffer, start)) is None:
            break
        key, token = found.groups()
        header = found.end()
        if header > last:
            break
        if token == b"FM":
            size, rows, also, cols = _FLOAT_HEADER.unpack_from(buffer, header)
            data = header + _FLOAT_HEADER.size
            stop = data + 4 * rows * cols
            sound = size == also == 4
        elif header + HEADER.size > end:
            break
        else:
            low, span, rows, cols = HEADER.unpack_from(buffer, header)
            data = header + HEADER.size
            stop = data + rows * cols
            if token == b"CM":
                stop += 8 * cols
            elif token == b"CM2":
                stop += rows * cols
            sound = abs(low) + abs(span) < SANE
        if not sound or rows <= 0 or cols <= 0:
            break
        if stop > end:
            if not keys and stop - begin <= _WAITED_FOR[token]:
                if source.ensure(stop - begin):
                    return _scan(source, pattern, offsets)
            elif not keys and token == b"FM":
                source.key = key.decode() or source.key
                source.skip(data - begin)
                whole = source.array(_FLOAT, rows * cols, (rows, cols))
                return Run(b"", [key], [(b"", whole.reshape(rows, cols), 0, 0, 0, 0)])
            break
        keys.append(key)
        matrices.append((token, data, rows, cols, low, span))
        place = start = stop
    source.skip(place - begin)
    return Run(buffer, keys, matrices)
