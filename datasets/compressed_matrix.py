"""Kaldi's compressed matrices: CM, CM2 and CM3.

Decoding gives Kaldi's float32 values to the bit, encoding its bytes: each
expression below keeps its float32 roundings and their order.
"""

import re
import struct
from collections.abc import Sequence
from typing import Any

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
_HEADER = struct.Struct("<ffii")


def read(source: ByteReader, token: str, at: int) -> np.ndarray:
    """The matrix after its `token`; float32 `(rows, cols)`."""
    low, span, rows, cols, data = _open(source, token, at)
    if data == 0:
        return np.zeros((0, 0), np.float32)
    what = f"a compressed matrix of {rows} rows x {cols} columns"
    dtype, count = ("<u2", data // 2) if token == "CM2" else ("u1", data)
    body = source.array(dtype, count, what, fresh=False)
    if abs(low) + abs(span) < 1e35:
        return _decode(body, token, low, span, rows, cols)
    with np.errstate(over="ignore", invalid="ignore"):
        return _decode(body, token, low, span, rows, cols)


def _decode(
    body: np.ndarray, token: str, low: float, span: float, rows: int, cols: int
) -> np.ndarray:
    if token == "CM":
        return decode_columns([body], [low], [span], cols)[0]
    steps = 65535 if token == "CM2" else 255
    step = np.float32(float(span) * (1 / steps))
    values = np.multiply(body, step, dtype=np.float32)
    values += np.float32(low)
    return values.reshape(rows, cols)


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
    low, span, rows, cols = _HEADER.unpack(header)
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


# For each byte of CM: which quartile range it is in, and how far into it. Kaldi
# scales by 1/64, 1/128 and 1/63; only the last must wait for the product's rounding.
_RANGE = np.repeat([0, 1, 2], [65, 128, 63])
_PLACE = np.arange(256) - np.array([0, 64, 192])[_RANGE]
_WEIGHT = np.zeros((256, 3), np.float32)
_WEIGHT[np.arange(256), _RANGE] = _PLACE / np.array([64, 128, 1])[_RANGE]
_UPPER = 193
_SIXTY_THIRD = np.float64(1 / 63)


def decode_columns(
    bodies: Sequence[np.ndarray],
    lows: Sequence[float],
    spans: Sequence[float],
    cols: int,
) -> list[np.ndarray]:
    """The values of CM matrices of one width, decoded together.

    Args:
        bodies: bytes of each: four quartile codes a column, then a byte a value,
            column by column.
        lows: the least value of each.
        spans: how far the greatest value of each lies above it.
        cols: columns of all.
    """
    heads = [body[: 8 * cols] for body in bodies]
    marks = (heads[0] if len(heads) == 1 else np.concatenate(heads)).view("<u2")
    marks = marks.astype(np.float32).reshape(len(heads), cols, 4)
    scales = np.array(spans, np.float32) * np.float32(1.52590218966964e-05)
    marks *= scales[:, None, None]
    marks += np.array(lows, np.float32)[:, None, None]
    marks = np.ascontiguousarray(marks.transpose(0, 2, 1))
    # All 256 values of each column, then one look-up a byte. A row of _WEIGHT has
    # one entry, so the matrix product is that one product, rounded once.
    tables = _WEIGHT @ (marks[:, 1:] - marks[:, :-1])
    upper = tables[:, _UPPER:] * _SIXTY_THIRD  # Kaldi uses double here.
    upper += marks[:, 2:3]
    tables += marks.take(_RANGE, 1)
    tables[:, _UPPER:] = upper
    index: Any = np.uint16 if cols < 256 else np.intp
    columns = np.arange(cols, dtype=index)[:, None]
    found = []
    for body, table in zip(bodies, tables, strict=True):
        codes: Any = body[8 * cols :].astype(index).reshape(cols, -1)
        codes *= index(cols)
        codes += columns
        found.append(table.ravel().take(codes.T.astype(np.intp, order="C")))
    return found


_ENTRY = re.compile(rb"([!-~]{1,200}) \0BCM (.{16})", re.DOTALL)
_TOGETHER = 4
_AHEAD = 1 << 16


def read_run(source: ByteReader) -> list[tuple[str, np.ndarray]]:
    """The next CM matrices of an archive with their keys: a few of one width that
    are in the buffer. None if something else is next, sound or not."""
    keys: list[str] = []
    bodies: list[np.ndarray] = []
    lows: list[float] = []
    spans: list[float] = []
    width = 0
    source.ensure(_AHEAD)
    while len(keys) < _TOGETHER:
        at = source.offset
        found = source.match(_ENTRY, 220, only_buffered=True)
        if found is None:
            break
        low, span, rows, cols = _HEADER.unpack(found[2])
        data = cols * (8 + rows)
        same = rows > 0 and cols == (width or cols) > 0 and data <= source.buffered()
        if not same or not abs(low) + abs(span) < 1e35:
            source.seek(at)
            break
        width = cols
        keys.append(found[1].decode())
        bodies.append(source.array(np.uint8, data, fresh=False))
        lows.append(low)
        spans.append(span)
    if not keys:
        return []
    return list(zip(keys, decode_columns(bodies, lows, spans, width), strict=True))


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
        return b"CM " + _HEADER.pack(0, 0, 0, 0)
    if not np.isfinite(matrix).all():
        raise InputError("values that are not finite cannot be compressed.")
    rows, cols = matrix.shape
    if method == 1:
        method = 2 if rows > 8 else 3
    fixed = {4: (-32768.0, 65535.0), 6: (0.0, 255.0), 7: (0.0, 1.0)}
    low, span = map(np.float32, fixed.get(method) or _extent(matrix))
    header = _HEADER.pack(low, span, rows, cols)
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
