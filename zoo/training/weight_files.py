"""Weights on disk: a folder with a .npy file each.

Tables are written and read some rows at a time. TensorFlow copies a variable that was
changed by rows whenever it is read whole; for 793,471 words of 250 numbers a copy is
0.8 GB.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import keras
import numpy as np
import tensorflow as tf

from seqzoo.datasets.errors import InputError

_PIECE = 1 << 22  # Bytes held at a time.


def save(folder: str, weights: Mapping[str, Any]) -> None:
    """Writes variables into a new folder.

    Args:
        folder: is not there yet. It takes its name when it is whole.
        weights: name -> Keras or TensorFlow variable; `a/b` becomes `a.b.npy`.
    """
    partial = f"{folder}.partial"
    shutil.rmtree(partial, ignore_errors=True)  # Of a process that was killed.
    os.makedirs(partial)
    for name, weight in weights.items():
        with open(_path(partial, name), "wb") as file:
            _write(file, _bare(weight))
            file.flush()
            os.fsync(file.fileno())
    os.rename(partial, folder)


def load(folder: str, weights: Mapping[str, Any]) -> None:
    """Sets variables to what `save` wrote.

    Raises:
        InputError: if a file is missing, damaged, or of another shape.
    """
    for name, weight in weights.items():
        variable = _bare(weight)
        values = read(folder, name)
        shape = tuple(variable.shape)
        if values.shape != shape:
            raise InputError(
                f"{_path(folder, name)}: has shape {values.shape}, but the model's "
                f"{name} has {shape}; it belongs to another model."
            )
        assign(variable, values)


def read(folder: str, name: str) -> np.ndarray:
    """One weight, mapped to memory.

    Raises:
        InputError: if it is missing or damaged.
    """
    path = _path(folder, name)
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror or error}."
        ) from None
    except ValueError as error:
        raise InputError(
            f"{path}: is damaged ({error}); give another run, or train anew."
        ) from None


def names(folder: str) -> list[str]:
    """Of the weights that a folder holds."""
    return sorted(
        name.removesuffix(".npy").replace(".", "/")
        for name in os.listdir(folder)
        if name.endswith(".npy")
    )


def assign(variable: tf.Variable, values: np.ndarray) -> None:
    """Sets a variable to an array of its shape, some rows at a time."""
    dtype = variable.dtype.as_numpy_dtype
    if values.nbytes <= _PIECE or not variable.shape.rank:
        variable.assign(np.asarray(values, dtype))
        return
    for piece in _pieces(variable):
        rows = np.asarray(_rows(values, piece), dtype)
        variable.scatter_update(tf.IndexedSlices(rows, tf.range(*_ends(piece))))


def _rows(values: np.ndarray, piece: slice) -> np.ndarray:
    """Some rows; those of a file are read, as what is mapped stays in memory."""
    if not isinstance(values, np.memmap) or not values.flags.c_contiguous:
        return values[piece]
    shape = (piece.stop - piece.start, *values.shape[1:])
    return np.fromfile(
        str(values.filename),
        values.dtype,
        int(np.prod(shape, dtype=np.int64)),
        offset=values.offset + piece.start * values[0].nbytes,
    ).reshape(shape)


def _write(file: BinaryIO, variable: tf.Variable) -> None:
    dtype = np.dtype(variable.dtype.as_numpy_dtype)
    # NumPy has no bfloat16: its file would hold numbers that nothing can read.
    if dtype.kind == "V":
        raise TypeError(f"{variable.name} is {variable.dtype.name}.")
    header = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": tuple(variable.shape),
    }
    np.lib.format.write_array_header_1_0(file, header)
    if not variable.shape.rank:
        file.write(variable.numpy().tobytes())
        return
    for piece in _pieces(variable):
        rows = tf.gather(variable, tf.range(*_ends(piece)))
        file.write(np.ascontiguousarray(rows.numpy()).data)


def _bare(weight: Any) -> tf.Variable:
    return weight.value if isinstance(weight, keras.Variable) else weight


def _pieces(variable: tf.Variable) -> Iterator[slice]:
    rows, width = variable.shape[0], int(np.prod(variable.shape[1:], dtype=np.int64))
    step = max(1, _PIECE // max(1, width * variable.dtype.size))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _ends(piece: slice) -> tuple[int, int]:
    return piece.start, piece.stop


def _path(folder: str, name: str) -> str:
    return os.path.join(folder, f"{name.replace('/', '.')}.npy")
