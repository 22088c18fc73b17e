"""Kaldi's compressed matrices: CM, CM2 and CM3.

Decoding gives Kaldi's float32 values to the bit, encoding its bytes: each
expression below keeps its float32 roundings and their order.
"""

import struct

import numpy as np

from seqzoo.datasets.byte_reader import ByteReader

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
    with np.errstate(over="ignore", invalid="ignore"):
        if token == "CM":
            body = source.take(data, what)
            return decode_columns(body, low, span, rows, cols)
        dtype, steps = ("<u2", 65535) if token == "CM2" else ("u1", 255)
        codes = np.frombuffer(source.take(data, what), dtype)
        values = codes.astype(np.float32)
        values *= np.float32(span) * np.float32(1 / np.float32(steps))
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


def decode_columns(
    body: bytes, low: float, span: float, rows: int, cols: int
) -> np.ndarray:
    """The values of CM: four quartile codes a column, then bytes by column."""
    marks = np.frombuffer(body, "<u2", 4 * cols).astype(np.float32)
    marks *= np.float32(span) * np.float32(1.52590218966964e-05)
    marks += np.float32(low)
    p0, p25, p75, p100 = marks.reshape(cols, 4).T[:, :, None]
    codes = np.frombuffer(body, np.uint8, rows * cols, 8 * cols).reshape(cols, rows)
    values = codes.astype(np.float32)
    lower = p0 + (p25 - p0) * values * np.float32(1 / 64)
    middle = p25 + (p75 - p25) * (values - 64) * np.float32(1 / 128)
    upper = p75 + (p100 - p75) * (values - 192) * np.float32(1 / np.float32(63))
    return np.where(codes <= 64, lower, np.where(codes <= 192, middle, upper)).T.copy()
