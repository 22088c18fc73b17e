"""Sequence data: a set of utterances as minibatches of streams or of utterances."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Literal

import keras
import numpy as np
import tensorflow as tf

from seqzoo.datasets import streams
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints.draws import KaldiDraws
from seqzoo.zoo.training import frame_data

Rows = dict[str, tf.Tensor]

_FRAMES = ("inputs", "ids", "values", "weights")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Batching:
    """How utterances become minibatches.

    Raises:
        InputError: a size below 1.
    """

    kind: Literal["multistream", "multistream-perutt", "perutt"]
    """`multistream`: pieces of `batch_size` frames of `num_streams` utterances, whose
    state is carried on; `multistream-perutt`: `num_streams` whole utterances of like
    lengths; `perutt`: one utterance."""

    num_streams: int = 4
    """Utterances side by side."""

    batch_size: int = 20
    """Frames of each in a minibatch of `multistream`."""

    max_frames: int = 8000
    """Frames in a minibatch of `multistream-perutt`, with padding."""

    kaldi_tail: bool = False
    """Leave out what nnet1 leaves out: in `multistream` all that is left when a stream
    lacks an utterance, in `multistream-perutt` the last utterance; otherwise all is
    used. `multistream-perutt` then picks lengths in nnet1's order, too."""

    def __post_init__(self) -> None:
        for name in ("num_streams", "batch_size", "max_frames"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; 1 is the least.")

    @property
    def carries(self) -> bool:
        """Whether states go on from minibatch to minibatch."""
        return self.kind == "multistream"

    def plan(
        self,
        lengths: Sequence[int],
        rests: Sequence[streams.Rest],
        last: bool,
        pick: streams.Pick,
    ) -> streams.Plan:
        """The minibatches of a block; only `multistream` leaves rests."""
        if self.kind == "multistream":
            return streams.multistream(
                lengths,
                self.num_streams,
                self.batch_size,
                rests=rests,
                last=last,
                drop_tail=self.kaldi_tail,
            )
        if self.kind == "multistream-perutt":
            drop = self.kaldi_tail and last
            return streams.multistream_perutt(
                lengths, self.num_streams, self.max_frames, pick, drop
            )
        return streams.perutt(lengths)


class SequenceEpochs:
    """What `SequenceTrainer` takes, epoch after epoch: each pass over it is one epoch.

    A filling holds the frames of a block and, in the fields of `streams.Plan`, which
    of them each minibatch takes. The next block is read and transformed while one is
    learnt.

    Args:
        blocks: of `frame_records.read` or `frame_records.stream`.
        transform: layers of the feature transform.
        batching: how utterances become minibatches.
        seed: of the order of the utterances in each block, which is another in each
            epoch; None keeps their order.
        first_epoch: of a run that is taken up again after some epochs.

    Attributes:
        utterances: how many the current or last pass began with.
    """

    def __init__(
        self,
        blocks: tf.data.Dataset,
        transform: Sequence[keras.layers.Layer],
        batching: Batching,
        seed: int | None = None,
        first_epoch: int = 0,
    ):
        rows = frame_data.rows_function(transform)

        def inputs(block):
            feats = block.pop("feats")
            made = feats if rows is None else rows(feats, block["lengths"])
            return {**block, "inputs": made}

        made = blocks.repeat().map(inputs, num_parallel_calls=1)
        self._blocks = iter(frame_data.ahead(made))
        self._batching = batching
        self._seed = seed
        self._epoch = first_epoch
        self.utterances = 0

    def __iter__(self) -> Iterator[Rows]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        self.utterances = 0
        random = np.random.default_rng([(self._seed or 0) % 2**32, epoch])
        pick = _nnet1_pick() if self._batching.kaldi_tail else random.integers
        rests: tuple[streams.Rest, ...] = ()
        kept: Rows | None = None
        for block in self._blocks:
            last = bool(block.pop("last"))
            lengths = block.pop("lengths").numpy()
            if self._seed is not None:
                order = random.permutation(len(lengths))
                block = _taken(block, _frames_of(lengths, order))
                lengths = lengths[order]
            rows = block if kept is None else _joined(kept, block)
            plan = self._batching.plan(lengths, rests, last, pick)
            if len(plan):
                self.utterances += int(plan.fresh.sum())
                yield {**rows, **_tensors(plan)}
            if last:
                return
            rests = plan.rests
            left = [np.arange(r.start, r.start + r.length) for r in rests]
            kept = _taken(rows, np.concatenate(left)) if rests else None


def _nnet1_pick() -> streams.Pick:
    """What its tool picks: it never seeds C's `rand`, so each epoch picks alike."""
    draws = KaldiDraws(1)
    return lambda count: draws.rand() % count


def _tensors(plan: streams.Plan) -> Rows:
    names = ("starts", "lengths", "fresh", "streams", "times")
    return {name: tf.constant(getattr(plan, name)) for name in names}


def _frames_of(lengths: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The frames of utterances that lie end to end, in another order of these."""
    starts = np.cumsum(lengths) - lengths
    ends = np.cumsum(lengths[order])
    shift = starts[order] - (ends - lengths[order])
    return np.arange(lengths.sum()) + np.repeat(shift, lengths[order])


def _taken(rows: Rows, frames: np.ndarray) -> Rows:
    return {name: tf.gather(rows[name], frames) for name in _FRAMES}


def _joined(before: Rows, after: Rows) -> Rows:
    width = max(rows["ids"].shape[1] for rows in (before, after))

    def widened(rows: Rows, name: str) -> tf.Tensor:
        if name not in ("ids", "values"):
            return rows[name]
        return tf.pad(rows[name], [[0, 0], [0, width - rows[name].shape[1]]])

    return {
        name: tf.concat([widened(before, name), widened(after, name)], axis=0)
        for name in _FRAMES
    }
