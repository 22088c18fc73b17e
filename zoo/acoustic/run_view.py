"""What shows a run while it goes: progress bars, profile, TensorBoard events."""

import contextlib
import logging
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
import tqdm

from seqzoo.zoo.training.frame_trainer import Sums
from seqzoo.zoo.training.history import EpochRow
from seqzoo.zoo.training.run_folder import RunFolder

_LOG = logging.getLogger(__name__)
# Calls of the first epoch that a profile covers.
_PROFILED_CALLS = 5


@contextlib.contextmanager
def frames_bar(
    name: str, frames: int, shown: bool
) -> Iterator[Callable[[int, str], None]]:
    """A progress bar over so many frames, and what moves it: the frames done so far,
    and a note."""
    with tqdm.tqdm(
        total=frames,
        desc=name,
        unit=" frames",
        unit_scale=True,
        leave=False,
        file=sys.stderr,
        disable=not shown,
    ) as bar:

        def move(done: int, note: str) -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update(done - bar.n)

        yield move


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
        with frames_bar(name, frames, self._progress_bar) as move:
            yield lambda sums: move(int(sums.frames), f"loss {sums.loss:.4f}")

    @contextlib.contextmanager
    def profile(self, wanted: bool) -> Iterator[Callable[[], None]]:
        """A profile of the first calls; what it gives is told of each."""
        if not wanted:
            yield lambda: None
            return
        calls = 0
        tf.profiler.experimental.start(self._path)

        def count() -> None:
            nonlocal calls
            calls += 1
            if calls == _PROFILED_CALLS:
                tf.profiler.experimental.stop()

        yield count
        if calls < _PROFILED_CALLS:
            tf.profiler.experimental.stop()
        _LOG.info("profile in %s", self._path)

    def write_events(self, row: EpochRow) -> None:
        """The figures of an epoch."""
        with self._events.as_default(step=row.iteration):
            for name in ("learn_rate", "train_loss", "cv_loss", "frames_per_second"):
                tf.summary.scalar(name, getattr(row, name))
            if row.cv_accuracy is not None and not math.isnan(row.cv_accuracy):
                tf.summary.scalar("train_accuracy", row.train_accuracy)
                tf.summary.scalar("cv_accuracy", row.cv_accuracy)
        self._events.flush()
