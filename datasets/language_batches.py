"""Batches for language models as `tf.data`: streams in chunks, or a sentence a row."""

from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from seqzoo.datasets.multi_sequence import MultiSequence
from seqzoo.datasets.sentences import Sentences
from seqzoo.datasets.text_columns import TextColumns

Streams = MultiSequence | TextColumns
_UNSORTED_BATCHES = 1024  # So many are planned at a time where order is kept.


def chunks(
    streams: Streams,
    steps: int,
    epoch_steps: int = -1,
    *,
    time_major: bool = False,
) -> tf.data.Dataset:
    """An epoch of chunks; each pass over the dataset goes on where the last one ended.

    The dataset may run ahead of who reads it, so each element brings the state after
    it. To go on from a checkpoint, save that of the last element used, and make the
    streams with `state=State.from_array(...)` of it.

    Args:
        streams: of the set; its own state moves as the dataset is read.
        steps: time steps of a chunk.
        epoch_steps: time steps in all; 0 or less is those of a pass.
        time_major: whether time is the first axis, as in Torch, or the second.

    Returns:
        Dataset of `{"inputs", "targets": (columns, time) int32, "mask": (columns, time)
        bool, "state": (2 + 2 columns,) int64}`, as in `Chunk` and `State.to_array`.
    """
    columns = streams.columns

    def generate() -> Iterator[dict[str, np.ndarray]]:
        for chunk in streams.chunks(steps, epoch_steps):
            arrays = {n: getattr(chunk, n) for n in ("inputs", "targets", "mask")}
            if not time_major:
                arrays = {name: array.T for name, array in arrays.items()}
            yield {**arrays, "state": chunk.state.to_array()}

    shape = (None, columns) if time_major else (columns, None)
    return tf.data.Dataset.from_generator(
        generate,
        output_signature={
            "inputs": tf.TensorSpec(shape, tf.int32),
            "targets": tf.TensorSpec(shape, tf.int32),
            "mask": tf.TensorSpec(shape, tf.bool),
            "state": tf.TensorSpec((2 + 2 * columns,), tf.int64),
        },
    )


def rows(
    sentences: Sentences,
    batch_size: int,
    *,
    most_words: int | None = None,
    window: int = 1,
    first_batch: int = 0,
) -> tf.data.Dataset:
    """A sentence a row, padded on the right.

    Args:
        sentences: the set.
        batch_size: rows of a batch, at most.
        most_words: rows times width of a batch, at most, where one row alone does not
            pass it; None for no limit.
        window: batches whose sentences are sorted by length, longest first, before they
            are cut, so that little is padded; 1 keeps the order of the set.
        first_batch: where to begin, to go on from a checkpoint.

    Returns:
        Dataset of `{"inputs", "targets": (rows, width) int32, "lengths": (rows,)
        int32, "index": (rows,) int64}`: the ids but the last, the ids but the first,
        0 behind `lengths`, and the number of each sentence in the set, from 0.
    """
    if batch_size < 1 or window < 1:
        raise ValueError("batch_size and window must be 1 or more.")

    def generate() -> Iterator[dict[str, np.ndarray]]:
        number = 0
        for index in _batches(sentences, batch_size, most_words, window):
            if number >= first_batch:
                yield _padded(sentences, index)
            number += 1

    return tf.data.Dataset.from_generator(
        generate,
        output_signature={
            "inputs": tf.TensorSpec((None, None), tf.int32),
            "targets": tf.TensorSpec((None, None), tf.int32),
            "lengths": tf.TensorSpec((None,), tf.int32),
            "index": tf.TensorSpec((None,), tf.int64),
        },
    )


def _batches(
    sentences: Sentences, batch_size: int, most_words: int | None, window: int
) -> Iterator[np.ndarray]:
    """The numbers of the sentences of each batch."""
    block = batch_size * (window if window > 1 else _UNSORTED_BATCHES)
    for first in range(0, len(sentences), block):
        bounds = sentences.starts[first : first + block + 1]
        lengths = np.diff(bounds) - 1
        order = np.arange(len(lengths))
        if window > 1:
            order = np.argsort(-lengths, kind="stable")
        done = 0
        while done < len(order):
            take = order[done : done + batch_size]
            if most_words is not None:
                widths = np.maximum.accumulate(lengths[take])
                fits = np.arange(1, len(take) + 1) * widths <= most_words
                take = take[: max(1, int(fits.sum()))]
            done += len(take)
            yield first + take


def _padded(sentences: Sentences, index: np.ndarray) -> dict[str, np.ndarray]:
    starts = np.asarray(sentences.starts[index])
    lengths = sentences.starts[index + 1] - starts - 1
    time = np.arange(lengths.max())
    real = time < lengths[:, np.newaxis]
    places = np.where(real, starts[:, np.newaxis] + time, 0)
    return {
        "inputs": np.where(real, sentences.ids[places], np.int32(0)),
        "targets": np.where(real, sentences.ids[places + 1], np.int32(0)),
        "lengths": lengths.astype(np.int32),
        "index": index.astype(np.int64),
    }
