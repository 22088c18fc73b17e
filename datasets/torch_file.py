"""Reading Torch7 object files (`.t7`, `.th7`), as `torch.save` writes them.

The format, from files and from what is known of Torch: items of an object one
after the other, binary (little-endian) or as text. Nothing in a file is run.
"""

import mmap
import os
import re
from typing import Any

from seqzoo.datasets import files
from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.torch_items import AsciiItems, BinaryItems, Data
from seqzoo.datasets.torch_objects import ObjectReader

_TEXT = re.compile(rb"[ \t\r\n]*[0-8]\r?\n")


def read(
    path: str,
    functions: bool = True,
    long_bytes: int | None = None,
    allow_pipes: bool = True,
) -> Any:
    """The first object of a file.

    A local file is mapped, not read: arrays are views of it and take no memory of
    their own. They are read-only; the file must not be cut while they are used.

    Args:
        path: as `files.open_input` takes it, `.gz` and remote paths too.
        functions: whether Lua functions are taken; if not, they are an error.
        long_bytes: the size of a long of the machine that wrote the file: 8, or 4
            on 32-bit machines and Windows. By default it is found out.
        allow_pipes: whether `command |` may run.

    Returns:
        - nil, booleans, numbers: None, bool, float
        - strings: str, or bytes where it is no UTF-8
        - tables: a dict, whose keys are str, bytes, int (float where it is no whole
          number) or `TableKey`. A table whose keys are 1, 2, ..., n is a list,
          unless it is empty or stands inside itself; see `torch_values.as_list`.
        - tensors and storages, of CUDA too: arrays; those with a storage in common
          share memory. Tensors without dimensions have shape (0,).
        - tds.Vec, tds.Hash: list, dict
        - torch.MultiCudaTensor: an array, its parts joined
        - functions: `TorchFunction`
        - all else: `TorchObject`
        What stands in several places of the file is one Python object.

    Raises:
        InputError: if the file cannot be read, is damaged, or is no Torch7 file.
    """
    with files.open_input(path, allow_pipes=allow_pipes) as reader:
        data, at = _contents(reader)
        return parse(data, reader.name, functions, long_bytes, at)


def parse(
    data: Data,
    name: str,
    functions: bool = True,
    long_bytes: int | None = None,
    at: int = 0,
) -> Any:
    """The object that the bytes from `at` hold; see `read`.

    Args:
        data: the bytes of a file.
        name: what errors call it.
        functions: as for `read`.
        long_bytes: as for `read`.
        at: where the object stands.
    """
    if _TEXT.match(data, at):
        return ObjectReader(AsciiItems(data, name, at), functions).read()
    wrong = _no_torch_file(data[at : at + 8])
    if wrong:
        raise InputError(f"{name}:{at}: {wrong}")
    items = BinaryItems(data, name, at, long_bytes or 8)
    try:
        return ObjectReader(items, functions).read()
    except InputError:
        if long_bytes or not items.longs_read:
            raise
        # Longs of 4 bytes, read as 8, end in nonsense, for they take bytes of what
        # follows. A damaged file of 8 bytes is no whole one of 4; and one of 4 that
        # is damaged itself is read further with the right size.
        short = BinaryItems(data, name, at, 4)
        try:
            value = ObjectReader(short, functions).read()
            if short.sized and not short.left():
                return value
        except InputError:
            if short.at > items.at:
                raise
        raise


def is_one(path: str) -> bool:
    """Whether a file is one of Torch7, by its name or else by its first bytes."""
    if path.endswith((".t7", ".th7", ".t7.gz", ".th7.gz")):
        return True
    if not os.path.isfile(path):
        return False  # Pipes are left alone, for reading would empty them.
    try:
        with open(path, "rb") as file:
            head = file.read(8)
    except OSError:
        return False
    return bool(_TEXT.match(head)) or not _no_torch_file(head)


def _no_torch_file(head: bytes) -> str | None:
    """What is wrong with a binary file that begins so, None if nothing is."""
    taken = "a Torch7 file begins with the type of an object, 0 to 8, in 4 bytes"
    if not head:
        return "the file is empty."
    if head[:4] in (b"PK\3\4", b"\x80\2\x8a\n"):
        return "this is a file of PyTorch, not of Torch7; convert it in PyTorch."
    if head[:2] == b"\x1f\x8b":
        return "the file is packed; give it a name that ends in .gz, or unpack it."
    if head[:3] == b"\0\0\0" and 0 < head[3] <= 8:
        return "the file is big-endian; save it on a little-endian machine."
    if len(head) < 4 or head[0] > 8 or head[1:4] != b"\0\0\0":
        return f"{taken}, or as text on a line; found {head[:8]!r}."
    return None


def _contents(reader: ByteReader) -> tuple[Data, int]:
    """The bytes of the file, and which of them the reader stands at."""
    if reader.path is not None and reader.size:
        with open(reader.path, "rb") as file:
            try:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), (
                    reader.offset
                )
            except (OSError, ValueError):
                pass  # There are file systems without maps.
    left = reader.remaining()
    if left is not None:
        return reader.take(left), 0
    pieces = []
    while not reader.at_end():
        pieces.append(reader.take(reader.buffered()))
    return b"".join(pieces), 0
