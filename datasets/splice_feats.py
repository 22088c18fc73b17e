"""Neighbouring frames laid side by side."""

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError


def splice_feats(
    feats: NDArray[np.float32], left_context: int = 4, right_context: int = 4
) -> NDArray[np.float32]:
    """Lays each frame's neighbours side by side, the earliest first.

    Past an end of the utterance, the frame at that end repeats.

    Args:
        feats: `(time, dim)`.
        left_context: frames before, at least 0.
        right_context: frames after, at least 0.

    Returns:
        `(time, (left_context + 1 + right_context) * dim)`.

    Raises:
        InputError: a negative context.

    Source: Kaldi splice-feats.
    """
    if left_context < 0 or right_context < 0:
        raise InputError(
            f"splice: contexts are {left_context} and {right_context} frames; "
            "both are at least 0."
        )
    x = np.asarray(feats, np.float32)
    frames, dim = x.shape
    width = (left_context + 1 + right_context) * dim
    if not frames or not dim:
        return np.zeros((frames, width), np.float32)
    padded = np.pad(x, ((left_context, right_context), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded.reshape(-1), width)
    return windows[::dim].copy()
