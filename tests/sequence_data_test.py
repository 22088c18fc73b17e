"""Blocks of utterances into minibatches of sequences."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets import frame_records
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.frame_blocks import Block
from seqzoo.zoo.training.sequence_data import Batching, SequenceEpochs

LENGTHS = ((5, 3, 8), (2, 7), (4, 6, 1))


def blocks(lengths=LENGTHS) -> tf.data.Dataset:
    """Frame `t` of utterance `u` is `(100 u + t, 0)`; its class is `u`."""
    made, utterance = [], 0
    for number, block in enumerate(lengths):
        frames, ids = [], []
        for length in block:
            frames.append(100 * utterance + np.arange(length))
            ids += [utterance] * length
            utterance += 1
        column = np.concatenate(frames).astype(np.float32)
        width = number + 1  # Targets of other widths meet in one filling.
        made.append(
            Block(
                feats=np.stack([column, 0 * column], axis=1),
                lengths=np.array(block, np.int32),
                ids=np.repeat(np.array(ids, np.int32)[:, None], width, axis=1),
                values=np.eye(1, width, dtype=np.float32).repeat(len(ids), axis=0),
                weights=np.ones(len(ids), np.float32),
                last=number == len(lengths) - 1,
            )
        )
    return frame_records.stream(lambda: made, 2)


def blocks_of(lengths, seed=0, delay=0) -> tf.data.Dataset:
    """Frames of three classes, each around a point, in `(time, 4)`.

    The class that is told is that of the frame `delay` before.
    """
    random = np.random.default_rng(seed)
    made = []
    for number, block in enumerate(lengths):
        ids, feats = [], []
        for length in block:
            classes = random.integers(0, 3, length)
            noise = 0.3 * random.normal(size=(length, 4))
            feats.append(2 * np.eye(3, 4)[classes] + noise)
            ids.append(np.roll(classes, delay))
        ids = np.concatenate(ids).astype(np.int32)[:, None]
        made.append(
            Block(
                feats=np.concatenate(feats).astype(np.float32),
                lengths=np.array(block, np.int32),
                ids=ids,
                values=np.ones(ids.shape, np.float32),
                weights=np.ones(len(ids), np.float32),
                last=number == len(lengths) - 1,
            )
        )
    return frame_records.stream(lambda: made, 4)


def utterances(epochs: SequenceEpochs) -> list[list[list[float]]]:
    """One epoch's minibatches: the first column of each stream's frames."""
    found = []
    for rows in epochs:
        inputs, ids, values = (
            rows[name].numpy() for name in ("inputs", "ids", "values")
        )
        np.testing.assert_array_equal(inputs[:, 0] // 100, ids[:, 0])
        np.testing.assert_array_equal(values[:, 0], 1)
        np.testing.assert_array_equal(values[:, 1:], 0)
        assert len(inputs) == len(ids) == len(values) == len(rows["weights"])
        for starts, lengths in zip(
            rows["starts"].numpy(), rows["lengths"].numpy(), strict=True
        ):
            found.append(
                [
                    inputs[start : start + length, 0].tolist()
                    for start, length in zip(starts, lengths, strict=True)
                ]
            )
    return found


def everything() -> list[float]:
    lengths = [length for block in LENGTHS for length in block]
    return [100.0 * u + t for u, length in enumerate(lengths) for t in range(length)]


def flat(minibatches) -> list[float]:
    return sorted(
        frame for batch in minibatches for stream in batch for frame in stream
    )


MULTISTREAM = Batching(kind="multistream", num_streams=2, batch_size=3)
BUCKETS = Batching(kind="multistream-perutt", num_streams=2, max_frames=20)
PERUTT = Batching(kind="perutt")


def test_streams_go_on_across_blocks():
    epochs = SequenceEpochs(blocks(), [], MULTISTREAM)
    found = utterances(epochs)
    assert found[:3] == [
        [[0, 1, 2], [100, 101, 102]],
        [[3, 4], [200, 201, 202]],
        [[300, 301], [203, 204, 205]],
    ]
    assert flat(found) == everything()
    assert epochs.utterances == 8
    # As if all were in one block.
    whole = blocks([[length for block in LENGTHS for length in block]])
    assert utterances(SequenceEpochs(whole, [], MULTISTREAM)) == found


@pytest.mark.parametrize("batching", [MULTISTREAM, BUCKETS, PERUTT])
def test_every_epoch_has_all_frames_in_an_order_of_its_own(batching):
    epochs = SequenceEpochs(blocks(), [], batching, seed=7)
    first, second = utterances(epochs), utterances(epochs)
    assert flat(first) == flat(second) == everything()
    assert first != second
    again = SequenceEpochs(blocks(), [], batching, seed=7)
    assert utterances(again) == first
    resumed = SequenceEpochs(blocks(), [], batching, seed=7, first_epoch=1)
    assert utterances(resumed) == second
    assert utterances(SequenceEpochs(blocks(), [], batching, seed=8)) != first


def test_without_a_seed_utterances_keep_their_order():
    epochs = SequenceEpochs(blocks(), [], PERUTT)
    for _ in range(2):
        assert [f for b in utterances(epochs) for s in b for f in s] == everything()


def test_kaldi_tail_leaves_out_what_nnet1_does():
    lengths = [(37, 21, 50, 16, 44)]
    streams = Batching(kind="multistream", num_streams=2, batch_size=8, kaldi_tail=True)
    epochs = SequenceEpochs(blocks(lengths), [], streams)
    assert len(flat(utterances(epochs))) == 148
    assert epochs.utterances == 5
    buckets = Batching(kind="multistream-perutt", num_streams=2, kaldi_tail=True)
    epochs = SequenceEpochs(blocks(lengths), [], buckets)
    for _ in range(2):  # C's random numbers are the same in each epoch.
        found = utterances(epochs)
        assert [[len(s) for s in batch] for batch in found] == [[44, 50], [21, 37]]
    assert epochs.utterances == 4


def test_the_transform_sees_whole_utterances():
    delay = [layers.Splice([1])]
    found = utterances_raw(SequenceEpochs(blocks([(3, 2)]), delay, PERUTT))
    assert found == [[1, 2, 2], [101, 101]]


def utterances_raw(epochs):
    found = []
    for rows in epochs:
        inputs = rows["inputs"].numpy()[:, 0]
        for start, length in zip(
            rows["starts"].numpy()[:, 0], rows["lengths"].numpy()[:, 0], strict=True
        ):
            found.append(inputs[start : start + length].tolist())
    return found


@pytest.mark.parametrize("size", ["num_streams", "batch_size", "max_frames"])
def test_a_size_below_one(size):
    with pytest.raises(InputError, match=f"{size} is 0; 1 is the least"):
        Batching(kind="multistream", **{size: 0})
