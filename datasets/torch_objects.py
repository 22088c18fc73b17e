"""Reads one object of a Torch7 file, with all that it refers to."""

import math
import re
from collections.abc import Generator
from typing import Any

import numpy as np

from seqzoo.datasets import torch_tensors
from seqzoo.datasets.torch_items import Items
from seqzoo.datasets.torch_values import TableKey, TorchFunction, TorchObject

_NIL, _NUMBER, _STRING, _TABLE, _TORCH, _BOOLEAN = range(6)
_FUNCTION, _OLD_FUNCTION, _INDEXED_FUNCTION = 6, 7, 8
_VERSION = re.compile(rb"V -?[0-9]+")
_WAITING = object()

# Reads an object; each value yielded is the same for an object inside, whose value
# comes back. So the depth of a file is not limited by Python's stack.
Reading = Generator[Any, Any, Any]


class ObjectReader:
    """Reads objects.

    Args:
        items: the file.
        functions: whether Lua functions are taken.
    """

    def __init__(self, items: Items, functions: bool = True):
        self._items = items
        self._functions = functions
        self._objects: dict[int, Any] = {}
        self._open: set[int] = set()  # Tables that are being read,
        self._cyclic: set[int] = set()  # and those of them found inside themselves.

    def read(self) -> Any:
        """The next object.

        Raises:
            InputError: if it is damaged or of a kind that is not taken.
        """
        ready, value = self._begin()
        stack: list[Reading] = []
        while True:
            if not ready:
                stack.append(value)
                value = None
            elif not stack:
                return value
            try:
                value = stack[-1].send(value)
                ready = False
            except StopIteration as end:
                stack.pop()
                ready, value = True, end.value

    def _begin(self) -> tuple[bool, Any]:
        """True and a value that is complete, or False and what reads the value."""
        items = self._items
        at = items.at
        kind = items.integer("the type of an object")
        if kind == _NUMBER:
            return True, items.number("a number")
        if kind == _STRING:
            return True, _text(items.string("a string"))
        if kind == _NIL:
            return True, None
        if kind == _BOOLEAN:
            return True, items.integer("a boolean") != 0
        if kind < 0 or kind > _INDEXED_FUNCTION:
            items.fail(
                f"an object of type {kind}, but the types are 0 to 8; the file is "
                "damaged or not one of Torch7.",
                at,
            )
        if kind == _FUNCTION and items.at_code():  # Its own form: without index.
            return False, self._function(None, at)
        index = items.integer("the index of an object")
        if index in self._objects:
            if index in self._open:
                self._cyclic.add(index)
            known = self._objects[index]
            if known is _WAITING:
                items.fail("a tensor that stands inside itself; the file is damaged.")
            return True, known
        if kind == _TABLE:
            return False, self._table(index)
        if kind == _TORCH:
            return False, self._torch(index)
        return False, self._function(index, at)

    def _table(self, index: int) -> Reading:
        items = self._items
        at = items.at
        count = items.integer("the size of a table")
        if count < 0 or 2 * count > items.left():
            items.fail(f"a table of {count} entries; the file is damaged.", at)
        table: dict[Any, Any] = {}
        self._objects[index] = table
        self._open.add(index)
        yield from self._entries(table, count)
        self._open.discard(index)
        if index in self._cyclic or not all(i + 1 in table for i in range(len(table))):
            return table
        if not table:
            return table
        values = [table[i + 1] for i in range(len(table))]
        self._objects[index] = values
        return values

    def _entries(self, table: dict[Any, Any], count: int) -> Reading:
        for _ in range(count):
            at = self._items.at
            ready, key = self._begin()
            if not ready:
                key = yield key
            if isinstance(key, float):
                if math.isnan(key):
                    self._items.fail("NaN as a table's key; the file is damaged.", at)
                if key.is_integer():
                    key = int(key)
            elif key is None:
                self._items.fail("nil as a table's key; the file is damaged.", at)
            elif not isinstance(key, str | bytes):
                key = TableKey(key)
            ready, value = self._begin()
            if not ready:
                value = yield value
            table[key] = value

    def _function(self, index: int | None, at: int) -> Reading:
        if not self._functions:
            self._items.fail(
                "a Lua function, and none is taken here; save the object without "
                "functions (of a model, what is learned and the options).",
                at,
            )
        function = TorchFunction(self._items.string("the code of a Lua function"))
        if index is not None:
            self._objects[index] = function
        ready, value = self._begin()
        function.upvalues = value if ready else (yield value)
        return function

    def _torch(self, index: int) -> Reading:
        items = self._items
        at = items.at
        name = items.string("the version of a Torch class")
        if _VERSION.fullmatch(name):  # Old files go without it.
            name = items.string("the name of a Torch class")
        class_name = name.decode("utf-8", "backslashreplace")
        known = torch_tensors.parse_class(class_name)
        if known is not None:
            self._objects[index] = _WAITING
            if known[0] == "Tensor":
                value = yield self._tensor(known[1], at)
            else:
                value = self._storage(known[1])
        elif class_name == "tds.Vec":
            value = self._objects[index] = []
            for _ in range(self._count("tds.Vec", 1)):
                ready, item = self._begin()
                value.append(item if ready else (yield item))
                items.sized = True
        elif class_name == "tds.Hash":
            value = self._objects[index] = {}
            yield from self._entries(value, self._count("tds.Hash", 2))
        elif class_name == "torch.MultiCudaTensor":
            self._objects[index] = _WAITING
            value = yield self._split_tensor(at)
        else:
            value = self._objects[index] = TorchObject(class_name)
            ready, fields = self._begin()
            if not ready:
                fields = yield fields
            if isinstance(fields, list):
                fields = dict(enumerate(fields, 1))
            if not isinstance(fields, dict):
                items.fail(
                    f"the class {class_name[:80]!r} is written in a way of its own, "
                    "and only classes written as a table are known.",
                    at,
                )
            value.fields = fields
        self._objects[index] = value
        return value

    def _count(self, name: str, least: int) -> int:
        at = self._items.at
        (count,) = self._items.longs(1, f"the size of a {name}")
        if count < 0 or least * count > self._items.left():
            self._items.fail(f"a {name} of {count} entries; the file is damaged.", at)
        return count

    def _storage(self, dtype: np.dtype | None) -> np.ndarray:
        at = self._items.at
        (size,) = self._items.longs(1, "the size of a storage")
        if size < 0:
            self._items.fail(f"a storage of {size} numbers; the file is damaged.", at)
        return self._items.array(dtype, size)

    def _tensor(self, dtype: np.dtype | None, at: int) -> Reading:
        items = self._items
        dimensions = items.integer("the dimensions of a tensor")
        if not 0 <= dimensions <= items.left():
            items.fail(f"a tensor of {dimensions} dimensions; the file is damaged.", at)
        shape = items.longs(dimensions, "the shape of a tensor")
        strides = items.longs(dimensions, "the strides of a tensor")
        (offset,) = items.longs(1, "the offset of a tensor")
        ready, storage = self._begin()
        if not ready:
            storage = yield storage
        if storage is None:
            storage = self._items.array(dtype, 0)
        fits = isinstance(storage, np.ndarray) and storage.flags.c_contiguous
        if not fits or storage.ndim != 1 or storage.dtype != (dtype or items.long):
            items.fail("a tensor without a storage of its kind; it is damaged.", at)
        items.sized |= dimensions > 0
        wrong = torch_tensors.problem(shape, strides, offset - 1, storage.size)
        if wrong:
            items.fail(f"a tensor is damaged: {wrong}.", at)
        return torch_tensors.view(storage, shape, strides, offset - 1)

    def _split_tensor(self, at: int) -> Reading:
        """A tensor whose columns were on several devices, in one piece."""
        found = []
        for _ in range(2):  # Fields, and how many parts there are.
            ready, value = self._begin()
            found.append(value if ready else (yield value))
        fields, count = found
        axis = fields.get("catdim") if isinstance(fields, dict) else None
        if not isinstance(axis, float) or not isinstance(count, float):
            self._items.fail("a torch.MultiCudaTensor without catdim or parts.", at)
        if not 1 <= count <= self._items.left():
            self._items.fail(f"a torch.MultiCudaTensor of {count:g} parts.", at)
        parts = []
        for _ in range(int(count)):
            for _ in range(2):  # The device, and the tensor there.
                ready, value = self._begin()
                value = value if ready else (yield value)
            if not isinstance(value, np.ndarray):
                self._items.fail("a part of a torch.MultiCudaTensor is no tensor.", at)
            parts.append(value)
        if sum(part.nbytes for part in parts) > self._items.at:
            self._items.fail("parts of a torch.MultiCudaTensor overlap.", at)
        try:
            whole = np.concatenate(parts, int(axis) - 1)
        except (ValueError, OverflowError):
            shapes = ", ".join(str(part.shape) for part in parts[:8])
            self._items.fail(
                f"a torch.MultiCudaTensor of parts that do not fit: {shapes}.", at
            )
        whole.flags.writeable = False
        return whole


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
