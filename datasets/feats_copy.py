"""A compressed copy of features, which one reads instead of slow or far originals."""

import io
import os
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets import compressed_matrix, kaldi_objects, tables

_CM, _PLAIN = 1, 0


def write(
    feats: Iterable[tuple[str, NDArray[np.float32]]],
    directory: str,
    name: str,
    compress: bool = True,
) -> None:
    """Writes `name.ark` and `name.scp`, with 8 bits a value.

    Features that were compressed before keep their values to the bit.

    Args:
        feats: utterances and their features.
        directory: made if it is not there.
        name: of the files.
        compress: False writes float32.
    """
    os.makedirs(directory, exist_ok=True)
    ark, scp = (os.path.join(directory, f"{name}.{end}") for end in ("ark", "scp"))
    with tables.Writer(f"ark,scp:{ark},{scp}", "matrix") as writer:
        for key, matrix in feats:
            method = _CM if compress and not _keeps_plain(matrix) else _PLAIN
            writer.write(key, matrix, compression_method=method)


def _keeps_plain(matrix: NDArray[np.float32]) -> bool:
    """Whether to leave `matrix` as it is.

    Compression alters what was compressed before by one of 65535 steps of its range at
    most, and up to 8 rows, which have 16 bits a value, by roundings of float32; where
    it alters no more, the values are kept. So are those that are not finite,
    for the reader to name the place.
    """
    if not np.isfinite(matrix).all():
        return True
    packed = b"\0B" + compressed_matrix.encode(matrix, _CM)
    again = kaldi_objects.ObjectReader(io.BytesIO(packed), "copy").read_matrix()
    if np.array_equal(again, matrix):
        return False
    if len(matrix) > 8:
        limit = 2 / 65535 * np.ptp(matrix)
    else:
        limit = 1e-6 * np.abs(matrix).max()
    return bool(np.abs(again - matrix).max() < limit)
