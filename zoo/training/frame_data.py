"""Frame data: a set of utterances as fillings of nnet1's frame buffer."""

import functools
from collections.abc import Iterator, Sequence

import keras
import tensorflow as tf

from seqzoo.datasets import frames
from seqzoo.zoo.checkpoints import along_time


def rows_function(transform: Sequence[keras.layers.Layer]) -> frames.Transform | None:
    """A feature transform as a function of utterances laid end to end.

    Args:
        transform: layers, as `along_time.on_rows` takes them. Empty gives None.

    Raises:
        InputError: for a layer that looks along utterances in another way.
    """
    if not transform:
        return None
    along_time.check_rows(transform)
    return functools.partial(along_time.on_rows, transform)


def fillings(
    blocks: tf.data.Dataset,
    transform: Sequence[keras.layers.Layer],
    minibatch_size: int,
    permutation: frames.Permutation | None = None,
    drop_tail: bool = False,
) -> tf.data.Dataset:
    """What `FrameTrainer` takes, one filling made while the last is learnt.

    Args:
        blocks: of `frame_records.read` or `frame_records.stream`.
        transform: layers of the feature transform.
        minibatch_size: frames.
        permutation: order of the frames in each filling; None keeps it.
        drop_tail: leave out the end of the set that fills no minibatch.
    """
    rows = blocks.apply(frames.transform(rows_function(transform)))
    return ahead(rows.apply(frames.randomize(minibatch_size, permutation, drop_tail)))


class Epochs:
    """The same, epoch after epoch: each pass over it is one epoch.

    There is a single iterator, since making one takes as long as many minibatches of
    a small network; and the next epoch's first filling is made while others are
    learnt. So a pass goes on where the last one was broken off.

    Args:
        blocks, transform, minibatch_size, permutation, drop_tail: as of `fillings`.
            The numbers that `permutation` is given go on from epoch to epoch.
    """

    def __init__(
        self,
        blocks: tf.data.Dataset,
        transform: Sequence[keras.layers.Layer],
        minibatch_size: int,
        permutation: frames.Permutation | None = None,
        drop_tail: bool = False,
    ):
        rows = blocks.repeat().apply(frames.transform(rows_function(transform)))
        self._fillings = iter(
            ahead(
                rows.apply(
                    frames.randomize(
                        minibatch_size, permutation, drop_tail, mark_last=True
                    )
                )
            )
        )

    def __iter__(self) -> Iterator[dict[str, tf.Tensor]]:
        for rows in self._fillings:
            last = rows.pop("last")
            if rows["weights"].shape[0]:
                yield rows
            if last:
                return


def ahead(fillings: tf.data.Dataset) -> tf.data.Dataset:
    """With one filling made while another is used."""
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    # There is nothing to tune, and each new iterator would pay for looking.
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return fillings.prefetch(1).with_options(options)
