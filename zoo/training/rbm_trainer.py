"""RbmTrainer: passes of minibatches of shuffled frames by CD-1, several in a call."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from seqzoo.layers import rbm_cd1
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.training.rbm_ramp import RbmRamp
from seqzoo.zoo.training.rbm_sums import RbmSums

Draw = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
Log = Callable[[str], Any]

# As of FrameTrainer.
_SECONDS_A_CALL = 0.5
# The data deviate this many times less than a reconstruction that explodes.
_EXPLODES = 2.0
# What is left of the learning rate after that, until the ramp moves on.
_LOWERED = 0.9


@dataclasses.dataclass(frozen=True, kw_only=True)
class RbmTrainOptions:
    """rbm-train-cd1-frmshuff's options."""

    ramp: RbmRamp = RbmRamp()
    """Of momentum and learning rate."""

    l2_penalty: float = 0.0002
    """Weight decay per minibatch and unit of learning rate."""

    minibatch_size: int = 100
    """Frames."""

    loss_report_frames: int = 1_800_000
    """Frames between two entries of the progress vector (5 hours)."""

    seed: int = 777
    """Of the hidden states."""

    bfloat16: bool = False
    """Compute in bfloat16, with float32 weights."""


class RbmTrainer:
    """Trains one RBM.

    Its hidden states depend on the seed and on the number of the minibatch alone, so
    that a run that is taken up again goes on as it would have.

    Args:
        rbm: `<Rbm>` to start from; it is left as it is.
        options: of the training.
        front: layers between the rows that are given and the visible units, which work
            on each row alone and are not trained: the RBMs below.
        draw: `(minibatch number, hidden means) -> hidden states`, to replay known
            ones; None draws them.
    """

    def __init__(
        self,
        rbm: components.Rbm,
        options: RbmTrainOptions,
        front: Sequence[keras.layers.Layer] = (),
        draw: Draw | None = None,
    ):
        rbm_cd1.check_units(rbm.visible_type, rbm.hidden_type)
        self.options = options
        self.minibatches = 0
        self.sums = RbmSums(rbm.input_dim, options.loss_report_frames)
        self.traces = 0
        self._kinds = rbm.visible_type, rbm.hidden_type
        self._front = list(front)
        self._draw = draw or self._drawn
        arrays = rbm.linearity, rbm.visible_bias, rbm.hidden_bias
        self._parameters = rbm_cd1.RbmParameters(*map(_variable, arrays))
        self._corrections = rbm_cd1.RbmParameters(
            *(_variable(np.zeros_like(array)) for array in arrays)
        )
        self._shadow: tf.Variable | None = None
        self._dtype = "bfloat16" if options.bfloat16 else "float32"
        if options.bfloat16:
            self._shadow = tf.Variable(tf.cast(self._parameters.linearity, tf.bfloat16))
        # What explosions left of the learning rate.
        self._lowered = tf.Variable(1.0, trainable=False)
        self._minibatches_a_call = 1
        dim = self._front[0].dims[0] if self._front else rbm.input_dim
        signature = [
            tf.TensorSpec([None, dim]),
            tf.TensorSpec([], tf.int64),
            tf.TensorSpec([None]),
            tf.TensorSpec([None]),
            tf.TensorSpec([None], tf.bool),
        ]
        self._graph = tf.function(self._range, signature, autograph=False)

    @property
    def frames(self) -> int:
        """Seen so far."""
        return self.minibatches * self.options.minibatch_size

    def train(
        self, rows: tf.Tensor, log: Log, on_call: Callable[[], Any] | None = None
    ) -> None:
        """Learns the minibatches of one filling, in their order.

        Args:
            rows: `(frames, dim)`, whole minibatches; what is left over is not used.
            log: takes the lines of the ramp and of explosions.
            on_call: called about twice a second.
        """
        start, count = 0, int(rows.shape[0]) // self.options.minibatch_size
        while start < count:
            stop = min(start + self._minibatches_a_call, count)
            begun = time.perf_counter()
            self._call(rows, start, stop, log)
            seconds = (time.perf_counter() - begun) / (stop - start)
            # At most doubled, so that the first call, which traces, misleads little.
            self._minibatches_a_call = int(
                np.clip(_SECONDS_A_CALL / seconds, 1, 2 * self._minibatches_a_call)
            )
            start = stop
            if on_call is not None:
                on_call()

    def rbm(self) -> components.Rbm:
        """The RBM as it is now."""
        hidden, visible = self._parameters.linearity.shape
        return components.Rbm(
            visible, hidden, *self._kinds, *(v.numpy() for v in self._parameters)
        )

    def state(self) -> dict[str, Any]:
        """All that `restore` needs to go on."""
        found: dict[str, Any] = {"minibatches": np.array(self.minibatches)}
        found["lowered"] = self._lowered.numpy()
        for name, variable in self._named().items():
            found[name] = variable.numpy()
        found.update(self.sums.state())
        return found

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Goes back to a `state`."""
        self.minibatches = int(state["minibatches"])
        self._lowered.assign(state["lowered"])
        for name, variable in self._named().items():
            variable.assign(state[name])
        self._refresh()
        self.sums.restore(state)

    def _named(self) -> dict[str, tf.Variable]:
        kinds = {"": self._parameters, "correction_": self._corrections}
        return {
            prefix + name: variable
            for prefix, group in kinds.items()
            for name, variable in group._asdict().items()
        }

    def _call(self, rows: tf.Tensor, start: int, stop: int, log: Log) -> None:
        size, ramp = self.options.minibatch_size, self.options.ramp
        settings = ramp.minibatches(self.minibatches, stop - start, size)
        squares, explosions = self._graph(
            rows[start * size : stop * size],
            tf.constant(self.minibatches, tf.int64),
            *map(tf.constant, settings),
        )
        for found in explosions.numpy():
            if found[0]:
                log(_explosion_line(*found))
            self.minibatches += 1
            if ramp.sets(self.frames, size):
                log(ramp.line(self.frames))
        self.sums.add((0.5 * squares.numpy()).tolist(), size)

    def _range(self, rows, first, momenta, rates, fresh):
        """Learns minibatches on end; the squared error and the explosion of each."""
        self.traces += 1
        size, count = self.options.minibatch_size, tf.shape(momenta)[0]
        for layer in self._front:
            rows = layer(rows)
        rows = tf.cast(rows, tf.float32)
        squares = tf.TensorArray(tf.float32, count, element_shape=[])
        explosions = tf.TensorArray(tf.float64, count, element_shape=[4])

        def one(number, squares, explosions):
            visible = rows[number * size : (number + 1) * size]
            self._lowered.assign(tf.where(fresh[number], 1.0, self._lowered))
            found = self._phases(first + tf.cast(number, tf.int64), visible)
            difference = visible - found.reconstruction
            exploded = self._learn(found, momenta[number], rates[number])
            return (
                number + 1,
                squares.write(number, tf.reduce_sum(tf.square(difference))),
                explosions.write(number, exploded),
            )

        _, squares, explosions = tf.while_loop(
            lambda number, *_: number < count,
            one,
            (tf.constant(0), squares, explosions),
            parallel_iterations=1,
        )
        return squares.stack(), explosions.stack()

    def _phases(self, number: tf.Tensor, visible: tf.Tensor) -> rbm_cd1.Phases:
        parameters = self._parameters
        if self._shadow is not None:
            parameters = parameters._replace(linearity=self._shadow)
        return rbm_cd1.phases(
            visible, parameters, *self._kinds, lambda means: self._draw(number, means)
        )

    def _drawn(self, number: tf.Tensor, means: tf.Tensor) -> tf.Tensor:
        kind = self._kinds[1]
        seed = tf.stack([tf.cast(self.options.seed, tf.int64), number])
        return rbm_cd1.states(means, rbm_cd1.noise(tf.shape(means), seed, kind), kind)

    def _learn(self, found, momentum, rate) -> tf.Tensor:
        """Updates and returns zeros; or shrinks and returns what is told of it."""

        def update():
            rbm_cd1.update(
                self._parameters,
                self._corrections,
                rbm_cd1.contrast(found, self._dtype),
                frames=self.options.minibatch_size,
                learning_rate=rate * self._lowered,
                momentum=momentum,
                l2_penalty=self.options.l2_penalty,
                shadow=self._shadow,
            )
            return tf.zeros([4], tf.float64)

        if self._kinds[0] == "bern":
            return update()
        data, reconstructed = rbm_cd1.deviations(found)

        def shrink():
            scale = data / reconstructed
            rbm_cd1.shrink(self._parameters, self._corrections, scale)
            self._lowered.assign(self._lowered * _LOWERED)
            self._refresh()
            lowered = tf.cast(rate * self._lowered, tf.float64)
            return tf.stack([scale, lowered, data, reconstructed])

        return tf.cond(_EXPLODES * data < reconstructed, shrink, update)

    def _refresh(self) -> None:
        if self._shadow is not None:
            self._shadow.assign(
                tf.cast(self._parameters.linearity.read_value(), tf.bfloat16)
            )


def _variable(values: np.ndarray) -> tf.Variable:
    return tf.Variable(np.asarray(values, np.float32), trainable=False)


def _explosion_line(scale: float, rate: float, data: float, found: float) -> str:
    return (
        "WARNING Mismatch between pos_vis and neg_vis variances, danger of weight "
        f"explosion. a) Reducing weights with scale {scale:g} b) Lowering learning "
        f"rate to {rate:g} [pos_vis_std:{data:g},neg_vis_std:{found:g}]"
    )
