"""Writing Torch7 object files."""

import math
import struct
from typing import Any

import numpy as np

from seqzoo.datasets import files, torch_tensors
from seqzoo.datasets.torch_values import TableKey, TorchObject

_INT = struct.Struct("<i")
_DOUBLE = struct.Struct("<d")


def write(path: str, value: Any, **options: Any) -> None:
    """Writes an object to `path`; see `to_bytes`.

    Raises:
        InputError: if the file cannot be written.
    """
    data = to_bytes(value, **options)
    out = files.Output(path)
    try:
        out.write(data)
    except BaseException:
        out.discard()
        raise
    out.commit()


def to_bytes(value: Any, ascii: bool = False, long_bytes: int = 8) -> bytes:
    """An object as the bytes of a Torch7 file, as `torch.save` writes it.

    Args:
        value: None, bool, number, str (as UTF-8), bytes, array (a tensor; one
            without elements loses its shape), list or tuple (a table with keys
            1, 2, ...), dict (its keys may be `TableKey`), `TorchObject`. What
            stands in several places is written once; cycles are fine.
        ascii: write text.
        long_bytes: bytes of a long in a binary file.

    Raises:
        TypeError: if a value has no counterpart in Torch.
    """
    out: BinaryOut | AsciiOut = AsciiOut() if ascii else BinaryOut(long_bytes)
    indices: dict[int, int] = {}
    kept = []  # An id belongs to one object only as long as that lives.
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, np.generic):
            item = item.item()
        if isinstance(item, TableKey):
            item = item.value
        if item is None:
            out.integer(0)
        elif isinstance(item, bool):
            out.integer(5)
            out.integer(int(item))
        elif isinstance(item, int | float):
            out.integer(1)
            out.number(float(item))
        elif isinstance(item, str | bytes):
            out.integer(2)
            out.string(item.encode() if isinstance(item, str) else item)
        elif isinstance(item, list | tuple | dict | TorchObject | np.ndarray):
            table = isinstance(item, list | tuple | dict)
            out.integer(3 if table else 4)
            known = id(item) in indices
            # A tensor's storage has an index too: the one after the tensor's.
            index = indices.setdefault(id(item), 2 * len(indices) + 1)
            out.integer(index)
            if known:
                continue
            kept.append(item)
            if isinstance(item, np.ndarray):
                _write_tensor(out, item, index + 1)
            elif isinstance(item, TorchObject):
                out.string(b"V 1")
                out.string(item.class_name.encode())
                todo.append(item.fields)
            else:
                pairs = list(
                    item.items() if isinstance(item, dict) else enumerate(item, 1)
                )
                out.integer(len(pairs))
                todo += [part for pair in reversed(pairs) for part in reversed(pair)]
        else:
            raise TypeError(f"{type(item).__name__}: Torch has no such value.")
    return b"".join(
        part if isinstance(part, bytes) else part.tobytes() for part in out.parts
    )


def _write_tensor(
    out: "BinaryOut | AsciiOut", array: np.ndarray, storage_index: int
) -> None:
    kind = torch_tensors.kind(array)
    out.string(b"V 1")
    out.string(f"torch.{kind}Tensor".encode())
    shape = array.shape if array.size else ()
    out.integer(len(shape))
    out.longs(list(shape))
    out.longs([math.prod(shape[i + 1 :]) for i in range(len(shape))])
    out.longs([1])
    if not array.size:
        out.integer(0)
        return
    out.integer(4)
    out.integer(storage_index)
    out.string(b"V 1")
    out.string(f"torch.{kind}Storage".encode())
    out.longs([array.size])
    out.array(array.reshape(-1))


class BinaryOut:
    """Writes items of a binary file into `parts`, a list of bytes and arrays."""

    def __init__(self, long_bytes: int = 8):
        self._long = np.dtype(f"<i{long_bytes}")
        self.parts: list[bytes | np.ndarray] = []

    def integer(self, value: int) -> None:
        """An int of 4 bytes."""
        self.parts.append(_INT.pack(value))

    def longs(self, values: list[int]) -> None:
        """Longs."""
        self.parts.append(np.array(values, self._long).tobytes())

    def number(self, value: float) -> None:
        """A double."""
        self.parts.append(_DOUBLE.pack(value))

    def string(self, value: bytes) -> None:
        """A string."""
        self.parts += [_INT.pack(len(value)), value]

    def array(self, values: np.ndarray) -> None:
        """Numbers; those of 8-byte integers as longs."""
        if values.dtype == np.dtype("<i8"):
            values = values.astype(self._long)
        self.parts.append(np.ascontiguousarray(values))


class AsciiOut:
    """Writes items of a text file into `parts`."""

    def __init__(self) -> None:
        self.parts: list[bytes | np.ndarray] = []

    def integer(self, value: int) -> None:
        """An int on a line."""
        self.parts.append(b"%d\n" % value)

    def longs(self, values: list[int]) -> None:
        """Longs on a line."""
        if values:
            self.parts.append(" ".join(map(str, values)).encode() + b"\n")

    def number(self, value: float) -> None:
        """A double on a line."""
        self.parts.append(_digits(value, 17) + b"\n")

    def string(self, value: bytes) -> None:
        """A string: its length on a line, and its bytes."""
        self.parts.append(b"%d\n" % len(value) + (value + b"\n" if value else b""))

    def array(self, values: np.ndarray) -> None:
        """Numbers on a line; bytes as they are."""
        if not values.size:
            return
        if values.dtype.itemsize == 1:
            self.parts.append(values.tobytes() + b"\n")
        elif values.dtype.kind == "i":
            self.longs(values.tolist())
        else:
            digits = 17 if values.dtype.itemsize == 8 else 9
            words = [_digits(value, digits) for value in values.tolist()]
            self.parts.append(b" ".join(words) + b"\n")


def _digits(value: float, digits: int) -> bytes:
    if math.isnan(value):
        return b"nan"
    return f"{value:.{digits}g}".encode()
