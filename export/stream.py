"""A model's layers on pieces of utterances, with the state between them."""

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import keras
import tensorflow as tf

from seqzoo import layers
from seqzoo.export.recurrent_piece import run_piece

State = Mapping[str, tf.Tensor]

# Take a mask, but an output frame depends on no other frame.
_FRAME_BY_FRAME = (keras.layers.Softmax, layers.LengthNorm)


class NoStreamError(ValueError):
    """A model cannot run on pieces of utterances; says why."""


@dataclasses.dataclass(frozen=True)
class Pieces:
    """One piece of each utterance, somewhere within a model.

    Attributes:
        rows: `(batch, time, dim)`; what stands behind a piece's frames is 0.
        lengths: `(batch,)` int32, frames in each piece.
        before: `(batch,)` int32, frames of the utterances in earlier pieces.
        last: `(batch,)`, whether an utterance ends with its piece.
    """

    rows: tf.Tensor
    lengths: tf.Tensor
    before: tf.Tensor
    last: tf.Tensor


class Stage(Protocol):
    """Some layers."""

    delay: int
    """Frames of the future that an output waits for."""

    recurrent: bool
    """Whether it carries more than a window of frames."""

    sizes: dict[str, tuple[int, ...]]
    """Shapes of its parts of a state, without the batch."""

    def run(self, pieces: Pieces, state: State) -> tuple[Pieces, dict[str, tf.Tensor]]:
        """What comes out of `pieces`, and the state for the next ones."""


class Stream:
    """A model that is a chain of layers, on pieces of utterances.

    The outputs of all pieces of an utterance, one after the other, are those of the
    whole utterance. A layer that splices `n` frames of the future puts a frame out `n`
    frames late; at the end of the utterance the rest follows.

    Args:
        model: a functional Keras model of one input.

    Attributes:
        delay: frames of the future that an output waits for.
        recurrent: whether a layer is recurrent.
        sizes: shapes of the parts of a state, without the batch, by name:
            `1_frames` is a window of frames, `2_r` and `2_c` output and cell of an
            LSTM, `2_y` the output of another recurrent layer, each by its number.

    Raises:
        NoStreamError: if it is no chain, or a layer needs whole utterances.
    """

    def __init__(self, model: keras.Model):
        numbers = itertools.count(1)
        self._stages = _stages(_chain(model), numbers)
        self.delay = sum(stage.delay for stage in self._stages)
        self.recurrent = any(stage.recurrent for stage in self._stages)
        self.sizes = {k: v for stage in self._stages for k, v in stage.sizes.items()}

    def run(self, pieces: Pieces, state: State) -> tuple[Pieces, dict[str, tf.Tensor]]:
        """The outputs for some pieces.

        Args:
            pieces: of the model's input.
            state: of the pieces before, all 0 at the start of an utterance.

        Returns:
            The outputs, as many as there may be now, and the state for the next
            pieces: all 0 where an utterance ended.
        """
        return _run(self._stages, pieces, state)


def _run(
    stages: Sequence[Stage], pieces: Pieces, state: State
) -> tuple[Pieces, dict[str, tf.Tensor]]:
    new: dict[str, tf.Tensor] = {}
    for stage in stages:
        pieces, part = stage.run(pieces, state)
        new.update(part)
    return pieces, new


def _chain(model: keras.Model) -> list[Any]:
    """The layers of a model, each of which takes what the one before puts out."""
    found = []
    [x] = tf.nest.flatten(model.input)
    for layer in model.layers:
        if isinstance(layer, keras.layers.InputLayer):
            continue
        if layer.input is not x:
            raise NoStreamError(f"{model.name} is no chain of layers at {layer.name}")
        found.append(layer)
        x = layer.output
    return found


def _stages(chain: Sequence[Any], numbers: Iterator[int]) -> list[Stage]:
    return [_stage(layer, numbers) for layer in chain]


def _stage(layer: Any, numbers: Iterator[int]) -> Stage:
    if isinstance(layer, layers.Splice):
        return _Window(layer.offsets, _dims(layer)[0], next(numbers))
    if hasattr(layer, "run"):
        return _Recurrent(layer, next(numbers))
    if isinstance(layer, layers.Parallel):
        branches = [_stages(net, numbers) for net in layer.nets]
        if any(stage.sizes for branch in branches for stage in branch):
            return _Parallel(layer, branches, numbers)
        return _Frames(layer)
    if isinstance(layer, _FRAME_BY_FRAME) or not layer._call_has_mask_arg:
        return _Frames(layer)
    raise NoStreamError(f"layer {layer.name} needs whole utterances")


def _dims(layer: Any) -> tuple[int, int]:
    """Widths of a layer's input and output; layers within others have `dims`."""
    if hasattr(layer, "dims"):
        return layer.dims
    return layer.input.shape[-1], layer.output.shape[-1]


class _Frames:
    """A layer that looks at one frame at a time."""

    delay = 0
    recurrent = False
    sizes: dict[str, tuple[int, ...]] = {}

    def __init__(self, layer: Any):
        self._layer = layer

    def run(self, pieces: Pieces, state: State) -> tuple[Pieces, dict[str, tf.Tensor]]:
        rows = self._layer(pieces.rows)
        real = tf.sequence_mask(pieces.lengths, tf.shape(rows)[1])[..., tf.newaxis]
        return dataclasses.replace(pieces, rows=tf.where(real, rows, 0)), {}


class _Window:
    """A splice: it keeps the frames that later ones look back to.

    With `delay` it waits for more of the future than it puts out.
    """

    recurrent = False

    def __init__(self, offsets: Sequence[int], dim: int, number: int, delay: int = 0):
        self._offsets = tuple(offsets)
        self.delay = max(delay, *self._offsets)
        self._kept = self.delay - min(0, *self._offsets)
        self._name = f"{number}_frames"
        self.sizes: dict[str, tuple[int, ...]] = {}
        if self._kept:
            self.sizes[self._name] = (self._kept, dim)

    def run(self, pieces: Pieces, state: State) -> tuple[Pieces, dict[str, tf.Tensor]]:
        rows, before, last = pieces.rows, pieces.before, pieces.last
        if self._kept:
            rows = tf.concat([tf.cast(state[self._name], rows.dtype), rows], axis=1)
        # In rows, frame t of an utterance is at t - first.
        first = before - self._kept
        end = before + pieces.lengths
        out = tf.maximum(before - self.delay, 0)
        out_end = tf.where(last, end, tf.maximum(end - self.delay, 0))
        lengths = out_end - out
        time = tf.reduce_max(tf.concat([lengths, [0]], 0))
        frames = out[:, tf.newaxis] + tf.range(time)
        wanted = frames[..., tf.newaxis] + tf.constant(self._offsets)
        wanted = tf.minimum(wanted, end[:, tf.newaxis, tf.newaxis] - 1)
        places = tf.maximum(wanted, 0) - first[:, tf.newaxis, tf.newaxis]
        places = tf.clip_by_value(places, 0, tf.maximum(tf.shape(rows)[1] - 1, 0))
        windows = tf.gather(rows, places, axis=1, batch_dims=1)
        width = rows.shape[2] * len(self._offsets)
        windows = tf.reshape(windows, [tf.shape(rows)[0], time, width])
        real = tf.sequence_mask(lengths, time)[..., tf.newaxis]
        made = Pieces(tf.where(real, windows, 0), lengths, out, last)
        if not self._kept:
            return made, {}
        places = pieces.lengths[:, tf.newaxis] + tf.range(self._kept)
        kept = tf.gather(rows, places, axis=1, batch_dims=1)
        return made, {self._name: _unless(last, tf.cast(kept, tf.float32))}


class _Recurrent:
    """A layer with a state of its own."""

    delay = 0
    recurrent = True

    def __init__(self, layer: Any, number: int):
        self._layer = layer
        names = ("r", "c") if len(layer.state_sizes) == 2 else ("y",)
        parts = zip(names, layer.state_sizes, strict=True)
        self.sizes: dict[str, tuple[int, ...]] = {
            f"{number}_{name}": (size,) for name, size in parts
        }

    def run(self, pieces: Pieces, state: State) -> tuple[Pieces, dict[str, tf.Tensor]]:
        parts = tuple(state[name] for name in self.sizes)
        rows, parts = run_piece(self._layer, pieces.rows, parts, pieces.lengths)
        kept = (_unless(pieces.last, tf.cast(part, tf.float32)) for part in parts)
        return (
            dataclasses.replace(pieces, rows=rows),
            dict(zip(self.sizes, kept, strict=True)),
        )


class _Parallel:
    """Networks side by side; the earlier ones wait for the latest."""

    def __init__(
        self, layer: Any, branches: Sequence[list[Stage]], numbers: Iterator[int]
    ):
        self._dims = list(layer.input_dims)
        delays = [sum(stage.delay for stage in branch) for branch in branches]
        self.delay = max(delays)
        self._branches = list(branches)
        for branch, net, delay in zip(branches, layer.nets, delays, strict=True):
            if delay < self.delay:
                wait = self.delay - delay
                branch.append(_Window([0], _dims(net[-1])[1], next(numbers), wait))
        stages = [stage for branch in branches for stage in branch]
        self.recurrent = any(stage.recurrent for stage in stages)
        self.sizes = {k: v for stage in stages for k, v in stage.sizes.items()}

    def run(self, pieces: Pieces, state: State) -> tuple[Pieces, dict[str, tf.Tensor]]:
        new: dict[str, tf.Tensor] = {}
        outputs = []
        made = pieces
        parts = tf.split(pieces.rows, self._dims, axis=-1)
        for branch, part in zip(self._branches, parts, strict=True):
            made, kept = _run(branch, dataclasses.replace(pieces, rows=part), state)
            outputs.append(made.rows)
            new.update(kept)
        return dataclasses.replace(made, rows=tf.concat(outputs, axis=-1)), new


def _unless(last: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """`values`, and 0 where an utterance ended."""
    shape = tf.concat([tf.shape(last), tf.ones(values.shape.rank - 1, tf.int32)], 0)
    return tf.where(tf.reshape(last, shape), 0.0, values)
