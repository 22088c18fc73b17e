"""Kaldi's compressed matrices: CM, CM2 and CM3.

Decoding gives Kaldi's float32 values to the bit, encoding its bytes: each
expression below keeps its float32 roundings and their order.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.errors import InputError

METHODS = {
    1: "CM, or CM2 for up to 8 rows",
    2: "CM: a byte a value, by quartiles of the column",
    3: "CM2: 16 bits a value between minimum and maximum",
    4: "CM2 for whole numbers -32768..32767",
    5: "CM3: a byte a value between minimum and maximum",
    6: "CM3 for whole numbers 0..255",
    7: "CM3 for 0..1",
}
HEADER = struct.Struct("<ffii")
"""Minimum, range, rows, columns; it follows the token."""

SANE = 1e35
"""Where minimum and range are below this, no value overflows."""


def read(source: ByteReader, token: str, at: int) -> np.ndarray:
    """The matrix after its `token`; float32 `(rows, cols)`."""
    low, span, rows, cols, data = _open(source, token, at)
    if data == 0:
        return np.zeros((0, 0), np.float32)
    what = f"a compressed matrix of {rows} rows x {cols} columns"
    body = source.array("u1", data, what, fresh=False)
    if token == "CM":
        return next(decode_columns(body.data, [Columns(0, rows, low, span)], cols))
    if abs(low) + abs(span) < SANE:
        return decode_steps(body.data, 0, token.encode(), rows, cols, low, span)
    with np.errstate(over="ignore", invalid="ignore"):
        return decode_steps(body.data, 0, token.encode(), rows, cols, low, span)


def skip(source: ByteReader, token: str, at: int) -> tuple[int, int]:
    """The shape of the matrix after its `token`, passing over the data."""
    _, _, rows, cols, data = _open(source, token, at)
    source.skip(data, f"a compressed matrix of {rows} rows x {cols} columns")
    return rows, cols


def _open(
    source: ByteReader, token: str, at: int
) -> tuple[float, float, int, int, int]:
    """Minimum, range, rows, columns and the bytes of data that follow."""
    header = source.take(16, "a compressed matrix header")
    low, span, rows, cols = HEADER.unpack(header)
    if rows < 0 or cols < 0 or (rows == 0) != (cols == 0):
        source.fail(
            f"a compressed matrix of {rows} rows x {cols} columns; it is damaged.", at
        )
    if rows == 0:
        # Kaldi writes four bytes more than it reads; no key begins with a zero.
        if source.peek(4) == b"\0\0\0\0":
            source.take(4)
        return low, span, 0, 0, 0
    if token == "CM":
        return low, span, rows, cols, cols * (8 + rows)
    return low, span, rows, cols, rows * cols * (2 if token == "CM2" else 1)


def decode_steps(
    buffer: Any, start: int, token: bytes, rows: int, cols: int, low: float, span: float
) -> np.ndarray:
    """The values of a CM2 or CM3 whose data begin at `start` of `buffer`."""
    dtype, steps = ("<u2", 65535) if token == b"CM2" else ("u1", 255)
    values = np.ndarray((rows, cols), dtype, buffer, start).astype(np.float32)
    values *= np.float32(float(span) * (1 / steps))
    values += np.float32(low)
    return values


class Columns(NamedTuple):
    """Where the data of a CM matrix lie, and how they are scaled."""

    start: int
    """Place in the buffer: four quartile codes a column, then a byte a value,
    column by column."""
    rows: int
    low: float
    """The least value."""
    span: float
    """How far the greatest value lies above it."""


def decode_columns(
    buffer: Any, matrices: Sequence[Columns], cols: int
) -> Iterator[np.ndarray]:
    """The values of CM matrices that are `cols` wide, some decoded at a time.

    Each byte is a place in one of three ranges between the quartiles of its column.
    Long matrices look it up among all values of the column, short ones compute it.
    """
    look_up: _LookUp | None = None
    at = 0
    while at < len(matrices):
        group = matrices[at : at + max(1, _TABLE // cols)]
        values = cols * sum([m.rows for m in group])
        sane = all(abs(m.low) + abs(m.span) < SANE for m in group)
        if sane and cols <= _TABLE and values >= _LONG * cols * len(group):
            look_up = look_up or _LookUp(cols)
            yield from look_up(buffer, group)
        else:
            group = matrices[at : at + max(1, _TOGETHER * len(group) // values)]
            with np.errstate(over="ignore", invalid="ignore"):
                decoded = _compute(buffer, group, cols)
            yield from decoded
        at += len(group)


_TABLE = 256  # Columns that a look-up table has room for.
_LONG = 40  # Rows from which a table pays.
_TOGETHER = 1 << 14  # Values computed in one go, roughly.
_SIXTY_THIRD = np.float64(1 / 63)
_INDEX = np.dtype("<i8")  # Its first bytes are its least, on any machine.

# For each byte of CM: which range it is in, and how far into it. Kaldi scales by
# 1/64, 1/128 and 1/63; only the last must wait for the product's rounding.
_RANGE = np.repeat([0, 1, 2], [65, 128, 63])
_PLACE = np.arange(256) - np.array([0, 64, 192])[_RANGE]
_WEIGHT = np.zeros((256, 3), np.float32)
_WEIGHT[np.arange(256), _RANGE] = _PLACE / np.array([64, 128, 1])[_RANGE]


def _quartiles(buffer: Any, matrices: Sequence[Columns], cols: int) -> np.ndarray:
    """The four marks between which each column's ranges lie, a row a column."""
    heads = [buffer[m.start : m.start + 8 * cols] for m in matrices]
    marks = np.frombuffer(b"".join(heads), "<u2").astype(np.float32)
    marks = marks.reshape(len(heads), cols, 4)
    scales = np.array([m.span for m in matrices], np.float32)
    marks *= (scales * np.float32(1.52590218966964e-05))[:, None, None]
    marks += np.array([m.low for m in matrices], np.float32)[:, None, None]
    return marks.reshape(-1, 4)


class _LookUp:
    """Decodes by a table of all 256 values of each column.

    An index into the table has the byte to be decoded as its own second byte and
    the column as its first, so that it is made by storing bytes.
    """

    _ROWS = 256

    def __init__(self, cols: int):
        self._cols = cols
        self._table = np.empty((256, _TABLE), np.float32)
        self._index = np.empty((self._ROWS, cols), _INDEX)
        self._index[:] = np.arange(cols)
        self._code = self._index.view(np.uint8).reshape(self._ROWS, cols, 8)[:, :, 1]

    def __call__(self, buffer: Any, matrices: Sequence[Columns]) -> list[np.ndarray]:
        cols = self._cols
        self._fill(_quartiles(buffer, matrices, cols))
        tables = self._table.ravel()
        found = []
        for number, matrix in enumerate(matrices):
            rows = matrix.rows
            codes = np.ndarray(
                (rows, cols), np.uint8, buffer, matrix.start + 8 * cols, (1, rows)
            )
            table = tables[number * cols :]
            if rows <= self._ROWS:
                self._code[:rows] = codes
                found.append(table.take(self._index[:rows], mode="wrap"))
                continue
            values = np.empty((rows, cols), np.float32)
            for begin in range(0, rows, self._ROWS):
                some = codes[begin : begin + self._ROWS]
                self._code[: len(some)] = some
                table.take(
                    self._index[: len(some)],
                    mode="wrap",
                    out=values[begin : begin + self._ROWS],
                )
            found.append(values)
        return found

    def _fill(self, quartiles: np.ndarray) -> None:
        marks = np.ascontiguousarray(quartiles.T)
        table = self._table[:, : marks.shape[1]]
        # A row of _WEIGHT has one entry, so the matrix product is that one product,
        # rounded once.
        steps = _WEIGHT @ (marks[1:] - marks[:-1])
        upper = steps[193:].astype(np.float64)  # Kaldi uses double here.
        upper *= _SIXTY_THIRD
        upper += marks[2]
        np.add(steps[:65], marks[0], out=table[:65])
        np.add(steps[65:193], marks[1], out=table[65:193])
        table[193:] = upper


def _compute(buffer: Any, matrices: Sequence[Columns], cols: int) -> list[np.ndarray]:
    """Decodes value by value, column after column."""
    marks = _quartiles(buffer, matrices, cols)
    slopes = np.zeros_like(marks)
    np.subtract(marks[:, 1:], marks[:, :3], out=slopes[:, :3])
    slopes[:, :2] *= np.array([1 / 64, 1 / 128], np.float32)
    bodies = [buffer[m.start + 8 * cols : _end(m, cols)] for m in matrices]
    codes = np.frombuffer(b"".join(bodies), np.uint8)
    third = codes > 192
    second, upper = (codes > 64).view(np.uint8), third.view(np.uint8)
    lengths = np.repeat([m.rows for m in matrices], cols)
    index = np.repeat(np.arange(0, 4 * len(marks), 4).astype(_INDEX), lengths)
    index.view(np.uint8)[::8] += second + upper
    places = codes - second * np.uint8(64)
    places -= upper * np.uint8(128)
    values = slopes.take(index, mode="wrap")
    values *= places
    bases = marks.take(index, mode="wrap")
    where = third.nonzero()[0]
    exact = values.take(where, mode="wrap") * _SIXTY_THIRD  # Kaldi uses double here.
    exact += bases.take(where, mode="wrap")
    values += bases
    values[where] = exact.astype(np.float32)
    found = []
    start = 0
    for matrix in matrices:
        end = start + matrix.rows * cols
        found.append(values[start:end].reshape(cols, matrix.rows).T.copy())
        start = end
    return found


def _end(matrix: Columns, cols: int) -> int:
    return matrix.start + (8 + matrix.rows) * cols


def check_method(method: int) -> None:
    """Raises InputError unless `method` is one of `METHODS`."""
    if method not in METHODS:
        listed = "; ".join(f"{key} {text}" for key, text in METHODS.items())
        raise InputError(f"compression method {method}; known: {listed}.")


def encode(matrix: np.ndarray, method: int) -> bytes:
    """The bytes of a compressed matrix, from its token on.

    Args:
        matrix: `(rows, cols)` float32, finite.
        method: 1 to 7, see `METHODS`.

    Raises:
        InputError: for another method, or values that are not finite.
    """
    check_method(method)
    matrix = np.asarray(matrix, np.float32)
    if matrix.size == 0:
        # The 16 bytes that Kaldi reads; it writes 20 itself and then trips on them.
        return b"CM " + HEADER.pack(0, 0, 0, 0)
    if not np.isfinite(matrix).all():
        raise InputError("values that are not finite cannot be compressed.")
    rows, cols = matrix.shape
    if method == 1:
        method = 2 if rows > 8 else 3
    fixed = {4: (-32768.0, 65535.0), 6: (0.0, 255.0), 7: (0.0, 1.0)}
    low, span = map(np.float32, fixed.get(method) or _extent(matrix))
    header = HEADER.pack(low, span, rows, cols)
    if method == 2:
        return b"CM " + header + _encode_columns(matrix, low, span)
    if method in (3, 4):
        return b"CM2 " + header + _steps(matrix, low, span, 65535).tobytes()
    return b"CM3 " + header + _steps(matrix, low, span, 255).astype("u1").tobytes()


def _extent(matrix: np.ndarray) -> tuple[np.float32, np.float32]:
    """The least value, and how far the greatest lies above it."""
    low, high = matrix.flat[matrix.argmin()], matrix.max()  # The first of 0 and -0.
    if low == high:
        high = np.float32(float(low) + (1 + abs(float(low))))
    with np.errstate(over="ignore"):
        span = high - low
    if not np.isfinite(span):
        raise InputError("values further apart than float32 goes cannot be compressed.")
    return low, span


def _steps(
    values: np.ndarray, low: np.float32, span: np.float32, steps: int
) -> np.ndarray:
    """Each value as a whole number of `steps` from `low` to `low + span`; uint16."""
    share = np.clip((values - low) / span, np.float32(0), np.float32(1))
    return ((share * np.float32(steps)).astype(np.float64) + 0.499).astype("<u2")


def _encode_columns(matrix: np.ndarray, low: np.float32, span: np.float32) -> bytes:
    """The quartile codes of all columns, then their bytes, column by column."""
    rows, cols = matrix.shape
    quarter = rows // 4
    places = [0, quarter, 3 * quarter, rows - 1] if rows >= 5 else range(min(rows, 4))
    ordered = np.sort(matrix, axis=0)[list(places)]
    found = _steps(ordered, low, span, 65535).astype(np.int64)
    marks = np.empty((4, cols), np.int64)
    least = np.zeros(cols, np.int64)
    for i, most in enumerate((65532, 65533, 65534, 65535)):
        wanted = found[i] if i < len(found) else least
        marks[i] = np.minimum(np.maximum(wanted, least), most)
        least = marks[i] + 1
    codes = marks.astype("<u2")
    unit = span * np.float32(1.52590218966964e-05)
    p0, p25, p75, p100 = codes.astype(np.float32) * unit + low

    def part(start: np.ndarray, end: np.ndarray, first: int, steps: int) -> np.ndarray:
        share = (matrix - start) / (end - start)
        whole = np.trunc((share * np.float32(steps)).astype(np.float64) + 0.5)
        return np.clip(first + whole, first, first + steps)

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lower, middle = part(p0, p25, 0, 64), part(p25, p75, 64, 128)
        upper = part(p75, p100, 192, 63)
    chosen = np.where(matrix < p25, lower, np.where(matrix < p75, middle, upper))
    chosen = np.nan_to_num(chosen, nan=0.0).astype(np.uint8)
    return codes.T.tobytes() + chosen.T.tobytes()
