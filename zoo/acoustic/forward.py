"""Features in, scores out: what nnet-forward does with a table."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError

Utterance = tuple[str, NDArray[np.float32]]
_FRAMES = 2048  # gathered before the model is called, unless it asks for more


class Scores(Protocol):
    """A model that maps features of utterances to outputs, such as `NnetScores`."""

    input_dim: int

    def __call__(
        self, utterances: Sequence[NDArray[np.float32]]
    ) -> list[NDArray[np.float32]]:
        """`(time, input_dim)` features to `(time, output_dim)` outputs, each."""


@dataclasses.dataclass(frozen=True)
class Report:
    """How much was done, and in what time."""

    files: int
    frames: int
    seconds: float

    def __str__(self) -> str:
        fps = self.frames / max(self.seconds, 1e-9)
        return f"Done {self.files} files in {self.seconds / 60:g} min, (fps {fps:g})"


def forward(
    scores: Scores,
    feats: Iterable[Utterance],
    write: Callable[[str, NDArray[np.float32]], object],
) -> Report:
    """Scores utterances, some at a time, and hands them on in their order.

    Args:
        scores: the model.
        feats: `(utterance, features)` pairs.
        write: is given each utterance and its outputs, as `tables.Writer.write`.

    Raises:
        InputError: if features have another dimension than the model takes, a
            feature or an output is not finite, or there is no utterance.
    """
    start = time.perf_counter()
    files = frames = 0
    size = getattr(scores, "frames_a_call", _FRAMES)
    for batch in _batches(_checked(feats, scores.input_dim), size):
        outputs = scores([matrix for _, matrix in batch])
        for (utt, _), output in zip(batch, outputs, strict=True):
            _check_finite(utt, output, "output")
            write(utt, output)
            files += 1
            frames += len(output)
    if not files:
        raise InputError("there are no utterances to score; the set is empty.")
    return Report(files, frames, time.perf_counter() - start)


def _checked(feats: Iterable[Utterance], dim: int) -> Iterator[Utterance]:
    for utt, matrix in feats:
        if matrix.ndim != 2 or matrix.shape[1] != dim:
            raise InputError(
                f"utterance {utt!r}: features of shape {matrix.shape}; the model "
                f"takes {dim} numbers a frame."
            )
        _check_finite(utt, matrix, "feature")
        yield utt, matrix


def _check_finite(utt: str, matrix: NDArray[np.float32], what: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum()):  # Cheaper, and not so if any number is not.
            return
    if np.isfinite(matrix).all():
        return
    frame, dim = np.argwhere(~np.isfinite(matrix))[0]
    raise InputError(
        f"utterance {utt!r}: frame {frame}: {what} {dim} is {matrix[frame, dim]}; "
        "only finite numbers are taken. (Frames and numbers count from 0.)"
    )


def _batches(feats: Iterable[Utterance], size: int) -> Iterator[list[Utterance]]:
    batch: list[Utterance] = []
    frames = 0
    for utt, matrix in feats:
        batch.append((utt, matrix))
        frames += len(matrix)
        if frames >= size:
            yield batch
            batch, frames = [], 0
    if batch:
        yield batch
