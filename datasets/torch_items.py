"""The items that Torch7 object files are made of: numbers, strings, arrays."""

import mmap
import re
import struct
import warnings
from typing import NoReturn

import numpy as np

from seqzoo.datasets.errors import InputError

Data = bytes | mmap.mmap

_INT = struct.Struct("<i")
_DOUBLE = struct.Struct("<d")
_SPACE = re.compile(rb"[ \t\r\n]*")
_WORD = re.compile(rb"[^ \t\r\n]{1,400}")
_WHOLE = re.compile(rb"[+-]?[0-9]{1,19}")


class _Reader:
    """Reads front to back.

    `at` is the byte where the next item stands. `longs_read` tells whether an
    item was read whose size depends on the machine that wrote the file, and
    `sized` whether what was made of longs was checked by what followed.
    """

    def __init__(self, data: Data, name: str, at: int):
        self.data = data
        self.name = name
        self.at = at
        self.longs_read = False
        self.sized = False

    def left(self) -> int:
        """Bytes left."""
        return len(self.data) - self.at

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raises InputError at byte `at`, by default where the next item stands."""
        raise InputError(f"{self.name}:{self.at if at is None else at}: {message}")

    def _need(self, size: int, what: str) -> None:
        if size < 0 or size > self.left():
            self.fail(
                f"{what} takes {size} bytes, but {self.left()} are left; the file is "
                "cut short or damaged."
            )


class BinaryItems(_Reader):
    """The items of a binary file.

    Args:
        data: the file's bytes.
        name: what errors call it.
        at: where the first item stands.
        long_bytes: the size of a long: 8, or 4 from 32-bit machines and Windows.
    """

    def __init__(self, data: Data, name: str, at: int = 0, long_bytes: int = 8):
        super().__init__(data, name, at)
        self.long = np.dtype(f"<i{long_bytes}")

    def integer(self, what: str) -> int:
        """An int of 4 bytes; `what` names it in errors."""
        at = self.at
        if at + 4 > len(self.data):
            self._need(4, what)
        self.at = at + 4
        return _INT.unpack_from(self.data, at)[0]

    def longs(self, count: int, what: str) -> list[int]:
        """Longs, as many as `count`."""
        self.longs_read = True
        size = count * self.long.itemsize
        self._need(size, what)
        at = self.at
        self.at = at + size
        return np.frombuffer(self.data, self.long, count, at).tolist()

    def number(self, what: str) -> float:
        """A double."""
        at = self.at
        if at + 8 > len(self.data):
            self._need(8, what)
        self.at = at + 8
        return _DOUBLE.unpack_from(self.data, at)[0]

    def string(self, what: str) -> bytes:
        """A string with its length before it."""
        at = self.at + 4
        size = self.integer(what)
        if size < 0 or at + size > len(self.data):
            self.at -= 4
            self._need(size if size < 0 else size + 4, what)
        self.at = at + size
        return self.data[at : at + size]

    def array(self, dtype: np.dtype | None, count: int) -> np.ndarray:
        """`count` numbers; longs if `dtype` is None. Read-only."""
        dtype = dtype or self.long
        self._need(count * dtype.itemsize, f"a storage of {count} numbers")
        at = self.at
        self.at = at + count * dtype.itemsize
        if not count:
            return np.empty(0, dtype)
        return np.frombuffer(self.data, dtype, count, at)

    def at_code(self) -> bool:
        """Whether a string of Lua byte code comes next."""
        return self.data[self.at + 4 : self.at + 5] == b"\x1b"


class AsciiItems(_Reader):
    """The items of a text file, each on a line; see `BinaryItems`."""

    def __init__(self, data: Data, name: str, at: int = 0):
        super().__init__(data, name, at)
        self.long = np.dtype("<i8")

    def _word(self, what: str) -> bytes:
        """The next word; the newline behind it is passed over."""
        start = _SPACE.match(self.data, self.at).end()  # type: ignore[union-attr]
        found = _WORD.match(self.data, start)
        if found is None:
            self.fail(f"the file ends where {what} should be; it is cut short.")
        self.at = start
        self._newline(found.end())
        return found[0]

    def _newline(self, at: int) -> None:
        if self.data[at : at + 2] == b"\r\n":
            at += 1
        self.at = at + (self.data[at : at + 1] == b"\n")

    def integer(self, what: str) -> int:
        """An int; `what` names it in errors."""
        at = self.at
        word = self._word(what)
        if _WHOLE.fullmatch(word) is None:
            self.fail(f"{_show(word)} where {what}, a whole number, should be.", at)
        return int(word)

    def longs(self, count: int, what: str) -> list[int]:
        """Longs, as many as `count`."""
        if count > self.left():
            self.fail(f"{what} is cut short or damaged.")
        return [self.integer(what) for _ in range(count)]

    def number(self, what: str) -> float:
        """A double."""
        at = self.at
        word = self._word(what)
        try:
            if b"_" in word:
                raise ValueError
            return float(word)
        except ValueError:
            self.fail(f"{_show(word)} where {what} should be.", at)

    def string(self, what: str) -> bytes:
        """A string with its length before it."""
        start = self.at
        size = self.integer(what)
        if size < 0 or size > self.left():
            left = self.left()
            self.at = start
            self.fail(
                f"{what} takes {size} bytes, but {left} are left; the file is cut "
                "short or damaged."
            )
        return self._raw(size)

    def _raw(self, size: int) -> bytes:
        at = self.at
        self.at = at + size
        if size:
            self._newline(self.at)
        return self.data[at : at + size]

    def array(self, dtype: np.dtype | None, count: int) -> np.ndarray:
        """`count` numbers; longs if `dtype` is None. Read-only."""
        dtype = dtype or self.long
        if not count:
            return np.empty(0, dtype)
        if dtype.itemsize == 1:
            self._need(count, f"a storage of {count} bytes")
            return np.frombuffer(self._raw(count), dtype)
        start = _SPACE.match(self.data, self.at).end()  # type: ignore[union-attr]
        end = self.data.find(b"\n", start)
        end = len(self.data) if end < 0 else end
        if 2 * count - 1 > end - start:
            self.fail(
                f"a storage of {count} numbers, but its line has {end - start} "
                "characters; the file is cut short or damaged."
            )
        values = _parse_line(self.data[start:end], dtype)
        if values is None or values.size != count:
            found = "something else" if values is None else f"{values.size} of them"
            self.fail(f"{count} numbers ({dtype.name}) should be here; found {found}.")
        self._newline(end)
        values.flags.writeable = False
        return values

    def at_code(self) -> bool:
        """Whether a string of Lua byte code comes next."""
        return re.compile(rb"\s*[0-9]+\n\x1b").match(self.data, self.at) is not None


def _parse_line(line: bytes, dtype: np.dtype) -> np.ndarray | None:
    """The numbers of a line, None if there is anything else or one is too large."""
    whole = dtype.kind in "iu"
    if line.translate(None, b"0123456789 \t\r+-" + (b"" if whole else b".eEinfaNIFA")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(line, np.int64 if whole else np.float64, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    if whole and dtype.itemsize < 8 and values.size:
        limits = np.iinfo(dtype)
        if values.min() < limits.min or values.max() > limits.max:
            return None
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _show(word: bytes) -> str:
    return repr(word[:40].decode("utf-8", "backslashreplace"))


Items = BinaryItems | AsciiItems
