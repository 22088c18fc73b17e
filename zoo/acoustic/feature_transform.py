"""Feature transforms: what stands in front of an acoustic network and is not trained.

All end in a shift and a scale to mean 0 and deviation 1 of every number that the
network sees, measured on the first utterances.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets import cmvn
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, nnet_edit
from seqzoo.zoo.checkpoints.nnet1 import Nnet

FEAT_TYPES = ("plain", "traps", "transf", "lda")

Feats = Callable[[], Iterable[tuple[str, NDArray[np.float32]]]]
"""Called for each pass over the data: `(utterance, (time, dim) features)` pairs."""

_LOG = logging.getLogger(__name__)
_LENGTH_TOLERANCE = 5  # frames by which labels and features may differ, exclusive
_FLOOR = 1e-8  # of the largest within-class variance


def build(
    feat_type: str,
    feats: Feats,
    *,
    splice: int = 5,
    offsets: Sequence[int] | None = None,
    traps_dct_basis: int = 11,
    transf: NDArray | None = None,
    splice_after_transf: int = 5,
    lda_dim: int = 300,
    labels: Mapping[str, NDArray[np.integer]] | None = None,
    std_dev: float = 1.0,
    utterances: int = 10000,
) -> Nnet:
    """Makes a feature transform as train.sh does with `--feat-type`.

    - `plain`: frames `-splice..splice` side by side.
    - `traps`: over those frames, each feature dimension is multiplied by a Hamming
      window and projected on `traps_dct_basis` cosines.
    - `transf`: those frames through the matrix `transf`, then spliced again.
    - `lda`: those frames projected on the `lda_dim` directions that best part the
      classes of `labels`.

    Args:
        feat_type: one of `FEAT_TYPES`.
        feats: gives the training features, once for each pass over them.
        splice: frames of context on each side.
        offsets: of the frames that `plain` puts side by side, instead: `[5]` is no
            context but a delay of the targets by 5 frames.
        traps_dct_basis: cosines for each feature dimension.
        transf: `(out, in)`, or `(out, in + 1)` with a shift in the last column.
        splice_after_transf: frames of context after `transf`.
        lda_dim: dimension after LDA.
        labels: a class for each frame, by utterance; for `lda`.
        std_dev: deviation of the numbers that come out.
        utterances: how many, from the first, the statistics are taken of.

    Returns:
        The components, all with a learn rate of 0.

    Raises:
        InputError: for an unknown type, or data it cannot be made of.
    """
    if feat_type not in FEAT_TYPES:
        raise InputError(
            f"feat_type is {feat_type!r}; {', '.join(FEAT_TYPES)} are taken."
        )

    def first() -> Iterable[tuple[str, NDArray[np.float32]]]:
        return itertools.islice(feats(), utterances)

    dim = next((matrix.shape[1] for _, matrix in first()), 0)
    if not dim:
        raise InputError("no features came, so no feature transform can be made.")
    nnet = Nnet([_splice(dim, splice)])
    if offsets is not None:
        width = dim * len(offsets)
        nnet = Nnet([components.Splice(dim, width, list(offsets))])
    if feat_type == "traps":
        nnet = nnet_edit.concat(
            nnet, _fixed(traps_matrix(dim, splice, traps_dct_basis))
        )
    elif feat_type == "transf":
        if transf is None:
            raise InputError("feat_type transf needs a matrix; give transf.")
        middle = _imported(np.asarray(transf), nnet.output_dim, dim)
        after = Nnet([_splice(middle.output_dim, splice_after_transf)])
        nnet = nnet_edit.concat(nnet, middle, after)
    elif feat_type == "lda":
        if labels is None:
            raise InputError(
                "feat_type lda needs a class for each frame, from alignment "
                "directories; labels in a table are not taken for it."
            )
        nnet = nnet_edit.concat(nnet, _fixed(_lda(nnet, first(), labels, lda_dim)))
    return nnet_edit.concat(nnet, normalisation(nnet, first(), std_dev))


def normalisation(
    nnet: Nnet,
    feats: Iterable[tuple[str, NDArray[np.float32]]],
    std_dev: float = 1.0,
) -> Nnet:
    """Shift and scale to mean 0 and deviation `std_dev` of what `nnet` puts out."""
    stats = None
    for utt, matrix in feats:
        stats = cmvn.accumulate(_propagate(nnet, utt, matrix), stats)
    if stats is None:
        raise InputError("no features came, so there is nothing to normalise by.")
    return nnet_edit.cmvn_to_nnet(stats, std_dev)


def traps_matrix(dim: int, splice: int, dct_basis: int) -> NDArray[np.float32]:
    """Hamming window and DCT in time: `(dct_basis * dim, frames * dim)`.

    With `T = 2 splice + 1` frames, row `k dim + m` and column `n dim + m` hold
    `sqrt(2 / T) cos(pi k (n + 0.5) / T) (0.54 - 0.46 cos(2 pi n / (T - 1)))`.
    """
    frames = 2 * splice + 1
    if not 1 <= dct_basis <= frames:
        raise InputError(
            f"traps_dct_basis is {dct_basis}; 1 to {frames} fit {frames} frames."
        )
    n = np.arange(frames)
    window = 0.54 - 0.46 * np.cos(2 * np.pi * n / max(frames - 1, 1))
    angles = np.pi * np.arange(dct_basis)[:, None] * (n + 0.5) / frames
    small = np.sqrt(2 / frames) * np.cos(angles) * window
    return np.kron(small, np.eye(dim)).astype(np.float32)


def lda_matrix(
    counts: NDArray[np.float64],
    sums: NDArray[np.float64],
    squares: NDArray[np.float64],
    dim: int,
) -> NDArray[np.float32]:
    """The directions that part classes best, `(dim, features)`.

    The features are whitened by their within-class covariance; of that space the
    `dim` directions of largest between-class variance are kept, largest first.
    A row's largest element is positive.

    Args:
        counts: frames of each class.
        sums: `(classes, features)`, sums of the frames of each class.
        squares: `(features, features)`, sum of `x x^T` over all frames.
        dim: rows of the result.
    """
    features = len(squares)
    if not 1 <= dim <= features:
        raise InputError(f"lda_dim is {dim}; 1 to {features} are taken here.")
    used = counts > 0
    total = counts.sum()
    means = sums[used] / counts[used, None]
    mean = sums.sum(axis=0) / total
    away = means - mean
    between = (away * counts[used, None]).T @ away / total
    within = squares / total - np.outer(mean, mean) - between
    variances, axes = np.linalg.eigh(within)
    if not variances[-1] > 0:
        raise InputError("lda: the features do not vary within their classes.")
    whiten = axes / np.sqrt(np.maximum(variances, _FLOOR * variances[-1])) @ axes.T
    _, directions = np.linalg.eigh(whiten @ between @ whiten)
    rows = directions[:, ::-1].T[:dim] @ whiten
    largest = np.abs(rows).argmax(axis=1)
    rows *= np.sign(rows[np.arange(dim), largest])[:, None]
    return rows.astype(np.float32)


def _splice(dim: int, context: int) -> components.Splice:
    if context < 0:
        raise InputError(f"splice is {context} frames; 0 or more are taken.")
    offsets = list(range(-context, context + 1))
    return components.Splice(dim, dim * len(offsets), offsets)


def _fixed(matrix: NDArray, shift: NDArray | None = None) -> Nnet:
    return nnet_edit.transf_to_nnet(matrix, shift, learn_rate_coef=0)


def _imported(transf: NDArray, width: int, dim: int) -> Nnet:
    """`transf` as components on `width` numbers, which are `dim` a frame spliced."""
    if transf.ndim != 2 or transf.shape[1] not in (width, width + 1):
        raise InputError(
            f"transf is of shape {transf.shape}, but the spliced features are {width} "
            f"numbers ({dim} a frame): {width} or {width + 1} columns are taken; "
            "does splice fit it?"
        )
    if transf.shape[1] == width:
        return _fixed(transf)
    return _fixed(transf[:, :-1], transf[:, -1])


def _propagate(nnet: Nnet, utt: str, matrix: NDArray) -> NDArray[np.float32]:
    if matrix.ndim != 2 or matrix.shape[1] != nnet.input_dim:
        raise InputError(
            f"utterance {utt!r} has features of shape {matrix.shape}, but the first "
            f"had {nnet.input_dim} numbers a frame."
        )
    return nnet.propagate(matrix)


def _lda(
    nnet: Nnet,
    feats: Iterable[tuple[str, NDArray[np.float32]]],
    labels: Mapping[str, NDArray[np.integer]],
    dim: int,
) -> NDArray[np.float32]:
    counts = np.zeros(0)
    sums = np.zeros((0, nnet.output_dim))
    squares = np.zeros((nnet.output_dim, nnet.output_dim))
    skipped = 0
    for utt, matrix in feats:
        classes = np.asarray(labels[utt]) if utt in labels else None
        if classes is None or abs(len(classes) - len(matrix)) >= _LENGTH_TOLERANCE:
            skipped += 1
            continue
        frames = _propagate(nnet, utt, matrix).astype(np.float64)
        length = min(len(classes), len(frames))
        classes, frames = classes[:length], frames[:length]
        if not length:
            continue
        if classes.min() < 0:
            raise InputError(f"utterance {utt!r}: label {classes.min()} is below 0.")
        more = int(classes.max()) + 1 - len(counts)
        if more > 0:
            counts = np.pad(counts, (0, more))
            sums = np.pad(sums, ((0, more), (0, 0)))
        counts += np.bincount(classes, minlength=len(counts))
        for label in np.unique(classes):
            sums[label] += frames[classes == label].sum(axis=0)
        squares += frames.T @ frames
    if skipped:
        _LOG.warning(
            "lda: %d utterances skipped, no labels or of other length", skipped
        )
    if np.count_nonzero(counts) < 2:
        raise InputError(
            f"lda: {np.count_nonzero(counts)} classes have frames; two are the least "
            f"({skipped} utterances were skipped, without labels or of other length)."
        )
    return lda_matrix(counts, sums, squares, dim)
