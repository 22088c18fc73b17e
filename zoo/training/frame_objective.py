"""Where a network ends and its loss begins: final softmaxes belong to the loss."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import keras
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.training import objective as objectives
from seqzoo.zoo.training.frame_sums import FrameSums
from seqzoo.zoo.training.multitask_sums import MultitaskSums

Layer: TypeAlias = Any


class _Range(NamedTuple):
    """Some outputs that stand side by side."""

    dim: int
    softmax: bool
    """Whether one softmax is over them, which the loss takes over."""
    kaldi: bool = False
    """Whether the softmax passes the gradient through as it is, as nnet1's does."""
    masked: bool = False
    """Whether the gradient then goes through nnet1's mask of blocks."""


class FrameObjective:
    """The loss of a network's outputs.

    Softmaxes at the end of the network, in a `Softmax`, a `BlockSoftmax` or branches
    of a `Parallel`, are computed with the loss, whose gradient is then that of the
    numbers before them. Only `mse` alone leaves the network as it is.

    Args:
        net: layers with `dims`.
        text: `xent`, `mse` or `multitask,...`.

    Attributes:
        body: what is to be run of the network: callables of a tensor and `training`.
        loss: `(outputs of body, ids, values, weights) -> FrameLoss`.
        sums_shape: of its `sums`.

    Raises:
        InputError: an unknown objective, or one that the network's end does not fit.
    """

    def __init__(self, net: Sequence[keras.layers.Layer], text: str):
        self.text = text
        self.parts = objectives.parse(text)
        self.dim = int(net[-1].dims[1])
        self.body: list[Any] = list(net)
        ranges = [_Range(self.dim, False)]
        if text != "mse":
            self.body, ranges = _taken_apart(net)
        self.several = self.parts[0].dim is not None
        shares = _shared_out(ranges, self.parts, self.dim, net[-1].name)
        tasks = [
            layers.Task(_loss(part, share), sum(r.dim for r in share), part.weight)
            for part, share in zip(self.parts, shares, strict=True)
        ]
        self.sums_shape = [1 + len(tasks), 4] if self.several else [4]
        self.loss: Callable[..., layers.FrameLoss] = tasks[0].loss
        if self.several:
            self.loss = functools.partial(layers.multitask, tasks=tasks)
        if any(r.masked for r in ranges):
            self.loss = _masked(self.loss, ranges)

    def sums(self, report_frames: int) -> FrameSums | MultitaskSums:
        """An empty account of a pass."""
        if self.several:
            return MultitaskSums(self.parts, report_frames)
        return FrameSums(self.text, self.dim, report_frames)


def _taken_apart(net: Sequence[Layer]) -> tuple[list[Any], list[_Range]]:
    """A network without its final softmaxes, and the ranges of its outputs."""
    *before, last = net
    if isinstance(last, keras.layers.Softmax):
        kaldi = getattr(last, "kaldi_gradients", False)
        return before, [_Range(last.dims[1], True, kaldi)]
    if isinstance(last, layers.BlockSoftmax):
        kaldi = last.kaldi_gradients
        return before, [_Range(dim, True, kaldi, kaldi) for dim in last.block_dims]
    if isinstance(last, layers.Parallel):
        parts = [_taken_apart(branch) for branch in last.nets]
        ranges = [one for _, found in parts for one in found]
        if any(one.softmax for one in ranges):
            return [*before, _Branches(last, [body for body, _ in parts])], ranges
    return list(net), [_Range(last.dims[1], False)]


class _Branches:
    """A `Parallel` whose branches go without their last softmaxes."""

    def __init__(self, layer: Layer, bodies: Sequence[Sequence[Callable]]):
        self._widths = layer.input_dims
        self._bodies = bodies

    def __call__(self, inputs, training: bool = False):
        outputs = []
        parts = tf.split(inputs, self._widths, axis=-1)
        for x, body in zip(parts, self._bodies, strict=True):
            for layer in body:
                x = layer(x, training=training)
            outputs.append(tf.cast(x, tf.float32))
        return tf.concat(outputs, axis=-1)


def _shared_out(
    ranges: Sequence[_Range], parts: Sequence[objectives.Part], dim: int, name: str
) -> list[list[_Range]]:
    """The ranges of each loss; those without softmax may be cut."""
    if parts[0].dim is None:
        parts = [objectives.Part(parts[0].loss, dim)]
    wanted = sum(part.dim or 0 for part in parts)
    if wanted != dim:
        told = " + ".join(str(part.dim) for part in parts)
        raise InputError(
            f"the losses of the objective are over {told} = {wanted} outputs, but the "
            f"network has {dim}."
        )
    left = list(ranges)
    shares = []
    for number, part in enumerate(parts, 1):
        share, missing = [], part.dim or 0
        while missing:
            first = left.pop(0)
            if first.dim > missing:
                if first.softmax:
                    raise InputError(
                        f"loss {number}, {part.loss} over {part.dim} outputs, ends "
                        f"inside a softmax over {first.dim}; the network's are over "
                        f"{_told(ranges)}, give losses over whole ones."
                    )
                left.insert(0, first._replace(dim=first.dim - missing))
                first = first._replace(dim=missing)
            share.append(first)
            missing -= first.dim
        if part.loss == "xent" and not all(one.softmax for one in share):
            raise InputError(
                f"the network ends in {name}, but objective xent needs <Softmax> or "
                "<BlockSoftmax>; add it, or give --objective_function=mse."
            )
        shares.append(share)
    return shares


def _told(ranges: Sequence[_Range]) -> str:
    return ", ".join(str(one.dim) for one in ranges if one.softmax)


def _loss(
    part: objectives.Part, share: Sequence[_Range]
) -> Callable[..., layers.FrameLoss]:
    """One loss of the numbers before the softmaxes of its ranges."""
    masked = any(one.masked for one in share)
    if part.loss == "xent":
        if len(share) == 1:
            return layers.xent
        return functools.partial(
            layers.xent, blocks=[one.dim for one in share], kaldi_gradients=masked
        )
    if not any(one.softmax for one in share):
        return layers.mse

    def mse(outputs, ids, values, weights):
        """Its gradient is taken back through the softmaxes."""
        dims = [one.dim for one in share]
        numbers = [
            tf.nn.softmax(x) if one.softmax else x
            for one, x in zip(share, tf.split(outputs, dims, axis=1), strict=True)
        ]
        loss = layers.mse(tf.concat(numbers, axis=1), ids, values, weights)
        diffs = [
            y * (d - tf.reduce_sum(d * y, axis=1, keepdims=True))
            if one.softmax and not one.kaldi
            else d
            for one, y, d in zip(
                share, numbers, tf.split(loss.diff, dims, axis=1), strict=True
            )
        ]
        return loss._replace(diff=tf.concat(diffs, axis=1))

    return mse


def _masked(
    loss: Callable[..., layers.FrameLoss], ranges: Sequence[_Range]
) -> Callable[..., layers.FrameLoss]:
    """A loss whose gradient goes back as through nnet1's block softmax."""
    dims = [one.dim for one in ranges]

    def apply(outputs, ids, values, weights):
        found = loss(outputs, ids, values, weights)
        diffs = [
            diff * (1 - tf.reduce_sum(diff, axis=1, keepdims=True))
            if one.masked
            else diff
            for one, diff in zip(
                ranges, tf.split(found.diff, dims, axis=1), strict=True
            )
        ]
        return found._replace(diff=tf.concat(diffs, axis=1))

    return apply
