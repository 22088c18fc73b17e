"""Cepstral mean and variance normalisation, statistics and their use."""

import dataclasses
import logging
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets import kaldi_options, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.scp_table import open_table, read_table

_LOG = logging.getLogger(__name__)

VARIANCE_FLOOR = 1e-20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What to normalise; the fields are the options of apply-cmvn."""

    norm_means: bool = True
    """Take the mean away."""

    norm_vars: bool = False
    """Divide by the standard deviation; needs `norm_means`."""

    reverse: bool = False
    """Undo the normalisation instead."""

    skip_dims: str = ""
    """Colon-separated dimensions left as they are, `13:14:15`."""

    def __post_init__(self) -> None:
        if self.norm_vars and not self.norm_means:
            raise InputError(
                "cmvn options: norm-vars without norm-means; the variance is only "
                "normalised together with the mean. Set --norm-means=true."
            )
        self.skipped()

    @classmethod
    def parse(cls, text: str) -> "Options":
        """Reads `--norm-means=true --norm-vars=true`."""
        return kaldi_options.parse(cls, text)

    def skipped(self) -> list[int]:
        """The dimensions of `skip_dims`."""
        try:
            return [int(dim) for dim in self.skip_dims.split(":") if dim]
        except ValueError:
            raise InputError(
                f"cmvn options: skip-dims is {self.skip_dims!r}; "
                "it takes ints separated by colons, as 13:14:15."
            ) from None


def accumulate(
    feats: NDArray[np.float32], stats: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Adds a matrix of features to the statistics.

    Args:
        feats: `(time, dim)`.
        stats: what was summed so far, left as it is; None is zero.

    Returns:
        `(2, dim + 1)`: row 0 is the sums and the number of frames, row 1 the sums of
        squares and a zero.

    Raises:
        InputError: `stats` are of another dimension.
    """
    dim = feats.shape[1]
    total = np.zeros((2, dim + 1)) if stats is None else np.array(stats, np.float64)
    _check_dim(total, dim)
    wide = feats.astype(np.float64)
    total[0, :dim] += wide.sum(axis=0)
    total[0, dim] += len(feats)
    total[1, :dim] += np.einsum("td,td->d", wide, wide)
    return total


def compute(
    feats_rspecifier: str, spk2utt: str | None = None
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Statistics of every utterance, or of every speaker.

    Args:
        feats_rspecifier: features.
        spk2utt: rspecifier of the utterances of each speaker; statistics are then
            summed by speaker. An utterance without features is left out with a
            warning, a speaker without any is skipped.

    Yields:
        `(key, stats)`, `stats` as `accumulate` gives them.
    """
    if spk2utt is None:
        for key, feats in read_table(feats_rspecifier, "matrix"):
            yield key, accumulate(feats)
        return
    table = open_table(feats_rspecifier, "matrix")
    for speaker, utterances in tables.read(spk2utt, "tokens"):
        stats = None
        for utt in utterances:
            feats = table.get(utt)
            if feats is None:
                _LOG.warning("speaker %s: no features of %s", speaker, utt)
            else:
                stats = accumulate(feats, stats)
        if stats is None:
            _LOG.warning("speaker %s: no statistics, no features", speaker)
        else:
            yield speaker, stats


def compute_global(feats_rspecifier: str) -> NDArray[np.float64]:
    """Statistics of all utterances together.

    Raises:
        InputError: there are no features.
    """
    stats = None
    for _, feats in read_table(feats_rspecifier, "matrix"):
        stats = accumulate(feats, stats)
    if stats is None:
        raise InputError(f"{feats_rspecifier}: no features, so no statistics of them.")
    return stats


def apply(
    feats: NDArray[np.float32],
    stats: NDArray[np.float64],
    norm_means: bool = True,
    norm_vars: bool = False,
    reverse: bool = False,
    skip_dims: str = "",
) -> NDArray[np.float32]:
    """Normalises features: `(x - mean) / sqrt(variance)`.

    Args:
        feats: `(time, dim)`.
        stats: `(2, dim + 1)`, as `accumulate` gives them.
        norm_means: take the mean away; False returns the features as they are.
        norm_vars: divide by the standard deviation too.
        reverse: the inverse, from normalised features to plain ones.
        skip_dims: colon-separated dimensions left as they are.

    Raises:
        InputError: `norm_vars` without `norm_means`, statistics of another dimension
            or of no frames.

    Source: Kaldi apply-cmvn.
    """
    options = Options(
        norm_means=norm_means, norm_vars=norm_vars, reverse=reverse, skip_dims=skip_dims
    )
    _check_dim(stats, feats.shape[1])
    if not norm_means:
        return np.asarray(feats, np.float32)
    scale, shift = _scale_and_shift(stats, options)
    result = np.asarray(feats, np.float32)
    if scale is not None:
        result = result * scale
    return result + shift


def _scale_and_shift(
    stats: NDArray[np.float64], options: Options
) -> tuple[NDArray[np.float32] | None, NDArray[np.float32]]:
    """What to multiply by (None: nothing), then what to add."""
    frames = stats[0, -1]
    if frames < 1:
        raise InputError(
            f"cmvn statistics hold {frames:g} frames; at least one is needed."
        )
    mean = stats[0, :-1] / frames
    variance = stats[1, :-1] / frames - mean * mean
    skipped = options.skipped()
    if any(not 0 <= dim < len(mean) for dim in skipped):
        raise InputError(
            f"cmvn options: skip-dims {options.skip_dims!r} reaches outside the "
            f"{len(mean)} dimensions; the first is 0."
        )
    mean[skipped], variance[skipped] = 0.0, 1.0
    if not options.norm_vars:
        return None, (mean if options.reverse else -mean).astype(np.float32)
    low = variance < VARIANCE_FLOOR
    if low.any():
        dims = np.flatnonzero(low).tolist()
        _LOG.warning("cmvn: variance of dimensions %s floored to 1e-20", dims)
        variance[low] = VARIANCE_FLOOR
    deviation = np.sqrt(variance)
    if options.reverse:
        return deviation.astype(np.float32), mean.astype(np.float32)
    return (1 / deviation).astype(np.float32), (-mean / deviation).astype(np.float32)


def _check_dim(stats: NDArray[np.float64], dim: int) -> None:
    if stats.ndim != 2 or stats.shape[0] != 2 or stats.shape[1] != dim + 1:
        raise InputError(
            f"cmvn statistics are of shape {stats.shape}, but features of {dim} "
            f"dimensions need (2, {dim + 1})."
        )
