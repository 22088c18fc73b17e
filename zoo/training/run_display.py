"""What shows a run while it goes: progress bars and a TensorFlow profile."""

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator

import tensorflow as tf
import tqdm

_LOG = logging.getLogger(__name__)
# Calls that a profile covers.
_PROFILED_CALLS = 5


@contextlib.contextmanager
def progress_bar(
    name: str, total: int, unit: str, shown: bool
) -> Iterator[Callable[[int, str], None]]:
    """A bar on standard error, and what moves it: how much is done, and a note.

    Args:
        name: stands in front.
        total: to be done.
        unit: of that, in the plural.
        shown: False shows nothing.
    """
    with tqdm.tqdm(
        total=total,
        desc=name,
        unit=f" {unit}",
        unit_scale=True,
        leave=False,
        file=sys.stderr,
        disable=not shown,
    ) as bar:

        def move(done: int, note: str) -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update(done - bar.n)

        yield move


@contextlib.contextmanager
def profiled(path: str, wanted: bool) -> Iterator[Callable[[], None]]:
    """A profile of the first calls, in the folder `path`; what it gives counts them."""
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1
        if wanted and calls == _PROFILED_CALLS:
            tf.profiler.experimental.stop()

    if wanted:
        tf.profiler.experimental.start(path)
    try:
        yield count
    finally:
        if wanted and calls < _PROFILED_CALLS:
            tf.profiler.experimental.stop()
    if wanted:
        _LOG.info("profile in %s", path)
