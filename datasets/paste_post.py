"""Posteriors of several tasks joined into one, side by side."""

from collections.abc import Sequence

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.posterior import Posterior


def paste_post(
    posteriors: Sequence[Posterior | None], dims: Sequence[int], frames: int
) -> Posterior:
    """Lays the targets of several tasks side by side.

    The classes of task `k` are shifted by the sizes of the tasks before it, as the
    blocks of a block softmax lie.

    Args:
        posteriors: the targets of one utterance in each task; None where it has
            none (Kaldi's paste-post --allow-partial=true).
        dims: number of classes of each task.
        frames: frames of the utterance; all posteriors are that long.

    Raises:
        InputError: another number of frames, or a class outside its task.

    Source: Kaldi paste-post.
    """
    starts = np.cumsum([0, *dims])
    frame_ids, indices, values = [], [], []
    for task, (post, dim) in enumerate(zip(posteriors, dims, strict=True)):
        if post is None:
            continue
        if len(post) != frames:
            raise InputError(
                f"task {task} has targets for {len(post)} frames, but the utterance "
                f"has {frames}."
            )
        wrong = (post.indices < 0) | (post.indices >= dim)
        if wrong.any():
            raise InputError(
                f"task {task} has a target with index {post.indices[wrong][0]}, but "
                f"its classes are 0 to {dim - 1}."
            )
        frame_ids.append(np.repeat(np.arange(frames), np.diff(post.offsets)))
        indices.append(post.indices + starts[task])
        values.append(post.values)
    offsets = np.zeros(frames + 1, np.int64)
    if not frame_ids:
        return Posterior(offsets, np.zeros(0, np.int32), np.zeros(0, np.float32))
    frame_of = np.concatenate(frame_ids)
    order = np.argsort(frame_of, kind="stable")
    np.cumsum(np.bincount(frame_of, minlength=frames), out=offsets[1:])
    return Posterior(
        offsets,
        np.concatenate(indices)[order].astype(np.int32),
        np.concatenate(values)[order],
    )
