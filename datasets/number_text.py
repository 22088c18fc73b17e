"""Numbers as Kaldi writes and reads them in text."""

import re
from collections.abc import Iterable

import numpy as np


def parse_floats(words: list[bytes], dtype: type = np.float64) -> np.ndarray:
    """The words as an array.

    Raises:
        ValueError: naming the first word that is not a number.
    """
    try:
        values = list(map(float, words))
    except ValueError:
        values = [_number(word) for word in words]
    if b"_" in b"".join(words):  # Python takes 1_000; nothing else does.
        raise ValueError(_show(next(word for word in words if b"_" in word)))
    with np.errstate(over="ignore"):
        return np.array(values, np.float64).astype(dtype)


def parse_ints(words: list[bytes]) -> np.ndarray:
    """The words as int32.

    Raises:
        ValueError: naming the first word that is no int32.
    """
    try:
        values = np.array(list(map(int, words)), np.int64)
    except (ValueError, OverflowError):
        wrong = next(word for word in words if not _INT.fullmatch(word))
        raise ValueError(_show(wrong)) from None
    if b"_" in b"".join(words):
        raise ValueError(_show(next(word for word in words if b"_" in word)))
    beyond = (values > 2**31 - 1) | (values < -(2**31))
    if beyond.any():
        raise ValueError(_show(words[int(beyond.argmax())]))
    return values.astype(np.int32)


def parse_int_line(line: bytes) -> np.ndarray:
    """The words of a line as int32; raises ValueError as `parse_ints`."""
    if line.translate(None, b"0123456789 \t\r") or not line.strip():
        return parse_ints(line.split())  # Signs, or what is no number at all.
    values = np.fromstring(line, np.int64, sep=" ")
    if values.max() > 2**31 - 1:
        return parse_ints(line.split())
    return values.astype(np.int32)


_INT = re.compile(rb"[+-]?[0-9]{1,18}")


def _number(word: bytes) -> float:
    try:
        return float(word)
    except ValueError:
        raise ValueError(_show(word)) from None


def _show(word: bytes) -> str:
    text = word[:40].decode("utf-8", "backslashreplace")
    return repr(text)


def format_floats(values: Iterable[float]) -> str:
    """Each value in seven significant digits, each followed by a blank."""
    values = tuple(values)
    return ("%.7g " * len(values)) % values


def format_matrix(matrix: np.ndarray) -> str:
    """` [`, a line for each row, `]` and a newline."""
    if matrix.size == 0:
        return " [ ]\n"
    rows = matrix.shape[0]
    line = "\n  " + "%.7g " * matrix.shape[1]
    return " [" + (line * rows) % tuple(matrix.ravel().tolist()) + "]\n"


def format_vector(vector: np.ndarray) -> str:
    """` [ `, the values, `]` and a newline."""
    return " [ " + format_floats(vector.tolist()) + "]\n"
