"""FrameTrainer: epochs of minibatches of shuffled frames, several in a call."""

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from seqzoo import layers
from seqzoo.zoo.training.frame_objective import FrameObjective
from seqzoo.zoo.training.frame_sums import FrameSums
from seqzoo.zoo.training.multitask_sums import MultitaskSums

Sums: TypeAlias = FrameSums | MultitaskSums
State: TypeAlias = list[tuple[tf.Tensor, ...]]

# One call into the graph is this long: long enough that Python costs nothing,
# short enough for a progress bar and an interrupt.
_SECONDS_A_CALL = 0.5


class FrameTrainer:
    """Trains and scores a list of layers on frames.

    Args:
        net: layers of `keras_layers.to_layers`, from spliced, normalised frames to
            the output. For `xent` it ends in a softmax, which the loss takes over.
        objective: `xent`, `mse` or `multitask,LOSS,DIM,WEIGHT,...`.
        optimizer: a `KaldiSGD`.
        minibatch_size: frames.
        report_frames: frames between two entries of the progress vector.

    Raises:
        InputError: unknown objective, or one that the network's end does not fit.
    """

    def __init__(
        self,
        net: Sequence[keras.layers.Layer],
        objective: str,
        optimizer: layers.KaldiSGD,
        minibatch_size: int = 256,
        report_frames: int = 1_800_000,
    ):
        self.net = list(net)
        self.objective = objective
        self.optimizer = optimizer
        self.minibatch_size = minibatch_size
        self.report_frames = report_frames
        self.traces = 0
        self._objective = FrameObjective(net, objective)
        self._loss = self._objective.loss
        self.variables = [v for layer in net for v in layer.trainable_variables]
        optimizer.build(self.variables)
        self._minibatches_a_call = 1
        self._train_graph = self._graph(self._train_range)
        self._evaluate_graph = self._graph(self._evaluate_range)

    def set_dropout(self, rate: float) -> int:
        """Sets the rate of all dropout without a new trace; how many layers have it."""
        found = list(_dropouts(self.net))
        for layer in found:
            layer.set_rate(rate)
        return len(found)

    def seed_dropout(self, seed: int, epoch: int) -> None:
        """Makes dropout depend on these alone, for resumed runs to agree."""
        for number, layer in enumerate(_dropouts(self.net)):
            first = (seed * 1009 + number) % 2**31
            layer.seed_generator.state.assign([first, epoch << 16])

    def train(
        self,
        fillings: Iterable[dict[str, tf.Tensor]],
        on_call: Callable[[Sums], Any] | None = None,
        on_edge: Callable[[str, dict[str, tf.Tensor]], Any] | None = None,
    ) -> Sums:
        """One epoch.

        Args:
            fillings: of `frame_data.fillings` or `frame_data.Epochs`.
            on_call: told the sums so far, about twice a second.
            on_edge: told `"first"` and `"last"` with the rows of the first and the
                last minibatch, before they are learnt.
        """
        return self._run(fillings, self._train_graph, on_call, on_edge)

    def evaluate(
        self,
        fillings: Iterable[dict[str, tf.Tensor]],
        on_call: Callable[[Sums], Any] | None = None,
    ) -> Sums:
        """One pass without learning."""
        return self._run(fillings, self._evaluate_graph, on_call, None)

    def _run(self, fillings, run_range, on_call, on_edge) -> Sums:
        sums, state = None, self._zero_state()
        ahead = iter(fillings)
        rows = next(ahead, None)
        while rows is not None:
            following = next(ahead, None)
            if sums is None:
                sums = self._objective.sums(self.report_frames)
                if on_edge is not None:
                    on_edge("first", self._minibatch(rows, 0))
            count = self._count(rows)
            edge = following is None and on_edge is not None
            run = functools.partial(self._run_filling, rows, run_range, sums, on_call)
            state = run(0, count - 1 if edge else count, state)
            if edge:
                on_edge("last", self._minibatch(rows, count - 1))
                state = run(count - 1, count, state)
            rows = following
        return sums or self._objective.sums(self.report_frames)

    def _run_filling(self, rows, run_range, sums, on_call, start, count, state):
        while start < count:
            stop = min(start + self._minibatches_a_call, count)
            begun = time.perf_counter()
            minibatch_sums, per_class, state = run_range(
                rows, tf.constant(start), tf.constant(stop), state
            )
            sums.add(minibatch_sums.numpy(), per_class.numpy())
            seconds = (time.perf_counter() - begun) / (stop - start)
            # At most doubled, so that the first call, which traces, misleads little.
            self._minibatches_a_call = int(
                np.clip(_SECONDS_A_CALL / seconds, 1, 2 * self._minibatches_a_call)
            )
            start = stop
            if on_call is not None:
                on_call(sums)
        return state

    def _graph(self, step: Callable[..., Any]) -> Callable[..., Any]:
        return tf.function(step, reduce_retracing=True, autograph=False)

    def _zero_state(self) -> State:
        """What minibatches hand on to the next, before the first."""
        return []

    def _count(self, rows) -> int:
        """Minibatches in a filling."""
        return -(-int(rows["weights"].shape[0]) // self.minibatch_size)

    def _minibatch(self, rows, number):
        begin = number * self.minibatch_size
        return {k: v[begin : begin + self.minibatch_size] for k, v in rows.items()}

    def forward(self, inputs: tf.Tensor, training: bool) -> list[tf.Tensor]:
        """The output of each layer, the last in float32."""
        outputs = []
        x = inputs
        for layer in self._objective.body:
            x = layer(x, training=training)
            outputs.append(x)
        outputs[-1] = tf.cast(outputs[-1], tf.float32)
        return outputs

    def _outputs(self, batch, state: State, training: bool):
        """What goes into the loss, and the states that the minibatch leaves."""
        return self.forward(batch["inputs"], training)[-1], state

    def _train_range(self, rows, start, stop, state):
        self.traces += 1
        sources = [layers.source(variable) for variable in self.variables]

        def learn(batch, state):
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(sources)
                output, state = self._outputs(batch, state, training=True)
            loss = self._loss(output, batch["ids"], batch["values"], batch["weights"])
            gradients = tape.gradient(output, sources, output_gradients=loss.diff)
            frames = tf.shape(batch["weights"])[0]
            self.optimizer.apply_frames(gradients, self.variables, frames)
            return loss, state

        return self._range(learn, rows, start, stop, state)

    def _evaluate_range(self, rows, start, stop, state):
        self.traces += 1

        def score(batch, state):
            output, state = self._outputs(batch, state, training=False)
            loss = self._loss(output, batch["ids"], batch["values"], batch["weights"])
            return loss, state

        return self._range(score, rows, start, stop, state)

    def _range(self, step, rows, start, stop, state):
        shape = self._objective.sums_shape
        sums = tf.TensorArray(tf.float64, stop - start, element_shape=shape)
        per_class = tf.zeros([4, self._objective.dim], tf.float64)

        def one(number, sums, per_class, state):
            loss, state = step(self._minibatch(rows, number), state)
            sums = sums.write(number - start, loss.sums)
            return number + 1, sums, per_class + loss.per_class, state

        _, sums, per_class, state = tf.while_loop(
            lambda number, *_: number < stop,
            one,
            (start, sums, per_class, state),
            parallel_iterations=1,
        )
        return sums.stack(), per_class, state


def _dropouts(net: Sequence[Any]) -> Iterator[layers.Dropout]:
    for layer in net:
        if isinstance(layer, layers.Dropout):
            yield layer
        for nested in getattr(layer, "nets", ()):
            yield from _dropouts(nested)


def use_bfloat16(net: Sequence[keras.layers.Layer]) -> None:
    """Makes layers compute in bfloat16 with float32 weights.

    Each `Affine` gets a shadow of its weights, which the optimizer keeps up to date.
    """
    for layer in net:
        layer.dtype_policy = keras.DTypePolicy("mixed_bfloat16")
        if isinstance(layer, layers.Affine):
            layers.add_shadow(layer.linearity)
