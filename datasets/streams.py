"""Streams: which frames of a block of utterances each minibatch of sequences takes.

nnet1's three tools for sequences cut a set in different ways; each is a function here
from the lengths of utterances to a `Plan`. No frame is touched: whoever has the frames
gathers them by the plan.
"""

import bisect
import collections
import dataclasses
import heapq
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Pick = Callable[[int], int]
"""Gives a number from 0 to one below its argument."""


@dataclasses.dataclass(frozen=True)
class Rest:
    """What is left of an utterance when the others of its block are used up."""

    stream: int
    """The stream it goes on in."""

    start: int
    """Its first frame in the block."""

    length: int
    """Frames, at least 1."""

    fresh: bool
    """Whether none of it was used yet."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """Minibatches of pieces of utterances, one stream beside the other.

    In minibatch `m`, stream `s` takes the frames `starts[m, s]` to `starts[m, s] +
    lengths[m, s]` of the block; behind them, up to `times[m]` frames, is padding.

    Attributes:
        starts: `(minibatches, streams)` int32, first frame of each piece.
        lengths: `(minibatches, streams)` int32, its frames; 0 is all padding.
        fresh: `(minibatches, streams)` bool, whether an utterance begins there.
        streams: `(minibatches,)` int32, how many of the streams are used.
        times: `(minibatches,)` int32, frames in each stream, with padding.
        rests: what is left for the next block.
    """

    starts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    fresh: NDArray[np.bool_]
    streams: NDArray[np.int32]
    times: NDArray[np.int32]
    rests: tuple[Rest, ...] = ()

    def __len__(self) -> int:
        return len(self.times)

    def index(self, minibatch: int) -> NDArray[np.int32]:
        """`(streams, time)` frames of a minibatch; -1 is padding."""
        streams, time = self.streams[minibatch], np.arange(self.times[minibatch])
        starts = self.starts[minibatch, :streams, np.newaxis]
        real = time < self.lengths[minibatch, :streams, np.newaxis]
        return np.where(real, starts + time, -1).astype(np.int32)


def multistream(
    lengths: Sequence[int],
    num_streams: int,
    batch_size: int,
    *,
    rests: Sequence[Rest] = (),
    last: bool = True,
    drop_tail: bool = False,
) -> Plan:
    """Chunks of utterances for truncated back-propagation through time.

    A minibatch is `batch_size` frames of each stream. A stream whose utterance has
    ended takes the next one at the start of the next minibatch, the lower stream
    first; the end of an utterance is padded.

    Args:
        lengths: frames of the utterances, which lie end to end in the block behind
            the rests.
        num_streams: streams.
        batch_size: frames of each stream in a minibatch.
        rests: of the plan of the block before; their frames begin the block.
        last: whether the set ends with this block. If not, the plan ends where a
            stream lacks an utterance, and `rests` has what the others have left.
        drop_tail: end the set, too, where a stream lacks an utterance, as nnet1 does;
            otherwise that stream is padding and the others go on to their ends.

    Source: Kaldi nnet-train-multistream.
    """
    ends = np.cumsum([0, *(rest.length for rest in rests), *lengths])
    pieces = [
        _Piece(rest.stream, 0, int(ends[n]), rest.length, rest.fresh)
        for n, rest in enumerate(rests)
    ]
    free = {stream: 0 for stream in range(num_streams)}
    for piece in pieces:
        free[piece.stream] = piece.stop(batch_size)
    # By the minibatch in which a stream is free, then by stream.
    queue = [(minibatch, stream) for stream, minibatch in free.items()]
    heapq.heapify(queue)
    for length, start in zip(lengths, ends[len(rests) :], strict=False):
        minibatch, stream = queue[0]
        piece = _Piece(stream, minibatch, int(start), int(length), True)
        pieces.append(piece)
        heapq.heapreplace(queue, (piece.stop(batch_size), stream))
    count = queue[0][0]
    if last and not drop_tail:
        count = max(minibatch for minibatch, _ in queue)
    return _chunks(pieces, num_streams, batch_size, count)


@dataclasses.dataclass(frozen=True)
class _Piece:
    """A run of frames in a stream."""

    stream: int
    minibatch: int
    start: int
    length: int
    fresh: bool

    def stop(self, batch_size: int) -> int:
        """The minibatch after its last one."""
        return self.minibatch + -(-self.length // batch_size)


def _chunks(
    pieces: Sequence[_Piece], num_streams: int, batch_size: int, count: int
) -> Plan:
    starts = np.zeros((count, num_streams), np.int32)
    lengths = np.zeros((count, num_streams), np.int32)
    fresh = np.zeros((count, num_streams), bool)
    rests = []
    for piece in pieces:
        begin, stop = piece.minibatch, min(piece.stop(batch_size), count)
        used = max(stop - begin, 0) * batch_size
        if used:
            offsets = np.arange(0, used, batch_size)
            starts[begin:stop, piece.stream] = piece.start + offsets
            left = np.minimum(piece.length - offsets, batch_size)
            lengths[begin:stop, piece.stream] = left
            fresh[begin, piece.stream] = piece.fresh
        if piece.length > used:
            rest = piece.start + used, piece.length - used
            rests.append(Rest(piece.stream, *rest, piece.fresh and not used))
    return Plan(
        starts,
        lengths,
        fresh,
        np.full(count, num_streams, np.int32),
        np.full(count, batch_size, np.int32),
        tuple(sorted(rests, key=lambda rest: rest.stream)),
    )


def perutt(lengths: Sequence[int]) -> Plan:
    """One utterance a minibatch, in order.

    Args:
        lengths: frames of the utterances, which lie end to end.

    Source: Kaldi nnet-train-perutt.
    """
    return _groups(lengths, [[n] for n in range(len(lengths))])


def multistream_perutt(
    lengths: Sequence[int],
    num_streams: int,
    max_frames: int,
    pick: Pick,
    drop_last: bool = False,
) -> Plan:
    """Whole utterances of like lengths, several a minibatch.

    For each minibatch one of the lengths that are left is picked. It takes utterances
    of that length, and when there are none of the next longer one, or of the longest
    if none is longer; until it has `num_streams`, or one more, were it no longer,
    would make more than `max_frames` with the padding.

    Args:
        lengths: frames of the utterances, which lie end to end.
        num_streams: utterances in a minibatch, at most.
        max_frames: frames in a minibatch, with padding.
        pick: picks among the lengths that are left, from the shortest.
        drop_last: leave out the utterance that is left at the end, as nnet1 does.

    Source: Kaldi nnet-train-multistream-perutt.
    """
    waiting: dict[int, collections.deque[int]] = {}
    for utterance, length in enumerate(lengths):
        waiting.setdefault(int(length), collections.deque()).append(utterance)
    known = sorted(waiting)
    left = len(lengths) - drop_last
    groups = []
    while left > 0:
        wanted = known[pick(len(known))]
        group: list[int] = []
        longest = 0
        while left > 0:
            at = min(bisect.bisect_left(known, wanted), len(known) - 1)
            length = known[at]
            group.append(waiting[length].popleft())
            left -= 1
            if not waiting[length]:
                del known[at]
            longest = max(longest, length)
            full = longest * (len(group) + 1) > max_frames
            if len(group) == num_streams or full:
                break
        groups.append(group)
    return _groups(lengths, groups)


def _groups(lengths: Sequence[int], groups: Sequence[Sequence[int]]) -> Plan:
    ends = np.cumsum([0, *lengths])
    width = max(map(len, groups), default=1)
    starts = np.zeros((len(groups), width), np.int32)
    frames = np.zeros((len(groups), width), np.int32)
    for row, group in enumerate(groups):
        starts[row, : len(group)] = [ends[n] for n in group]
        frames[row, : len(group)] = [lengths[n] for n in group]
    return Plan(
        starts,
        frames,
        frames > 0,
        np.array([len(group) for group in groups], np.int32),
        frames.max(axis=1, initial=0).astype(np.int32),
    )
