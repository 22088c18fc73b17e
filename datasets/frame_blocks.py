"""Blocks: the utterances that one filling of nnet1's frame buffer holds."""

import dataclasses
from collections.abc import Iterable, Iterator

import numpy as np

from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.utterances import Utterance


@dataclasses.dataclass(frozen=True)
class Block:
    """Whole utterances laid end to end.

    Attributes:
        feats: `(frames, dim)` float32.
        lengths: `(utterances,)` int32 frames of each.
        ids: `(frames, k)` int32 target classes, k the most pairs a frame has.
        values: `(frames, k)` float32 their values; padding has value 0.
        weights: `(frames,)` float32; frames of weight 0 give context only.
        last: whether the set ends with this block.
    """

    feats: np.ndarray
    lengths: np.ndarray
    ids: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    last: bool


# What a target of value 0 becomes, for it to be told from padding; next to any
# posterior it is 0.
_TINY = np.float32(1e-30)


def target_pairs(targets: Posterior) -> tuple[np.ndarray, np.ndarray]:
    """Ragged targets as `(frames, k)` ids and values, k at least 1.

    Padding has value 0, and no target has: one of 0 gets 1e-30.
    Of two pairs of one frame with the same id the last wins, as when nnet1
    makes a matrix of them.
    """
    counts = np.diff(targets.offsets)
    frames = len(counts)
    given = np.where(targets.values == 0, _TINY, targets.values)
    if frames and counts.min() == 1 == counts.max():
        return targets.indices[:, np.newaxis], given[:, np.newaxis]
    width = max(1, int(counts.max(initial=0)))
    row = np.repeat(np.arange(frames), counts)
    column = np.arange(len(row)) - np.repeat(targets.offsets[:-1], counts)
    ids = np.zeros((frames, width), np.int32)
    values = np.zeros((frames, width), np.float32)
    ids[row, column] = targets.indices
    values[row, column] = given
    # Sorted by (frame, id), all but the last of equal neighbours is overridden.
    order = np.lexsort((column, targets.indices, row))
    again = (np.diff(row[order]) == 0) & (np.diff(targets.indices[order]) == 0)
    lost = order[:-1][again] if len(order) else order
    values[row[lost], column[lost]] = 0.0
    return ids, values


def blocks(
    utterances: Iterable[Utterance], buffer_frames: int, minibatch_size: int
) -> Iterator[Block]:
    """Cuts a set where nnet1's buffer would be full.

    The buffer takes whole utterances until it holds more than `buffer_frames`
    frames of weight above 0; what does not fill a minibatch stays in it and
    counts for the next filling.

    Args:
        utterances: of one set, in order.
        buffer_frames: nnet1's --randomizer-size.
        minibatch_size: frames.
    """
    held: list[Utterance] = []
    filled = 0
    for utterance in utterances:
        if filled > buffer_frames:
            yield _join(held, last=False)
            held = []
            filled %= minibatch_size
        held.append(utterance)
        filled += int(np.count_nonzero(utterance.weights))
    if held:
        yield _join(held, last=True)


def _join(utterances: list[Utterance], last: bool) -> Block:
    pairs = [target_pairs(u.targets) for u in utterances]
    width = max(ids.shape[1] for ids, _ in pairs)
    return Block(
        feats=np.concatenate([u.feats for u in utterances]),
        lengths=np.array([len(u.feats) for u in utterances], np.int32),
        ids=np.concatenate([_widen(ids, width) for ids, _ in pairs]),
        values=np.concatenate([_widen(values, width) for _, values in pairs]),
        weights=np.concatenate([u.weights for u in utterances]),
        last=last,
    )


def _widen(pairs: np.ndarray, width: int) -> np.ndarray:
    return np.pad(pairs, ((0, 0), (0, width - pairs.shape[1])))
