"""The signature `step` of a SavedModel: pieces of utterances in, scores out."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from seqzoo.export.stream import Pieces, Stream

NAME = "step"
PREFIX = "state_"
"""Of all parts of a state, so that a client can tell them by their names."""

_SEEN = f"{PREFIX}seen"


class StepSignature:
    """`step` of one model.

    It takes `feats`, float32 `(batch, time, dim)`; `lengths`, int32 `(batch,)`, the
    frames of each piece, 0 or more; `last`, bool `(batch,)`, whether an utterance ends
    with its piece; and the state: 0 in the first step of an utterance, then what the
    step before gave. It gives `outputs`, float32 `(batch, frames, classes)`; `lengths`,
    how many of those frames each utterance has; and the new state, 0 where an utterance
    ended. `state_seen`, int32 `(batch,)`, counts its frames.

    Args:
        model: a functional Keras model of `{"feats": ...}` to one output.
        finish: what is done with the model's output.

    Raises:
        NoStreamError: if the model cannot run on pieces.
    """

    def __init__(
        self, model: keras.Model, finish: Callable[[tf.Tensor], tf.Tensor]
    ) -> None:
        self._finish = finish
        self._stream = Stream(model)
        self._dim = int(model.input["feats"].shape[-1])
        self.recurrent = self._stream.recurrent
        self.delay = self._stream.delay
        """Frames of the future that an output waits for."""

    def state(self) -> dict[str, tf.TensorSpec]:
        """The parts of a state."""
        parts = {
            f"{PREFIX}{name}": tf.TensorSpec((None, *size), tf.float32)
            for name, size in self._stream.sizes.items()
        }
        return {_SEEN: tf.TensorSpec((None,), tf.int32), **parts}

    def function(self) -> Any:
        """The signature."""
        specs = {
            "feats": tf.TensorSpec((None, None, self._dim), tf.float32),
            "lengths": tf.TensorSpec((None,), tf.int32),
            "last": tf.TensorSpec((None,), tf.bool),
            **self.state(),
        }
        named = {
            name: tf.TensorSpec(spec.shape, spec.dtype, name)
            for name, spec in specs.items()
        }
        return tf.function(self._step, autograph=False).get_concrete_function(**named)

    def _step(
        self, feats: tf.Tensor, lengths: tf.Tensor, last: tf.Tensor, **state: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        lengths = checked_lengths(feats, lengths)
        time = tf.reduce_max(tf.concat([lengths, [0]], 0))
        feats = feats[:, :time]
        real = tf.sequence_mask(lengths, time)[..., tf.newaxis]
        seen = state[_SEEN]
        made, kept = self._stream.run(
            Pieces(tf.where(real, feats, 0.0), lengths, seen, last),
            {name.removeprefix(PREFIX): value for name, value in state.items()},
        )
        outputs = self._finish(tf.cast(made.rows, tf.float32))
        real = tf.sequence_mask(made.lengths, tf.shape(outputs)[1])[..., tf.newaxis]
        return {
            "outputs": tf.where(real, outputs, 0.0),
            "lengths": made.lengths,
            _SEEN: tf.where(last, 0, seen + lengths),
            **{f"{PREFIX}{name}": value for name, value in kept.items()},
        }


def checked_lengths(feats: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """`lengths`; the graph fails where they do not fit `feats`."""
    batch, time = tf.unstack(tf.shape(feats)[:2])
    checks = [
        tf.debugging.Assert(tf.reduce_all(right), [f"lengths must be {what}."])
        for right, what in (
            (tf.size(lengths) == batch, "one number for each utterance"),
            (lengths >= 0, "0 or more"),
            (lengths <= time, "at most the frames in feats"),
        )
    ]
    with tf.control_dependencies(checks):  # Before a layer fails of it.
        return tf.identity(lengths)
