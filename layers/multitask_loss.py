"""Several frame losses, each over a range of a network's outputs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import tensorflow as tf

from seqzoo.layers.frame_loss import FrameLoss


class Task(NamedTuple):
    """One of several losses.

    Attributes:
        loss: `(outputs, ids, values, weights) -> FrameLoss`.
        dim: how many outputs it is over.
        weight: times its gradient.
    """

    loss: Callable[..., FrameLoss]
    dim: int
    weight: float


def multitask(outputs, ids, values, weights, tasks: Sequence[Task]) -> FrameLoss:
    """Each task's loss over its range of outputs.

    The ranges lie side by side. A frame counts in a task if one of its targets is in
    the task's range, else its weight there is 0.

    Args:
        outputs: `(frames, dim)` float32; the tasks' dimensions add up to `dim`.
        ids, values: `(frames, k)` target pairs; a pair of value 0 is padding.
        weights: `(frames,)` frame weights.
        tasks: in the order of their ranges.

    Returns:
        `diff` as of one loss, each range times its task's weight; `sums` is
        `(1 + tasks, 4)`: first 0, 0, 0 and the frames with targets in any task, times
        their weights, then what each loss gives; `per_class` is that of each task for
        its own outputs.

    Raises:
        ValueError: if the dimensions do not add up.

    Source: Kaldi nnet1 MultiTaskLoss, src/nnet/nnet-loss.cc.
    """
    dims = [task.dim for task in tasks]
    if sum(dims) != outputs.shape[1]:
        raise ValueError(
            f"the losses are over {' + '.join(map(str, dims))} = {sum(dims)} outputs, "
            f"but the network has {outputs.shape[1]}."
        )
    given = values != 0
    seen = tf.reduce_any(given, axis=1)
    zero = tf.zeros([], tf.float64)
    counted = tf.reduce_sum(tf.where(seen, weights, 0.0))
    rows = [tf.stack([zero, zero, zero, tf.cast(counted, tf.float64)])]
    diffs, per_class = [], []
    start = 0
    for task, part in zip(tasks, tf.split(outputs, dims, axis=1), strict=True):
        inside = given & (ids >= start) & (ids < start + task.dim)
        loss = task.loss(
            part,
            tf.where(inside, ids - start, 0),
            tf.where(inside, values, 0.0),
            tf.where(tf.reduce_any(inside, axis=1), weights, 0.0),
        )
        diffs.append(task.weight * loss.diff)
        rows.append(loss.sums)
        per_class.append(loss.per_class)
        start += task.dim
    return FrameLoss(
        tf.concat(diffs, axis=1), tf.stack(rows), tf.concat(per_class, axis=1)
    )
