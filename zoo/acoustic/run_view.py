"""What shows a run while it goes: progress bars, profile, TensorBoard events."""

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from seqzoo.zoo.training.frame_trainer import Sums
from seqzoo.zoo.training.history import EpochRow
from seqzoo.zoo.training.run_display import profiled, progress_bar
from seqzoo.zoo.training.run_folder import RunFolder


class RunView:
    """Of one run.

    Args:
        folder: of the run; profile and events go into its `tensorboard`.
        progress_bar: whether bars are shown on standard error.
    """

    def __init__(self, folder: RunFolder, progress_bar: bool):
        self._path = folder.file("tensorboard")
        self._progress_bar = progress_bar
        self._events = tf.summary.create_file_writer(self._path)

    @contextlib.contextmanager
    def progress(self, name: str, frames: int) -> Iterator[Callable[[Sums], Any]]:
        """A bar over so many frames, and what moves it."""
        with progress_bar(name, frames, "frames", self._progress_bar) as move:
            yield lambda sums: move(int(sums.frames), f"loss {sums.loss:.4f}")

    def profile(
        self, wanted: bool
    ) -> contextlib.AbstractContextManager[Callable[[], None]]:
        """A profile of the first calls; what it gives is told of each."""
        return profiled(self._path, wanted)

    def write_events(self, row: EpochRow) -> None:
        """The figures of an epoch."""
        with self._events.as_default(step=row.iteration):
            for name in ("learn_rate", "train_loss", "cv_loss", "frames_per_second"):
                tf.summary.scalar(name, getattr(row, name))
            if row.cv_accuracy is not None and not math.isnan(row.cv_accuracy):
                tf.summary.scalar("train_accuracy", row.train_accuracy)
                tf.summary.scalar("cv_accuracy", row.cv_accuracy)
        self._events.flush()
