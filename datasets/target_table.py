"""Targets by utterance, told apart by their content."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from seqzoo.datasets import specifiers
from seqzoo.datasets.alignments import feat_to_post
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.scp_table import open_table, read_table


class TargetTable:
    """The targets of each utterance as a `Posterior`.

    Args:
        source: an rspecifier or a mapping, of int vectors (one class a frame, weight
            1), of posteriors, or of matrices (column `d` is the target of output
            `d`). In text, `utt1 0 0 1` are classes, `utt1 [ 0 1 ] [ 0 1 ]` is a
            posterior.
    """

    def __init__(self, source: str | Mapping[str, Any]):
        self.name = source if isinstance(source, str) else type(source).__name__
        self._table = _open(source) if isinstance(source, str) else source

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def of(self, key: str, feats: np.ndarray) -> Posterior:
        """The targets of an utterance with these features."""
        return self[key]

    def __getitem__(self, key: str) -> Posterior:
        value = self._table[key]
        if isinstance(value, Posterior):
            return value
        array = np.asarray(value)
        if array.ndim == 2:
            return feat_to_post(array)
        if array.ndim == 1 and (array.dtype.kind in "iu" or not array.size):
            return Posterior.from_labels(array)
        if array.ndim == 1 and array.dtype.kind == "f" and not array.size % 2:
            return _one_frame(array)
        raise InputError(
            f"{self.name}: utterance {key} holds {_describe(value)}, but targets are "
            "integers (utt1 0 0 1), posteriors (utt1 [ 0 1 ] [ 0 1 ]) or matrices."
        )


class OwnFeatures(TargetTable):
    """Each utterance's own features as its targets, as an autoencoder has them.

    Args:
        dim: how many of their dimensions, from the first; deltas stand behind the
            features that they are of. None is all.
    """

    def __init__(self, dim: int | None = None):
        self.name = "features"
        self.dim = dim

    def __contains__(self, key: str) -> bool:
        return True

    def of(self, key: str, feats: np.ndarray) -> Posterior:
        return feat_to_post(feats[:, : self.dim])

    def __getitem__(self, key: str) -> Posterior:
        raise TypeError("targets that are features are known from features only.")


def _open(rspecifier: str) -> Any:
    """The table, by the kind of its first value where that can be seen before."""
    name = specifiers.rspecifier(rspecifier).name
    kind = "any"
    if os.path.isfile(name):
        for _, value in read_table(rspecifier, "any"):
            if isinstance(value, Posterior):
                kind = "posterior"
            elif isinstance(value, np.ndarray) and value.dtype.kind == "i":
                kind = "int32_vector"
            break
    return open_table(rspecifier, kind)


def _one_frame(array: np.ndarray) -> Posterior:
    """A posterior of one frame; in text it looks like a vector."""
    pairs = array.reshape(-1, 2).tolist()
    return Posterior.from_frames([[(int(i), value) for i, value in pairs]])


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"a vector of {len(value)} floats"
    text = value if isinstance(value, str) else " ".join(map(str, value))
    return repr(text[:40])
