"""Time derivatives of features."""

import dataclasses
import functools

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets import kaldi_options
from seqzoo.datasets.errors import InputError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """The options of add-deltas."""

    delta_order: int = 2
    """How many derivatives are added."""

    delta_window: int = 2
    """Frames on either side that one derivative looks at."""

    truncate: int = 0
    """Only the first so many dimensions are used; 0 is all."""

    @classmethod
    def parse(cls, text: str) -> "Options":
        """Reads `--delta-order=2 --delta-window=3`."""
        return kaldi_options.parse(cls, text)


def add_deltas(
    feats: NDArray[np.float32], order: int = 2, window: int = 2, truncate: int = 0
) -> NDArray[np.float32]:
    """Lays the features and their time derivatives side by side.

    The first derivative is the regression slope, `sum_j j x[t + j] / sum_j j^2` for
    `j` in `-window..window`; the next is the slope of the slope. Past an end the frame
    at that end repeats, for the slopes of slopes too.

    Args:
        feats: `(time, dim)`.
        order: how many derivatives; 0 adds none.
        window: frames on either side.
        truncate: keep only the first so many dimensions before; 0 keeps all.

    Returns:
        `(time, (order + 1) * dim)`: features, slopes, slopes of slopes.

    Raises:
        InputError: a negative order, no window, more dimensions kept than there are.

    Source: Kaldi add-deltas.
    """
    if order < 0 or window < 1:
        raise InputError(
            f"deltas of order {order} over a window of {window}; "
            "the order is at least 0, the window at least 1."
        )
    if not 0 <= truncate <= feats.shape[1]:
        raise InputError(
            f"deltas: truncate is {truncate}, but there are {feats.shape[1]} "
            "dimensions to keep from."
        )
    x = np.asarray(feats, np.float32)
    if truncate:
        x = x[:, :truncate]
    frames, dim = x.shape
    result = np.empty((frames, (order + 1) * dim), np.float32)
    result[:, :dim] = x
    if not frames:
        return result
    reach = order * window
    padded = np.pad(x, ((reach, reach), (0, 0)), mode="edge")
    term = np.empty_like(x)
    for k in range(1, order + 1):
        total = np.zeros_like(x)
        for offset, scale in _scales(k, window):
            start = reach + offset
            np.multiply(padded[start : start + frames], scale, out=term)
            total += term
        result[:, k * dim : (k + 1) * dim] = total
    return result


@functools.cache
def _scales(order: int, window: int) -> tuple[tuple[int, np.float32], ...]:
    """Offset in frames and factor of each neighbour that counts."""
    slope = np.arange(-window, window + 1)
    weights = np.ones(1, int)
    for _ in range(order):
        weights = np.convolve(weights, slope)
    scales = weights / float((slope * slope).sum()) ** order
    reach = order * window
    return tuple(
        (offset, np.float32(scale))
        for offset, scale in zip(range(-reach, reach + 1), scales, strict=True)
        if scale
    )
