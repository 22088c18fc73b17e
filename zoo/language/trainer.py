"""LanguageTrainer: the steps of training and validation, each one graph."""

import dataclasses
from typing import Any

import keras
import tensorflow as tf

from seqzoo import layers
from seqzoo.layers import lstm_narrow
from seqzoo.zoo.language.language_model import LanguageModel, State
from seqzoo.zoo.training.frame_trainer import use_bfloat16


@dataclasses.dataclass
class Sums:
    """Over the steps so far."""

    loss: float = 0.0
    """Of time steps, each the mean over its real words."""

    time_steps: int = 0
    words: int = 0
    updates: int = 0
    norm: float = 0.0

    @property
    def error(self) -> float:
        """The loss a time step; separators count, as in Torch."""
        return self.loss / max(self.time_steps, 1)


class LanguageTrainer:
    """Trains a model chunk by chunk; the state goes on from one to the next.

    The loss is the sum over time steps of the mean over real words, as dpnn's.

    Args:
        model: its weights are changed.
        optimizer: applies all gradients at once.
        maxnormout: largest norm of rows after a step; 0 or less is none.
        usual_steps: length of most chunks, if there is one: LSTMs in bfloat16 are
            faster where a graph knows it.
    """

    def __init__(
        self,
        model: LanguageModel,
        optimizer: layers.RowSGD,
        maxnormout: float = -1.0,
        usual_steps: int | None = None,
    ):
        self.model = model
        self.optimizer = optimizer
        self.maxnormout = maxnormout
        self.weights = list(model.trainable_weights)
        if not optimizer.built:
            optimizer.build(self.weights)
        self._graphs: dict[tuple[str, int | None, int], Any] = {}
        written_out = usual_steps and usual_steps <= lstm_narrow.LONGEST
        self._usual = usual_steps if written_out else None
        if maxnormout > 0:
            self._limit_all()

    def zero_state(self, columns: int) -> State:
        """The state to begin with."""
        return self.model.zero_state(columns)

    def train(self, words, targets, state: State, sums: Sums) -> State:
        """Learns from a chunk.

        Args:
            words, targets: `(time, columns)` int32 ids; no target is 0.
            state: after the chunk before.
            sums: is added to.

        Returns:
            The state after.
        """
        step = self._graph(self._train_step, words.shape[1], self._known(words))
        loss, count, norm, state = step(words, targets, state)
        sums.loss += float(loss)
        sums.norm += float(norm)
        sums.updates += 1
        sums.time_steps += int(words.shape[0])
        sums.words += int(count)
        return state

    def score(self, words, targets, state: State, sums: Sums) -> State:
        """Adds a chunk's training loss, without learning and without dropout."""
        step = self._graph(self._score_step, words.shape[1], self._known(words))
        loss, count, state = step(words, targets, state)
        sums.loss += float(loss)
        sums.time_steps += int(words.shape[0])
        sums.words += int(count)
        return state

    def _known(self, words) -> int | None:
        """The length of a chunk if its graph is to know it, which costs a trace."""
        narrow = self.model.recurrent.layers[0].compute_dtype == "bfloat16"
        return self._usual if narrow and words.shape[0] == self._usual else None

    def _graph(self, step: Any, columns: int, time: int | None = None) -> Any:
        """A step as one graph for chunks of all lengths, or for those of one."""
        key = step.__name__, time, columns
        if key not in self._graphs:
            ids = tf.TensorSpec([time, columns], tf.int32)
            state = tf.nest.map_structure(
                lambda part: tf.TensorSpec(part.shape, part.dtype),
                self.zero_state(columns),
            )
            # Nothing here is Python's control flow, whose conversion takes 5 s.
            graph = tf.function(
                step, input_signature=[ids, ids, state], autograph=False
            )
            self._graphs[key] = graph
        return self._graphs[key]

    def _train_step(self, words, targets, state):
        with tf.GradientTape() as tape:
            loss, state = self._loss(words, targets, state, training=True)
        values = [weight.value for weight in self.weights]
        gradients = tape.gradient(loss, values)
        self.optimizer.apply(gradients, self.weights)
        if self.maxnormout > 0:
            self._limit(gradients)
        count = tf.math.count_nonzero(targets, dtype=tf.int32)
        norm = self.optimizer.norm
        return loss, count, tf.constant(0.0) if norm is None else norm, state

    def _score_step(self, words, targets, state):
        loss, state = self._loss(words, targets, state, training=False)
        return loss, tf.math.count_nonzero(targets, dtype=tf.int32), state

    def _loss(self, words, targets, state, training):
        losses, state = self.model.word_losses(words, targets, state, training)
        mask = tf.not_equal(targets, 0)
        return layers.sum_of_step_means(losses, mask, time_axis=0), state

    def _limit(self, gradients) -> None:
        """Brings rows that a step changed back to the largest norm."""
        if self.optimizer.tables == "dense_momentum":
            self._limit_all()
            return
        for weight, gradient in zip(self.weights, gradients, strict=True):
            if len(weight.shape) < 2:
                continue
            if isinstance(gradient, tf.IndexedSlices):
                self._limit_rows(weight, tf.unique(gradient.indices)[0])
            else:
                self._limit_dense(weight)

    def _limit_all(self) -> None:
        for weight in self.weights:
            if len(weight.shape) < 2:
                continue
            if not getattr(weight, "row_sparse", False):
                self._limit_dense(weight)
                continue
            # A table that is read whole is copied whole.
            for start in range(0, weight.shape[0], 1 << 16):
                stop = min(start + (1 << 16), weight.shape[0])
                self._limit_rows(weight, tf.range(start, stop))

    def _limit_rows(self, weight, ids) -> None:
        rows = tf.clip_by_norm(tf.gather(weight.value, ids), self.maxnormout, 1)
        weight.value.scatter_update(tf.IndexedSlices(rows, ids))

    def _limit_dense(self, weight) -> None:
        # Torch keeps the matrices of its recurrent layers one row an input.
        recurrent = weight is not getattr(self.model.output_layer, "linearity", None)
        limited = tf.clip_by_norm(weight.value, self.maxnormout, 0 if recurrent else 1)
        weight.value.assign(limited)


def compute_in_bfloat16(model: LanguageModel) -> None:
    """Makes a model compute in bfloat16 with float32 weights."""
    parts: list[Any] = [model.embedding, *model.recurrent.layers, model.output_layer]
    use_bfloat16(parts)
    for drop in (model.drop, *model.recurrent.drops):
        if drop is not None:
            drop.dtype_policy = keras.DTypePolicy("mixed_bfloat16")


def slots(optimizer: layers.RowSGD, model: LanguageModel) -> dict[str, keras.Variable]:
    """What an optimizer keeps: `iterations`, and its slots by the weights' names."""
    names = {id(weight): name for name, weight in model.named_weights().items()}
    found: dict[str, keras.Variable] = {"iterations": optimizer.iterations}
    for weight, slot in zip(model.trainable_weights, optimizer.slots, strict=True):
        if slot is not None:
            found[names[id(weight)]] = slot
    return found
