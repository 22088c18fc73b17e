"""SequenceTrainer: epochs of minibatches of sequences, several in a call."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import along_time
from seqzoo.zoo.training.frame_trainer import FrameTrainer, State
from seqzoo.zoo.training.sequence_data import Batching


class SequenceTrainer(FrameTrainer):
    """Trains and scores a list of layers on sequences, as `SequenceEpochs` gives them.

    In `multistream` batching the states of recurrent layers are carried from one
    minibatch to the next, start from zeros where an utterance begins, and gradients
    end at the minibatch's start; otherwise each minibatch holds whole utterances.
    Gradients and losses are sums over the frames that are no padding.

    Args:
        net: layers of `keras_layers.to_layers`.
        objective: as of `FrameTrainer`.
        optimizer: a `KaldiSGD`.
        batching: how the minibatches are made.
        report_frames: frames between two entries of the progress vector.
        kaldi_gradients: True starts a `Recurrent` from zeros in every minibatch, as
            nnet1 does; layers have their own.

    Raises:
        InputError: as `FrameTrainer`; or a layer that must see whole utterances, and
            batching in pieces of them.
    """

    def __init__(
        self,
        net: Sequence[keras.layers.Layer],
        objective: str,
        optimizer: layers.KaldiSGD,
        batching: Batching,
        report_frames: int = 1_800_000,
        kaldi_gradients: bool = False,
    ):
        self.batching = batching
        self._kaldi_gradients = kaldi_gradients
        if batching.carries:
            _check_carried(net)
        super().__init__(net, objective, optimizer, report_frames=report_frames)
        last = self._objective.body[-1]
        if last is not net[-1] and not isinstance(last, keras.layers.Layer):
            if along_time.looks_along_time(net[-1]):
                raise InputError(
                    f"{net[-1].name} holds both softmaxes and layers along time; put "
                    "the latter into a component before it."
                )

    def forward_sequences(
        self, inputs: tf.Tensor, mask: tf.Tensor, state: State, training: bool
    ) -> tuple[tf.Tensor, State]:
        """The last layer's output, float32, and the states it leaves.

        Args:
            inputs: `(streams, time, dim)`.
            mask: `(streams, time)` bool.
            state: of each recurrent layer, if they are carried; else empty.
            training: whether dropout is on.
        """
        before = iter(state)
        after: State = []
        x = inputs
        for layer in self._objective.body:
            if self._carries(layer):
                x, left = layer.run(x, next(before), mask)
                after.append(left)
            else:
                x = along_time.call(layer, x, mask, training=training)
        return tf.cast(x, tf.float32), after

    def _count(self, rows) -> int:
        return int(rows["times"].shape[0])

    def _graph(self, step: Callable[..., Any]) -> Callable[..., Any]:
        return _OneTrace(step)

    def _zero_state(self) -> State:
        streams = self.batching.num_streams
        body = self._objective.body
        return [layer.zero_state(streams) for layer in body if self._carries(layer)]

    def _carries(self, layer: Any) -> bool:
        if self._kaldi_gradients and isinstance(layer, layers.Recurrent):
            return False
        return self.batching.carries and along_time.is_recurrent(layer)

    def _minibatch(self, rows, number):
        """The frames of a minibatch laid out as `(streams, time)`, and flat targets."""
        streams, time = rows["streams"][number], rows["times"][number]
        starts, lengths, fresh = (
            rows[name][number, :streams] for name in ("starts", "lengths", "fresh")
        )
        if self.batching.carries:
            # Known sizes make a faster graph.
            time, known = self.batching.batch_size, [self.batching.num_streams]
            starts, lengths, fresh = (
                tf.ensure_shape(part, known) for part in (starts, lengths, fresh)
            )
        steps = tf.range(time)
        mask = steps < lengths[:, tf.newaxis]
        index = tf.where(mask, starts[:, tf.newaxis] + steps, 0)
        inputs = tf.gather(rows["inputs"], index)
        flat, real = tf.reshape(index, [-1]), tf.reshape(mask, [-1])
        return {
            "inputs": tf.where(mask[..., tf.newaxis], inputs, 0),
            "mask": mask,
            "fresh": fresh,
            "ids": tf.gather(rows["ids"], flat),
            "values": tf.gather(rows["values"], flat),
            "weights": tf.where(real, tf.gather(rows["weights"], flat), 0),
        }

    def _outputs(self, batch, state: State, training: bool):
        """As `(streams * time, dim)`, and the states they leave."""
        kept = tf.logical_not(batch["fresh"])[:, tf.newaxis]
        state = [tuple(tf.where(kept, s, 0) for s in layer) for layer in state]
        output, state = self.forward_sequences(
            batch["inputs"], batch["mask"], state, training
        )
        return tf.reshape(output, [-1, self._objective.dim]), state


class _OneTrace:
    """A step over fillings of any size as one graph, since tracing takes long.

    Targets of one class a frame, which most are, have a graph of their own.
    """

    def __init__(self, step: Callable[..., Any]):
        self._step = step
        self._graphs: dict[bool, Any] = {}

    def __call__(self, rows, start, stop, state):
        single = rows["ids"].shape[1] == 1
        if single not in self._graphs:
            specs = {name: _any_size(value) for name, value in rows.items()}
            width = rows["inputs"].shape[1]
            specs["inputs"] = tf.TensorSpec([None, width], rows["inputs"].dtype)
            if single:
                for name in ("ids", "values"):
                    specs[name] = tf.TensorSpec([None, 1], rows[name].dtype)
            number = tf.TensorSpec([], tf.int32)
            states = tf.nest.map_structure(tf.TensorSpec.from_tensor, state)
            self._graphs[single] = tf.function(
                self._step,
                input_signature=[specs, number, number, states],
                autograph=False,
            )
        return self._graphs[single](rows, start, stop, state)


def _any_size(tensor: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec([None] * tensor.shape.rank, tensor.dtype)


def _check_carried(net: Sequence[Any]) -> None:
    for number, layer in enumerate(net, 1):
        if along_time.looks_along_time(layer) and not along_time.is_recurrent(layer):
            raise InputError(
                f"component {number} {layer.name} looks at whole utterances, but "
                "nnet-train-multistream gives pieces of them; train with --train_tool="
                "nnet-train-multistream-perutt or nnet-train-perutt."
            )
