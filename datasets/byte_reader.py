"""Buffered reading of a byte stream that knows its place in the file."""

import os
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from seqzoo.datasets.errors import InputError

_SPACE = re.compile(rb"[ \t\r\n\f\v]*")
_WORD = re.compile(rb"[^ \t\r\n\f\v]*")
_PIECE = 1 << 24
CHUNK = 1 << 18
_LITTLE = 1 << 12

# The C library gives large blocks back to the system and clears them anew for the
# next buffer, unless one as large as this was freed before.
bytearray(1 << 23)

What = str | tuple[int, int]  # What is being read: its name, or a matrix's shape.


def _named(what: What) -> str:
    if isinstance(what, str):
        return what
    return f"a matrix of {what[0]} rows x {what[1]} columns"


class ByteReader:
    """Reads words, bytes and arrays from a stream, front to back.

    It reads ahead, so nothing else may use the stream meanwhile. What a header
    claims is checked against the size of the file before memory is taken; where
    the size is unknown (pipes, gzip), memory grows only with the bytes that come.

    Args:
        stream: an open binary file; anything with `read`.
        name: what errors call it, normally the path.
        size: bytes in the whole stream, None if unknown.
        start: where in the file the stream stands now.
        chunk: bytes asked for at a time.
        path: the file to count lines in when a text error is reported.
        keep_open: whether `close` leaves the stream open.
    """

    def __init__(
        self,
        stream: Any,
        name: str,
        size: int | None = None,
        start: int = 0,
        chunk: int = CHUNK,
        path: str | None = None,
        keep_open: bool = False,
    ):
        self.name = name
        self.size = size
        self.path = path
        self.key: str | None = None  # the utterance being read, for errors
        self._stream = stream
        self._keep_open = keep_open
        self._read = getattr(stream, "read1", stream.read)
        self._readinto = getattr(stream, "readinto", None)
        self._chunk = self._most = chunk
        self._buffer = b""
        self._pos = 0
        self._start = start  # the offset of _buffer[0]

    @property
    def offset(self) -> int:
        """Bytes from the start of the file to the next byte."""
        return self._start + self._pos

    def close(self) -> None:
        """Closes the stream; twice is fine."""
        if not self._keep_open:
            self._stream.close()

    def __enter__(self) -> "ByteReader":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # Errors.

    def fail(self, message: str, at: int | None = None, text: bool = False) -> NoReturn:
        """Raises InputError at byte `at` (default: here), or at its line."""
        key = "" if self.key is None else f"utterance {self.key!r}: "
        raise InputError(f"{self.where(at, text)}: {key}{message}")

    def where(self, at: int | None = None, text: bool = False) -> str:
        """`path:byte`, or `path:line` for a text object where it can be counted."""
        at = self.offset if at is None else at
        line = self._line(at) if text else None
        return f"{self.name}:{at if line is None else line}"

    def _line(self, at: int) -> int | None:
        if self.path is None:
            return None
        lines = 1
        try:
            with open(self.path, "rb") as file:
                while at > 0 and (piece := file.read(min(at, _PIECE))):
                    lines += piece.count(b"\n")
                    at -= len(piece)
        except OSError:
            return None
        return lines

    # The buffer.

    def _pull(self, n: int) -> bytes:
        return self._attempt(self._read, min(n, _PIECE))

    def _attempt(self, do: Callable[[int], Any], n: int) -> Any:
        try:
            return do(n)
        except (EOFError, zlib.error, OSError) as error:
            message = str(error) or type(error).__name__
            if isinstance(error, EOFError):
                message = "the compressed file ends too early; copy it again"
            message = message.rstrip(".")
            raise InputError(f"{self.where()}: cannot read on: {message}.") from None

    def ensure(self, n: int) -> bool:
        """Whether `n` more bytes are there; they are in the buffer then."""
        have = len(self._buffer) - self._pos
        if have >= n:
            return True
        want = n
        if self.size is not None:
            want = min(n, self.size - self.offset)
            if have >= want:
                return False
        pieces = [self._buffer[self._pos :]] if have else []
        if have and self.path is not None:
            # Reading those bytes again costs less than joining the pieces.
            self._attempt(self._stream.seek, self.offset)
            pieces, have = [], 0
        while have < want:
            piece = self._pull(max(self._chunk, want - have))
            self._chunk = min(2 * self._chunk, self._most)
            if not piece:
                break
            pieces.append(piece)
            have += len(piece)
        self._start += self._pos
        self._pos = 0
        self._buffer = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return have >= n

    def window(self, n: int) -> tuple[bytes, int]:
        """The buffer and the place in it where the next bytes, `n` of them or
        all there are, stand. Nothing is consumed."""
        self.ensure(n)
        return self._buffer, self._pos

    def remaining(self) -> int | None:
        """Bytes left, None if the stream's size is unknown."""
        return None if self.size is None else max(0, self.size - self.offset)

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self._pos == len(self._buffer) and not self.ensure(1)

    # Reading.

    def peek(self, n: int) -> bytes:
        """The next `n` bytes, fewer at the end, not consumed."""
        self.ensure(n)
        return self._buffer[self._pos : self._pos + n]

    def check(self, n: int, what: What) -> None:
        """Fails if the file is known to be too short for `n` more bytes."""
        left = self.remaining()
        if left is not None and n > left:
            self.fail(
                f"{_named(what)} takes {n} bytes, but only {left} are left; "
                "the file is cut short or damaged."
            )

    def take(self, n: int, what: What = "the object") -> bytes:
        """Exactly `n` bytes."""
        pos = self._pos
        if pos + n > len(self._buffer):
            self.check(n, what)
            if not self.ensure(n):
                left = len(self._buffer) - self._pos
                self.fail(
                    f"{_named(what)} takes {n} bytes, but only {left} are left; "
                    "the file is cut short or damaged."
                )
            pos = self._pos
        self._pos = pos + n
        return self._buffer[pos : pos + n]

    def array(
        self, dtype: Any, count: int, what: What = "the object", fresh: bool = True
    ) -> np.ndarray:
        """`count` numbers as a 1-D array; read-only perhaps, unless `fresh`."""
        dtype = np.dtype(dtype)
        n = count * dtype.itemsize
        pos = self._pos
        have = len(self._buffer) - pos
        if have < n < self._most // 4 and self.ensure(n):
            pos, have = self._pos, n
        if n <= have:
            self._pos = pos + n
            found = np.frombuffer(self._buffer, dtype, count, pos)
            return found.copy() if fresh else found
        self.check(n, what)
        if self.size is None or self._readinto is None:
            return np.frombuffer(bytearray(self.take(n, what)), dtype)
        out = np.empty(count, dtype)
        view = memoryview(out.data).cast("B")
        view[:have] = self._buffer[pos:]
        self._chunk = min(_LITTLE, self._most)  # What follows may be as big.
        self._start += len(self._buffer)
        self._buffer, self._pos = b"", 0
        while have < n:
            got = self._readinto(view[have : have + (1 << 30)])
            if not got:
                self.fail(f"{_named(what)} ends early; the file changed meanwhile.")
            have += got
            self._start += got
        return out

    def skip(self, n: int, what: str = "the object") -> None:
        """Passes over `n` bytes, seeking where that saves reading."""
        have = len(self._buffer) - self._pos
        if n <= have:
            self._pos += n
            return
        self.check(n, what)
        if self.size is not None:
            self.seek(self.offset + n)
            return
        while n > 0:
            step = min(n, self._chunk)
            self.take(step, what)
            n -= step

    def seek(self, offset: int) -> None:
        """Goes to byte `offset` of the file; free if it is in the buffer."""
        place = offset - self._start
        if 0 <= place <= len(self._buffer):
            self._pos = place
            return
        self._attempt(self._stream.seek, offset)
        if not 0 <= place - len(self._buffer) <= _LITTLE:
            self._chunk = min(_LITTLE, self._most)  # Perhaps it goes on elsewhere.
        self._buffer, self._pos, self._start = b"", 0, offset

    def buffered(self) -> int:
        """Bytes that are in the buffer already."""
        return len(self._buffer) - self._pos

    def match(
        self, pattern: re.Pattern[bytes], ahead: int, only_buffered: bool = False
    ) -> re.Match[bytes] | None:
        """Passes over `pattern`, which takes at most `ahead` bytes, if it is next."""
        if self._pos + ahead > len(self._buffer) and not only_buffered:
            self.ensure(ahead)
        found = pattern.match(self._buffer, self._pos)
        if found is not None:
            self._pos = found.end()
        return found

    def skip_space(self) -> None:
        """Passes over white space, newlines too."""
        while True:
            self._pos = _SPACE.match(self._buffer, self._pos).end()  # type: ignore[union-attr]
            if self._pos < len(self._buffer) or not self.ensure(1):
                return

    def word(self, limit: int = 1 << 16) -> bytes:
        """Bytes up to white space or the end; the white space stays."""
        seen = 0
        while True:
            end = _WORD.match(self._buffer, self._pos + seen).end()  # type: ignore[union-attr]
            seen = end - self._pos
            if end < len(self._buffer) or not self.ensure(seen + 1):
                break
            if seen > limit:
                break
        if seen > limit:
            self.fail(f"no white space in {limit} bytes; this is not Kaldi data.")
        self._pos += seen
        return self._buffer[self._pos - seen : self._pos]

    def through(self, delimiter: bytes, what: str) -> bytes:
        """Bytes up to and with `delimiter`."""
        seen = 0
        while True:
            found = self._buffer.find(delimiter, self._pos + seen)
            if found >= 0:
                break
            seen = len(self._buffer) - self._pos
            want = seen + max(1, min(seen, _PIECE))
            if not self.ensure(want) and len(self._buffer) - self._pos == seen:
                self.fail(f"{what} has no closing {delimiter.decode()!r}.", text=True)
        start, self._pos = self._pos, found + len(delimiter)
        return self._buffer[start : self._pos]

    def line(self) -> bytes:
        """Bytes up to a newline, which is consumed, or to the end."""
        seen = 0
        while True:
            found = self._buffer.find(b"\n", self._pos + seen)
            if found >= 0:
                break
            seen = len(self._buffer) - self._pos
            want = seen + max(1, min(seen, _PIECE))
            if not self.ensure(want) and len(self._buffer) - self._pos == seen:
                found = len(self._buffer)
                break
        start, self._pos = self._pos, min(found + 1, len(self._buffer))
        return self._buffer[start:found]

    def lines(self) -> Iterator[bytes]:
        """All lines that are left, without their newlines."""
        while not self.at_end():
            end = self._buffer.rfind(b"\n", self._pos)
            if end < 0:
                yield self.line()
            else:
                start, self._pos = self._pos, end + 1
                yield from self._buffer[start:end].split(b"\n")


def of_stream(stream: Any, name: str) -> ByteReader:
    """A ByteReader over `stream`; its size is asked only where that is free."""
    if isinstance(stream, ByteReader):
        return stream
    size: int | None
    try:
        start = stream.tell()
        size = os.fstat(stream.fileno()).st_size
        if not stream.seekable() or size == 0 or hasattr(stream, "mtime"):
            size = None
    except (AttributeError, OSError, ValueError):
        start, size = 0, None
        if hasattr(stream, "getbuffer"):
            start, size = stream.tell(), stream.getbuffer().nbytes
    path = name if size is not None and os.path.isfile(name) else None
    return ByteReader(stream, name, size, start, path=path)
