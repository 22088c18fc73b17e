"""Blocks of features without targets, over several passes as one stream."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.frame_blocks import Block

Feats = Callable[[], Iterable[tuple[str, NDArray[np.float32]]]]
"""Called for each pass over the data: `(utterance, (time, dim) features)` pairs."""


def blocks(
    feats: Feats, passes: int, buffer_frames: int, minibatch_size: int
) -> Iterator[Block]:
    """Cuts a set where nnet1's buffer would be full, and where a pass ends.

    Between two passes the buffer is used up but for what fills no minibatch; that
    stays in it. Only the last block of the last pass is marked as `last`.

    Args:
        feats: of the set; a pass may leave out what others have.
        passes: over the set.
        buffer_frames: nnet1's --randomizer-size.
        minibatch_size: frames.

    Raises:
        InputError: a pass without frames, or an utterance of another dimension.
    """
    left = 0
    for number in range(passes):
        cut = _one_pass(feats(), left, buffer_frames, minibatch_size)
        waiting: list[NDArray[np.float32]] | None = None
        for utterances in cut:
            if waiting is not None:
                yield _block(waiting, last=False)
            waiting = utterances
            left = (left + sum(map(len, utterances))) % minibatch_size
        if waiting is None:
            raise InputError("no utterance: there are no features that can be used.")
        yield _block(waiting, last=number == passes - 1)


def cuts(
    lengths: Iterable[int], passes: int, buffer_frames: int, minibatch_size: int
) -> list[int]:
    """How many blocks `blocks` makes in each pass, from the utterances' frames."""
    found = []
    left = 0
    lengths = list(lengths)
    for _ in range(passes):
        filled, count, held = left, 0, False
        for length in lengths:
            if held and filled > buffer_frames:
                count += 1
                filled %= minibatch_size
            filled, held = filled + length, True
        found.append(count + held)
        left = filled % minibatch_size
    return found


def _one_pass(
    feats: Iterable[tuple[str, NDArray[np.float32]]],
    filled: int,
    buffer_frames: int,
    minibatch_size: int,
) -> Iterator[list[NDArray[np.float32]]]:
    held: list[NDArray[np.float32]] = []
    for key, matrix in feats:
        if held and matrix.shape[1] != held[0].shape[1]:
            raise InputError(
                f"utterance {key}: features of {matrix.shape[1]} dimensions, but those "
                f"before have {held[0].shape[1]}; all must have the same."
            )
        if held and filled > buffer_frames:
            yield held
            held = []
            filled %= minibatch_size
        held.append(matrix)
        filled += len(matrix)
    if held:
        yield held


def _block(utterances: list[NDArray[np.float32]], last: bool) -> Block:
    frames = sum(map(len, utterances))
    return Block(
        feats=np.concatenate(utterances),
        lengths=np.array([len(matrix) for matrix in utterances], np.int32),
        ids=np.zeros((frames, 1), np.int32),
        values=np.zeros((frames, 1), np.float32),
        weights=np.ones(frames, np.float32),
        last=last,
    )
