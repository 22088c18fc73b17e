"""Torch7 tensors and storages as NumPy arrays."""

import math
import re
from collections.abc import Sequence

import numpy as np

_DTYPES: dict[str, np.dtype | None] = {
    "Byte": np.dtype("u1"),
    "Char": np.dtype("i1"),
    "Short": np.dtype("<i2"),
    "Int": np.dtype("<i4"),
    "Long": None,
    "Half": np.dtype("<f2"),
    "Float": np.dtype("<f4"),
    "Double": np.dtype("<f8"),
}
_MOST_DIMENSIONS = 32
_NAME = re.compile(r"torch\.(Cuda)?([A-Z][a-z]+)?(Tensor|Storage)")


def parse_class(name: str) -> tuple[str, np.dtype | None] | None:
    """What a class of Torch holds.

    Args:
        name: `torch.FloatTensor`, `torch.CudaLongStorage`, ...; those of CUDA are
            the same as those without, `torch.CudaTensor` is one of floats, and
            `torch.Tensor` one of doubles.

    Returns:
        "Tensor" or "Storage", and the type of the elements, None for longs; None
        for other classes.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    cuda, kind, what = found.groups()
    kind = kind or ("Float" if cuda else "Double")
    return (what, _DTYPES[kind]) if kind in _DTYPES else None


def kind(array: np.ndarray) -> str:
    """`Float` where the array is to be written as a `torch.FloatTensor`.

    Raises:
        TypeError: if Torch has no such type, or none for a scalar.
    """
    dtype = array.dtype.newbyteorder("<")
    if array.ndim:
        for name, known in _DTYPES.items():
            if dtype == (known or np.dtype("<i8")):
                return name
    raise TypeError(f"Torch has no {array.ndim}-D tensors of {array.dtype}.")


def problem(
    shape: Sequence[int], strides: Sequence[int], offset: int, size: int
) -> str | None:
    """What is wrong with a tensor, None if nothing is.

    Args:
        shape: the size along each dimension.
        strides: the steps along each dimension, in elements.
        offset: the storage's element that the tensor starts with, from 0.
        size: elements of the storage.
    """
    if len(shape) > _MOST_DIMENSIONS:
        return f"{len(shape)} dimensions; the most that are taken is {_MOST_DIMENSIONS}"
    if any(n < 0 for n in shape):
        return f"a negative size in {_show(shape)}"
    if not shape or 0 in shape:
        return None
    if math.prod(shape) >= 1 << 60:
        return f"the shape {_show(shape)}, which is beyond all memory"
    steps = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    low = offset + sum(step for step in steps if step < 0)
    high = offset + sum(step for step in steps if step > 0)
    if low < 0 or high >= size:
        return (
            f"shape {_show(shape)} with strides {_show(strides)} reaches over elements "
            f"{low + 1} to {high + 1} of a storage with {size}"
        )
    return None


def view(
    storage: np.ndarray, shape: Sequence[int], strides: Sequence[int], offset: int
) -> np.ndarray:
    """The tensor over its storage, without a copy; see `problem`."""
    size = storage.dtype.itemsize
    if not shape or 0 in shape:
        return np.empty(tuple(shape) or (0,), storage.dtype)
    return np.ndarray(
        tuple(shape),
        storage.dtype,
        storage,
        offset * size,
        tuple(step * size for step in strides),
    )


def _show(numbers: Sequence[int]) -> str:
    return " x ".join(map(str, numbers))
