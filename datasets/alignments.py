"""Frame labels: alignment directories, and labels as targets and counts."""

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqzoo.datasets import tables, transition_model
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.scp_table import read_table

Labels = NDArray[np.int32]


class Alignments(Mapping[str, Labels]):
    """Labels by utterance, one pdf a frame.

    Args:
        labels: what it holds.
        num_pdfs: how many pdfs there are; labels are below it.
        name: where they came from, for messages.
    """

    def __init__(self, labels: Mapping[str, Labels], num_pdfs: int, name: str):
        self.labels = labels
        self.num_pdfs = num_pdfs
        self.name = name

    def __getitem__(self, key: str) -> Labels:
        return self.labels[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)


def read_alignments(directory: str) -> Alignments:
    """Reads the labels of an alignment directory.

    Two forms are taken. As Kaldi's aligners leave it: `ali.*.gz` with
    transition-ids, and `final.mdl`, which maps them to pdfs. Or, where pdfs are all
    there is: `ali.scp` or `ali.ark`, whose numbers are pdfs already, never
    transition-ids.

    Args:
        directory: the directory.

    Returns:
        The labels; the number of pdfs is that of `final.mdl` where it is there, else
        one more than the largest label.

    Raises:
        InputError: no such directory, no alignment in it, `ali.*.gz` without
            `final.mdl`, or a number outside the model.
    """
    if not os.path.isdir(directory):
        raise InputError(f"{directory}: no such alignment directory.")
    model_path = os.path.join(directory, "final.mdl")
    model = None
    if os.path.exists(model_path):
        model = transition_model.read(model_path)
    parts = sorted(
        glob.glob(os.path.join(glob.escape(directory), "ali.*.gz")), key=_job
    )
    if parts:
        if model is None:
            raise InputError(
                f"{model_path} is missing, but {os.path.basename(parts[0])} holds "
                "transition-ids, which only the model can map to pdfs."
            )
        return Alignments(_from_tids(parts, model), model.num_pdfs, directory)
    for name in ("ali.scp", "ali.ark"):
        path = os.path.join(directory, name)
        if os.path.exists(path):
            return _from_pdfs(path, model, directory)
    raise InputError(
        f"{directory}: no alignment here; it takes ali.*.gz and final.mdl (as Kaldi "
        "leaves them), or ali.scp or ali.ark with one pdf a frame."
    )


def _job(path: str) -> tuple[int, str]:
    """Sorts ali.2.gz before ali.10.gz."""
    number = re.search(r"ali\.(\d+)\.gz$", path)
    return (int(number[1]) if number else 0, path)


def _from_tids(
    parts: list[str], model: transition_model.TransitionModel
) -> dict[str, Labels]:
    labels = {}
    for path in parts:
        for key, tids in tables.read(f"ark:{path}", "int32_vector"):
            wrong = (tids < 1) | (tids > model.num_tids)
            if wrong.any():
                frame = int(wrong.argmax())
                raise InputError(
                    f"{path}: utterance {key}, frame {frame}: transition-id "
                    f"{tids[frame]}, but final.mdl has 1 to {model.num_tids}; do the "
                    "two belong together?"
                )
            labels[key] = model.tid_to_pdf[tids]
    return labels


def _from_pdfs(
    path: str, model: transition_model.TransitionModel | None, directory: str
) -> Alignments:
    labels = dict(read_table(f"{path[-3:]}:{path}", "int32_vector"))
    biggest = max(
        ((int(pdfs.max()), key) for key, pdfs in labels.items() if len(pdfs)),
        default=(-1, ""),
    )
    if biggest[0] < 0:
        raise InputError(f"{path}: no labels in it.")
    num_pdfs = model.num_pdfs if model else biggest[0] + 1
    if biggest[0] >= num_pdfs:
        raise InputError(
            f"{path}: utterance {biggest[1]} has label {biggest[0]}, but final.mdl "
            f"has {num_pdfs} pdfs; labels here are pdfs, are these transition-ids?"
        )
    return Alignments(labels, num_pdfs, directory)


def ali_to_post(labels: ArrayLike) -> Posterior:
    """Labels as targets: class `labels[t]` with weight 1 in frame `t`."""
    return Posterior.from_labels(labels)


def feat_to_post(feats: NDArray[np.float32]) -> Posterior:
    """Features as targets: index `d` with weight `feats[t, d]` in frame `t`.

    With them a network learns to give its input back, or other features.
    """
    frames, dim = feats.shape
    return Posterior(
        np.arange(frames + 1, dtype=np.int64) * dim,
        np.tile(np.arange(dim, dtype=np.int32), frames),
        np.asarray(feats, np.float32).reshape(-1),
    )


def analyze_counts(
    labels: Iterable[NDArray[np.int32]], counts_dim: int | None = None
) -> NDArray[np.float64]:
    """How many frames each pdf has; half a frame more, so that a log of it exists.

    Args:
        labels: int vectors.
        counts_dim: number of pdfs; None is one more than the largest label.

    Returns:
        `(counts_dim,)`.

    Raises:
        InputError: a label at or over `counts_dim`, or below 0.

    Source: Kaldi analyze-counts.
    """
    counts = np.zeros(counts_dim or 0, np.int64)
    for vector in labels:
        if not len(vector):
            continue
        if vector.min() < 0:
            raise InputError(f"counts: label {vector.min()}; labels start at 0.")
        new = np.bincount(vector, minlength=len(counts))
        if len(new) > len(counts):
            if counts_dim is not None:
                raise InputError(
                    f"counts: label {vector.max()}, but there are {counts_dim} pdfs, "
                    f"0 to {counts_dim - 1}."
                )
            counts = np.pad(counts, (0, len(new) - len(counts)))
        counts += new
    return counts.astype(np.float64) + 0.5
