"""Kaldi's basic types, one after the other, in a binary or a text stream."""

import re
import struct
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from seqzoo.datasets import byte_reader, compressed_matrix, number_text

_INT = struct.Struct("<bi")
_FLOAT = struct.Struct("<bf")
_DOUBLE = struct.Struct("<bd")
_TWO_INTS = struct.Struct("<bibi")
_TWO_RAW = struct.Struct("<ii")
_FLOAT_MATRIX = re.compile(rb"FM \x04(.{4})\x04(.{4})", re.DOTALL)
_F4 = np.dtype("<f4")
_RAW_COUNT = struct.Struct("<bi")
MATRIX_TOKENS = ("FM", "DM", "CM", "CM2", "CM3")
VECTOR_TOKENS = ("FV", "DV")
_NAMES = {
    "FM": "a float matrix (FM)",
    "DM": "a double matrix (DM)",
    "CM": "a compressed matrix (CM)",
    "CM2": "a compressed matrix (CM2)",
    "CM3": "a compressed matrix (CM3)",
    "FV": "a float vector (FV)",
    "DV": "a double vector (DV)",
}


class ObjectReader:
    """Reads tokens, numbers, vectors and matrices of Kaldi in file order.

    Args:
        stream: an open binary file, or a `ByteReader`; the reader reads ahead, so
            nothing else may use the stream meanwhile.
        name: what errors call the file, normally its path.
        binary: the form; None looks for the `\\0B` that opens binary objects
            here, and passes over it. `start` looks again, for archives.

    Every error is an InputError naming the file and the byte, or the line in text.
    """

    def __init__(self, stream: Any, name: str, binary: bool | None = None):
        self.bytes = byte_reader.of_stream(stream, name)
        self.binary = bool(binary)
        if binary is None:
            self.start()

    @property
    def offset(self) -> int:
        """Bytes from the start of the file."""
        return self.bytes.offset

    def start(self) -> bool:
        """Sets `binary` by the next bytes, passing over a `\\0B`."""
        self.binary = self.bytes.peek(2) == b"\0B"
        if self.binary:
            self.bytes.take(2)
        return self.binary

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raises InputError at byte `at` (default: here), or at its line."""
        self.bytes.fail(message, at, text=not self.binary)

    def at_end(self) -> bool:
        """Whether nothing, or in text only white space, is left."""
        if not self.binary:
            self.bytes.skip_space()
        return self.bytes.at_end()

    def peek(self, n: int = 1) -> bytes:
        """The next `n` bytes, fewer at the end; in text, after white space."""
        if not self.binary:
            self.bytes.skip_space()
        return self.bytes.peek(n)

    def peek_token(self) -> str:
        """The next token, not consumed; empty at the end."""
        window, pos = self.bytes.window(4096)
        words = window[pos : pos + 4096].split(None, 1)
        return words[0].decode("utf-8", "replace") if words else ""

    # Basic types.

    def read_token(self) -> str:
        """A word and the white space that ends it."""
        if not self.binary:
            self.bytes.skip_space()
        at = self.offset
        word = self.bytes.word()
        if not word:
            end = self.bytes.at_end()
            self.fail(f"expected a token, found {'the end' if end else 'a blank'}.", at)
        if not self.bytes.at_end():
            self.bytes.take(1)
        try:
            return word.decode("utf-8")
        except UnicodeDecodeError:
            self.fail(f"expected a token, found the bytes {word[:20]!r}.", at)

    def expect_token(self, *tokens: str) -> str:
        """A token that must be one of `tokens`."""
        at = self.offset
        token = self.read_token()
        if token not in tokens:
            self.fail(f"expected {' or '.join(tokens)}, found {token[:80]!r}.", at)
        return token

    def _text_word(self, what: str) -> bytes:
        word = self.bytes.word()
        if not word:
            self.fail(f"expected {what}, found the end of the file.")
        return word

    def read_int32(self) -> int:
        """An int32."""
        if not self.binary:
            self.bytes.skip_space()
        at = self.offset
        if self.binary:
            size, value = _INT.unpack(self.bytes.take(5, "an int32"))
            if size != 4:
                self.fail(f"expected an int32 (size byte 4), found size {size}.", at)
            return value
        word = self._text_word("an integer")
        try:
            return int(number_text.parse_ints([word])[0])
        except ValueError as error:
            self.fail(f"expected an integer, found {error}.", at)

    def read_float(self) -> float:
        """A float or a double, whichever is there."""
        if not self.binary:
            self.bytes.skip_space()
        at = self.offset
        if self.binary:
            size = self.bytes.peek(1)
            if size == b"\4":
                return _FLOAT.unpack(self.bytes.take(5, "a float"))[1]
            if size == b"\10":
                return _DOUBLE.unpack(self.bytes.take(9, "a double"))[1]
            found = f"size {size[0]}" if size else "the end of the file"
            self.fail(f"expected a float (size byte 4 or 8), found {found}.", at)
        word = self._text_word("a number")
        try:
            return float(number_text.parse_floats([word])[0])
        except ValueError as error:
            self.fail(f"expected a number, found {error}.", at)

    def read_bool(self) -> bool:
        """`T` or `F`."""
        if not self.binary:
            self.bytes.skip_space()
        at = self.offset
        char = self.bytes.peek(1)
        if char not in (b"T", b"F"):
            self.fail(f"expected T or F, found {char!r}.", at)
        self.bytes.take(1)
        return char == b"T"

    # Vectors and matrices.

    def read_int32_vector(self) -> np.ndarray:
        """An integer vector as models hold it; tables lay it out otherwise."""
        at = self.offset
        if not self.binary:
            self.bytes.skip_space()
            at = self.offset
            words = self._bracketed("an integer vector").split()
            try:
                return number_text.parse_ints(words)
            except ValueError as error:
                self.fail(f"expected an integer vector, found {error} in it.", at)
        size, count = _RAW_COUNT.unpack(self.bytes.take(5, "an integer vector"))
        if size != 4 or count < 0:
            self.fail(
                "expected an integer vector (size byte 4 and a count), "
                f"found size {size} and count {count}.",
                at,
            )
        return self.bytes.array("<i4", count, f"an integer vector of {count}")

    def read_vector(self, double: bool = False) -> np.ndarray:
        """A float vector; float32, or float64 if `double`."""
        if not self.binary:
            return self._text_vector(np.float64 if double else np.float32)
        at = self.offset
        token = self.read_token()
        if token not in VECTOR_TOKENS:
            self.fail(f"expected a vector (FV, DV), found {describe(token)}.", at)
        dim = self.read_int32()
        if dim < 0:
            self.fail(f"a vector of {dim} values; the file is damaged.", at)
        dtype = "<f4" if token == "FV" else "<f8"
        return _cast(self.bytes.array(dtype, dim, f"a vector of {dim}"), double)

    def read_matrix(self, double: bool = False) -> np.ndarray:
        """A matrix, plain or compressed; float32, or float64 if `double`."""
        if not self.binary:
            return self._text_matrix(np.float64 if double else np.float32)
        at = self.offset
        token = self.read_token()
        if token in ("FM", "DM"):
            rows, cols = self._plain_header(at)
            dtype = "<f4" if token == "FM" else "<f8"
            what = f"a matrix of {rows} rows x {cols} columns"
            values = self.bytes.array(dtype, rows * cols, what)
            return _cast(values.reshape(rows, cols), double)
        if token in MATRIX_TOKENS:
            matrix = compressed_matrix.read(self.bytes, token, at)
            return _cast(matrix, double)
        self.fail(
            f"expected a matrix ({', '.join(MATRIX_TOKENS)}), found {describe(token)}.",
            at,
        )

    def plain_matrix(self, double: bool = False) -> np.ndarray | None:
        """A binary float matrix in one step, if one stands here; else None, and
        nothing is consumed."""
        found = self.bytes.match(_FLOAT_MATRIX, 13)
        if found is None:
            return None
        rows, cols = _TWO_RAW.unpack(found[1] + found[2])
        if rows <= 0 or cols <= 0:
            self.bytes.seek(self.bytes.offset - 13)
            return None
        matrix = self.bytes.array(_F4, rows * cols, (rows, cols)).reshape(rows, cols)
        return _cast(matrix, True) if double else matrix

    def read_shape(self) -> tuple[int, int]:
        """The rows and columns of a matrix, passing over its data."""
        if not self.binary:
            rows, cols = self._text_matrix(np.float32).shape
            return rows, cols
        at = self.offset
        token = self.read_token()
        if token in ("FM", "DM"):
            rows, cols = self._plain_header(at)
            size = rows * cols * (4 if token == "FM" else 8)
            self.bytes.skip(size, f"a matrix of {rows} rows x {cols} columns")
            return rows, cols
        if token in MATRIX_TOKENS:
            return compressed_matrix.skip(self.bytes, token, at)
        self.fail(
            f"expected a matrix ({', '.join(MATRIX_TOKENS)}), found {describe(token)}.",
            at,
        )

    def _plain_header(self, at: int) -> tuple[int, int]:
        header = self.bytes.take(10, "a matrix header")
        size, rows, also, cols = _TWO_INTS.unpack(header)
        if size != 4 or also != 4:
            self.fail("the matrix header is damaged: its integers are not int32.", at)
        if rows < 0 or cols < 0 or (rows == 0) != (cols == 0):
            self.fail(f"a matrix of {rows} rows x {cols} columns; it is damaged.", at)
        return rows, cols

    def _bracketed(self, what: str) -> bytes:
        """What stands between the next `[` and its `]`, and passes the line end."""
        self.bytes.skip_space()
        at = self.offset
        if self.bytes.peek(1) != b"[":
            word = self.bytes.peek(40).split(None, 1)
            found = repr(word[0].decode("utf-8", "backslashreplace")) if word else ""
            self.fail(f"expected {what} in [ ], found {found or 'the end'}.", at)
        body = self.bytes.through(b"]", what)[1:-1]
        if body.find(b"[") >= 0:
            self.fail(f"{what} has a [ inside [ ]; its ] may be missing.", at)
        self._line_end()
        return body

    def _line_end(self) -> None:
        end = self.bytes.peek(2)
        if end == b"\r\n":
            self.bytes.take(2)
        elif end[:1] == b"\n":
            self.bytes.take(1)

    def _text_vector(self, dtype: type) -> np.ndarray:
        self.bytes.skip_space()
        at = self.offset
        body = self._bracketed("a vector")
        try:
            return number_text.parse_floats(body.split(), dtype)
        except ValueError as error:
            self.fail(f"expected a vector of numbers, found {error} in it.", at)

    def _text_matrix(self, dtype: type) -> np.ndarray:
        self.bytes.skip_space()
        at = self.offset
        body = self._bracketed("a matrix")
        lines = body.replace(b";", b"\n").split(b"\n")
        rows = [row for line in lines if (row := line.split())]
        if not rows:
            return np.zeros((0, 0), dtype)
        cols = len(rows[0])
        for number, row in enumerate(rows):
            if len(row) != cols:
                self.fail(
                    f"row {number} of the matrix has {len(row)} columns, but row 0 "
                    f"has {cols}; all rows must be of one length.",
                    at,
                )
        words = body.split() if b";" not in body else [w for row in rows for w in row]
        try:
            values = number_text.parse_floats(words, dtype)
        except ValueError as error:
            self.fail(f"expected a matrix of numbers, found {error} in it.", at)
        return values.reshape(len(rows), cols)


def describe(token: str) -> str:
    """What an object's first token says it is."""
    return _NAMES.get(token) or f"{token[:80]!r}"


def _cast(values: np.ndarray, double: bool) -> np.ndarray:
    dtype = np.float64 if double else np.float32
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore"):
        return values.astype(dtype)


class ObjectWriter:
    """Writes what `ObjectReader` reads, byte for byte as Kaldi does.

    Args:
        stream: an open binary file; anything with `write`.
        binary: the form.
        header: whether to open with the `\\0B` of binary objects.
    """

    def __init__(self, stream: Any, binary: bool, header: bool = True):
        self.stream = stream
        self.binary = binary
        if binary and header:
            stream.write(b"\0B")

    def write_token(self, token: str) -> None:
        """A word and a blank."""
        self.stream.write(token.encode() + b" ")

    def write_newline(self) -> None:
        """A newline in text, nothing in binary."""
        if not self.binary:
            self.stream.write(b"\n")

    def write_int32(self, value: int) -> None:
        """An int32."""
        if self.binary:
            self.stream.write(_INT.pack(4, value))
        else:
            self.stream.write(b"%d " % value)

    def write_float(self, value: float) -> None:
        """A float32."""
        if self.binary:
            self.stream.write(_FLOAT.pack(4, value))
        else:
            self.stream.write(number_text.format_floats([float(value)]).encode())

    def write_bool(self, value: bool) -> None:
        """`T` or `F`."""
        text = b"T" if value else b"F"
        self.stream.write(text if self.binary else text + b" ")

    def write_int32_vector(self, values: Iterable[int]) -> None:
        """An integer vector as models hold it."""
        ints = np.asarray(values, "<i4")
        if self.binary:
            self.stream.write(_RAW_COUNT.pack(4, ints.size) + ints.tobytes())
        else:
            words = "".join(f"{value} " for value in ints.tolist())
            self.stream.write(b"[ " + words.encode() + b"]\n")

    def write_vector(self, values: Any, double: bool = False) -> None:
        """A float vector: FV, or DV if `double`."""
        vector = np.ascontiguousarray(values, "<f8" if double else "<f4")
        if self.binary:
            token = b"DV " if double else b"FV "
            self.stream.write(token + _INT.pack(4, vector.size) + vector.tobytes())
        else:
            self.stream.write(number_text.format_vector(vector).encode())

    def write_matrix(self, values: Any, double: bool = False) -> None:
        """A matrix: FM, or DM if `double`."""
        matrix = np.ascontiguousarray(values, "<f8" if double else "<f4")
        if self.binary:
            rows, cols = matrix.shape if matrix.size else (0, 0)
            token = b"DM " if double else b"FM "
            self.stream.write(token + _TWO_INTS.pack(4, rows, 4, cols))
            self.stream.write(matrix.data if matrix.size else b"")
        else:
            self.stream.write(number_text.format_matrix(matrix).encode())
