"""One value of a table: how each kind is read, written and told apart."""

import re
from typing import Any

import numpy as np

from seqzoo.datasets import compressed_matrix, number_text, posterior
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import (
    MATRIX_TOKENS,
    VECTOR_TOKENS,
    ObjectReader,
    ObjectWriter,
    describe,
)

_INT_RECORD = np.dtype([("size", "i1"), ("value", "<i4")])
_INT_WORD = re.compile(rb"[+-]?[0-9]+")
_KEY_AND_OBJECT = re.compile(rb"[^\0- \x7f]{1,4000}[ \t]\0B")

KINDS: dict[str, str] = {
    "matrix": f"matrices ({', '.join(MATRIX_TOKENS)})",
    "vector": f"vectors ({', '.join(VECTOR_TOKENS)})",
    "int32_vector": "integer vectors",
    "posterior": "posteriors",
    "token": "one word each",
    "tokens": "words",
    "any": "matrices, vectors, integer vectors, posteriors or words",
}

_KIND_OF_TOKEN = {
    **dict.fromkeys(MATRIX_TOKENS, "matrix"),
    **dict.fromkeys(VECTOR_TOKENS, "vector"),
}


def check_kind(kind: str) -> None:
    """Raises ValueError unless `kind` is one that tables have."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r}; known kinds: {', '.join(KINDS)}.")


def read(reader: ObjectReader, kind: str, double: bool = False) -> Any:
    """The value that stands next; `reader.start()` has been called."""
    if kind == "matrix" and reader.binary:
        plain = reader.plain_matrix(double)
        if plain is not None:
            return plain
    if kind == "any":
        kind = _guess(reader)
    elif kind in ("token", "tokens"):
        return _read_words(reader, kind)
    else:
        _check_form(reader, kind)
    if kind == "matrix":
        return reader.read_matrix(double)
    if kind == "vector":
        return reader.read_vector(double)
    if kind == "int32_vector":
        return _read_ints(reader)
    if kind == "posterior":
        return posterior.read(reader)
    return _read_words(reader, kind)


def read_shape(reader: ObjectReader) -> tuple[int, int]:
    """The shape of the matrix that stands next, passing over it."""
    _check_form(reader, "matrix")
    return reader.read_shape()


def _check_form(reader: ObjectReader, kind: str) -> None:
    """Fails if the object is plainly of another kind."""
    if not reader.binary:
        if kind == "int32_vector" and _first_text_byte(reader) == b"[":
            reader.fail(f"found a [, but {_wanted(kind)}; {_way_out('vector')}.")
        if kind in ("matrix", "vector") and reader.peek() != b"[":
            start = (reader.peek(40).split(None, 1) or [b"the end"])[0]
            reader.fail(
                f"found {start.decode('utf-8', 'backslashreplace')!r}, "
                f"but {_wanted(kind)}, in text between [ and ]; "
                f"{_way_out('int32_vector')}."
            )
        return
    head = reader.bytes.peek(16)
    if head[:1] == b"\4":
        if kind in ("matrix", "vector"):
            reader.fail(
                f"holds integers or a posterior, but {_wanted(kind)}; "
                f"{_way_out('int32_vector', 'posterior')}."
            )
        return
    token = head.split(b" ", 1)[0].decode("ascii", "backslashreplace")
    if token in MATRIX_TOKENS and kind != "matrix":
        reader.fail(
            f"holds {describe(token)}, but {_wanted(kind)}; {_way_out('matrix')}."
        )
    if token in VECTOR_TOKENS and kind != "vector":
        reader.fail(
            f"holds {describe(token)}, but {_wanted(kind)}; {_way_out('vector')}."
        )
    if token not in MATRIX_TOKENS + VECTOR_TOKENS:
        _unknown(reader, token)


def _unknown(reader: ObjectReader, token: str) -> None:
    if token.startswith("<"):
        token = reader.peek_token()
    reader.fail(
        f"found type {token[:60]!r}, which is not supported; supported: "
        f"{', '.join(MATRIX_TOKENS + VECTOR_TOKENS)}, integer vectors and posteriors."
    )


def _wanted(kind: str) -> str:
    return f"{KINDS[kind]} are read here"


def _way_out(*kinds: str) -> str:
    """What to do with a file of another kind."""
    listed = " or ".join(f"kind={kind!r}" for kind in kinds)
    return f"read it with {listed}, or pass another file"


def _first_text_byte(reader: ObjectReader) -> bytes:
    """The first byte that is no blank, on this line or, if that is blank, b"\\n"."""
    n = 64
    while True:
        window = reader.bytes.peek(n)
        rest = window.lstrip(b" \t")
        if rest or len(window) < n:
            return rest[:1]
        n *= 2


def _guess(reader: ObjectReader) -> str:
    """The kind of the next object, by its first bytes."""
    if reader.binary:
        head = reader.bytes.peek(16)
        token = head.split(b" ", 1)[0].decode("ascii", "backslashreplace")
        if token in MATRIX_TOKENS:
            return "matrix"
        if token in VECTOR_TOKENS:
            return "vector"
        if head[:1] != b"\4":
            _unknown(reader, token)
        return "int32_vector" if _ends_as_ints(reader, head) else "posterior"
    if _first_text_byte(reader) == b"[":
        return _guess_bracketed(reader)
    window, pos = reader.bytes.window(1 << 16)
    line = window[pos:].split(b"\n", 1)[0]
    if all(_INT_WORD.fullmatch(word) for word in line.split()):
        return "int32_vector"
    return "tokens" if len(line.split()) > 1 else "token"


def _ends_as_ints(reader: ObjectReader, head: bytes) -> bool:
    """Whether a key or the end follows, if this is read as an integer vector.

    A posterior begins with the number of its frames as a vector does with that of
    its elements, but its bytes go on after as many numbers.
    """
    count = int.from_bytes(head[1:5], "little", signed=True)
    left = reader.bytes.remaining()
    if count < 0 or (left is not None and 5 + 5 * count > left):
        return True  # Broken either way; the vector's error is the plainer one.
    window, pos = reader.bytes.window(5 + 5 * count + 4100)
    rest = window[pos + 5 + 5 * count : pos + 5 + 5 * count + 4100]
    return not rest or bool(_KEY_AND_OBJECT.match(rest))


def _guess_bracketed(reader: ObjectReader) -> str:
    window, pos = reader.bytes.window(1 << 16)
    line = window[pos:].split(b"\n", 1)[0].strip()
    if line == b"[" or b"]" not in line or line == b"[ ]":
        return "matrix"
    return "posterior" if line.count(b"[") > 1 else "vector"


def _read_ints(reader: ObjectReader) -> np.ndarray:
    at = reader.offset
    if not reader.binary:
        try:
            return number_text.parse_int_line(reader.bytes.line())
        except ValueError as error:
            reader.fail(f"expected integers, found {error}.", at)
    count = reader.read_int32()
    if count < 0:
        reader.fail(f"an integer vector of {count}; it is damaged.", at)
    what = f"an integer vector of {count}"
    records = reader.bytes.array(_INT_RECORD, count, what, fresh=False)
    if (records["size"] != 4).any():
        reader.fail(
            f"an integer vector of {count} holds other things than int32 "
            "(a posterior has the same first bytes); read it as the kind it is.",
            at,
        )
    return records["value"].astype(np.int32)


def _read_words(reader: ObjectReader, kind: str) -> Any:
    at = reader.offset
    try:
        words = reader.bytes.line().decode("utf-8").split()
    except UnicodeDecodeError:
        reader.fail("expected words, found bytes that are not UTF-8 text.", at)
    if kind == "tokens":
        return words
    if len(words) != 1:
        reader.fail(f"expected one word, found {len(words)}.", at)
    return words[0]


def _array(value: Any, ndim: int, dtype: Any, kind: str) -> np.ndarray:
    array = np.asarray(value)
    if array.ndim != ndim and not (ndim == 2 and array.size == 0):
        raise InputError(
            f"a {kind} has {ndim} axes, but the value has shape {array.shape}."
        )
    if array.dtype != dtype:
        with np.errstate(over="ignore"):
            array = array.astype(dtype)
    return array


def write(
    stream: Any,
    value: Any,
    kind: str,
    binary: bool,
    compression_method: int = 0,
    double: bool = False,
) -> None:
    """Writes one value, with the `\\0B` of binary objects."""
    if kind == "any":
        kind = _kind_of(value)
    if kind in ("token", "tokens"):
        words = [value] if kind == "token" else list(value)
        for word in words:
            if not isinstance(word, str) or len(word.split()) != 1:
                raise InputError(f"{word!r} is not one word without white space.")
        text = value if kind == "token" else "".join(f"{word} " for word in words)
        stream.write(text.encode() + b"\n")
    elif kind == "int32_vector":
        _write_ints(stream, value, binary)
    elif kind == "posterior":
        if not isinstance(value, posterior.Posterior):
            value = posterior.Posterior.from_frames(value)
        stream.write((b"\0B" if binary else b"") + posterior.to_bytes(value, binary))
    elif kind == "vector":
        vector = _array(value, 1, np.float64 if double else np.float32, kind)
        ObjectWriter(stream, binary).write_vector(vector, double)
    else:
        matrix = _array(value, 2, np.float64 if double else np.float32, kind)
        if binary and compression_method:
            method = compression_method
            stream.write(b"\0B" + compressed_matrix.encode(matrix, method))
        else:
            ObjectWriter(stream, binary).write_matrix(matrix, double)


def _kind_of(value: Any) -> str:
    if isinstance(value, posterior.Posterior):
        return "posterior"
    if isinstance(value, str):
        return "token"
    if isinstance(value, list) and value and isinstance(value[0], str):
        return "tokens"
    array = np.asarray(value)
    if array.ndim == 2:
        return "matrix"
    return "int32_vector" if array.dtype.kind in "iu" else "vector"


def _write_ints(stream: Any, value: Any, binary: bool) -> None:
    array = np.asarray(value)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(
            f"an integer vector has 1 axis of integers, but the value has shape "
            f"{array.shape} of {array.dtype}."
        )
    ints = array.astype("<i4")
    if array.size and (ints != array).any():
        raise InputError("an integer vector holds values beyond int32.")
    if not binary:
        stream.write("".join(f"{number} " for number in ints.tolist()).encode() + b"\n")
        return
    records = np.empty(1 + len(ints), _INT_RECORD)
    records["size"] = 4
    records["value"][0] = len(ints)
    records["value"][1:] = ints
    stream.write(b"\0B" + records.tobytes())
