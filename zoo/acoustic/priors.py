"""Log-priors of classes from how often each was seen in training."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError

DISABLED = float(np.sqrt(np.finfo(np.float32).max))
"""The log-prior of a class below the floor: its score falls to about -1.8e19."""

_EPSILON = 1e-20


def log_priors(
    counts: ArrayLike, *, prior_floor: float = 1e-10, name: str = "class counts"
) -> NDArray[np.float32]:
    """`log(count / sum + 1e-20)` of each class, `DISABLED` where it is too rare.

    Args:
        counts: frames of each class.
        prior_floor: classes whose share of the frames is below this are disabled.
        name: what errors call the counts, such as their file.

    Raises:
        InputError: if a count is negative or not finite, or all are 0.

    Source: Kaldi nnet1 `PdfPrior`, src/nnet/nnet-pdf-prior.cc.
    """
    frames = np.asarray(counts, np.float64)
    if frames.ndim != 1 or not frames.size:
        raise InputError(
            f"{name}: shape {frames.shape}; one count for each class is taken."
        )
    bad = np.flatnonzero(~(np.isfinite(frames) & (frames >= 0)))
    if bad.size:
        raise InputError(
            f"{name}: class {bad[0]} has count {frames[bad[0]]:g}; "
            "0 and more are taken."
        )
    if not frames.any():
        raise InputError(
            f"{name}: all {frames.size} counts are 0; count the frames of the "
            "training alignment."
        )
    share = frames / frames.sum()
    logs = np.log(share + _EPSILON)
    return np.where(share < prior_floor, logs + DISABLED, logs).astype(np.float32)


def read(
    path: str,
    classes: int,
    *,
    prior_scale: float = 1.0,
    prior_floor: float = 1e-10,
) -> NDArray[np.float32]:
    """What to subtract from log-posteriors: `prior_scale` times the log-priors.

    Args:
        path: a Kaldi vector of counts, text or binary, such as
            `ali_train_pdf.counts`.
        classes: how many the network puts out.
        prior_scale: times the log-priors; 0 takes the classes as equally likely.
        prior_floor: see `log_priors`.

    Raises:
        InputError: if the file cannot be read, or its counts are not for this network.
    """
    counts = tables.read_object(path, "vector", double=True)
    if len(counts) != classes:
        raise InputError(
            f"{path}: {len(counts)} class counts, but the network puts out {classes} "
            "numbers a frame; take the counts of the alignment it was trained on."
        )
    logs = log_priors(counts, prior_floor=prior_floor, name=path)
    return np.float32(prior_scale) * logs
