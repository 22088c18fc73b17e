"""Recurrent: nnet1's simple recurrent layer."""

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent
from seqzoo.layers.row_matmul import row_matmul
from seqzoo.layers.shadow import source
from seqzoo.layers.time_loop import time_loop
from seqzoo.layers.turned import turned


@keras.saving.register_keras_serializable(package="seqzoo")
class Recurrent(UpdatableComponent):
    """`y(t) = tanh(w_forward x(t) + w_recurrent y(t-1) + bias)`.

    A state is `(y,)` of the last frame. Gradients do not flow through states that
    come in or go out.

    Args:
        units: width of the output.
        param_range: initial weights and biases are uniform within plus and minus
            this.
        diff_clip: limit of the loss' derivatives to outputs that a later frame has
            added to; 0 is no limit.
        grad_clip: kept for the file format; nnet1 does not apply it, nor do we.
        learn_rate_coef: times the learning rate, for the matrices; 0 freezes them.
        bias_learn_rate_coef: the same for the bias.
        seed: of the initial values; None draws anew.

    Input shape: `(batch, time, dim)`.
    Output shape: `(batch, time, units)`.
    Mask: `(batch, time)`; a masked frame puts out 0 and leaves a state of 0. Passed on
        as is.

    Raises:
        ValueError: if `units` is below 1 or a range or limit is negative.

    Source: Kaldi nnet1 `<RecurrentComponent>`, src/nnet/nnet-recurrent.h, which sets
    no default for the two clips; ours are those of `LstmProjected`.
    """

    def __init__(
        self,
        units: int,
        param_range: float = 0.02,
        diff_clip: float = 1.0,
        grad_clip: float = 250.0,
        learn_rate_coef: float = 1.0,
        bias_learn_rate_coef: float = 1.0,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"{self.name}: units must be at least 1, not {units}.")
        for option, value in (
            ("param_range", param_range),
            ("diff_clip", diff_clip),
            ("grad_clip", grad_clip),
        ):
            if value < 0:
                raise ValueError(f"{self.name}: {option} is {value}, below 0.")
        self.units = units
        self.param_range = param_range
        self.diff_clip = diff_clip
        self.grad_clip = grad_clip
        self.learn_rate_coef = learn_rate_coef
        self.bias_learn_rate_coef = bias_learn_rate_coef
        self.seed = seed
        self.input_spec = keras.InputSpec(ndim=3)

    @property
    def state_sizes(self) -> tuple[int, ...]:
        """Widths of the parts of a state."""
        return (self.units,)

    def zero_state(self, batch) -> tuple[tf.Tensor, ...]:
        """The state before the first frame, `(batch, units)`."""
        return (tf.zeros([batch, self.units]),)

    def build(self, input_shape):
        rates = self.learn_rate_coef, self.learn_rate_coef, self.bias_learn_rate_coef
        shapes = (self.units, input_shape[-1]), (self.units, self.units), (self.units,)
        names = "w_forward", "w_recurrent", "bias"
        for i, (name, shape, rate) in enumerate(zip(names, shapes, rates, strict=True)):
            seed = None if self.seed is None else self.seed + i
            limit = self.param_range
            uniform = keras.initializers.RandomUniform(-limit, limit, seed)
            weight = self.add_parameter(
                name, shape, uniform, learn_rate_coef=rate, autocast=False
            )
            setattr(self, name, weight)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def run(self, inputs, state, mask=None):
        """Runs on from a state.

        Args:
            inputs: `(batch, time, dim)`.
            state: of `zero_state` or of the run before.
            mask: `(batch, time)`, or None for frames that are all real.

        Returns:
            Outputs, `(batch, time, units)`, and the state after the last frame.
        """
        inputs = tf.transpose(tf.cast(inputs, self.compute_dtype), [1, 0, 2])
        kept = None
        if mask is not None:
            kept = tf.transpose(tf.where(mask, 1.0, 0.0))[..., tf.newaxis]
        weights = (
            tf.convert_to_tensor(source(weight))
            for weight in (self.w_forward, self.w_recurrent, self.bias)
        )
        outputs, last = _recurrence(inputs, state[0], *weights, self.diff_clip, kept)
        return tf.transpose(outputs, [1, 0, 2]), (tf.stop_gradient(last),)

    def call(self, inputs, mask=None):
        return self.run(inputs, self.zero_state(tf.shape(inputs)[0]), mask)[0]

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "param_range": self.param_range,
            "diff_clip": self.diff_clip,
            "grad_clip": self.grad_clip,
            "learn_rate_coef": self.learn_rate_coef,
            "bias_learn_rate_coef": self.bias_learn_rate_coef,
            "seed": self.seed,
        }


def _recurrence(inputs, first, forward, recurrent, bias, diff_clip, kept):
    """Outputs and last output, time first; products in the type of `inputs`."""
    dtype = inputs.dtype
    first = tf.cast(tf.stop_gradient(first), tf.float32)

    @tf.custom_gradient
    def run(inputs, forward, recurrent, bias):
        back = turned(tf.cast(recurrent, dtype))
        projected = row_matmul(inputs, tf.cast(forward, dtype), bias)

        def step(state, at_t):
            y = at_t[0] + tf.matmul(tf.cast(state[0], dtype), back)
            y = tf.tanh(tf.cast(y, tf.float32))
            if kept is not None:
                y *= at_t[1]
            return (y,), (y,)

        spec = tf.TensorSpec([inputs.shape[1], bias.shape[0]], tf.float32)
        sequences = (projected,) if kept is None else (projected, kept)
        _, (outputs,) = time_loop(step, (first,), sequences, [spec])

        def gradient(outputs_grad, _):
            weights = forward, recurrent, bias
            outputs_grad = tf.cast(outputs_grad, tf.float32)
            return _gradient(
                outputs_grad, inputs, first, outputs, weights, diff_clip, kept
            )

        return (tf.cast(outputs, dtype), outputs[-1]), gradient

    return run(inputs, forward, recurrent, bias)


def _gradient(outputs_grad, inputs, first, outputs, weights, diff_clip, kept):
    dtype = inputs.dtype
    forward, recurrent, bias = weights
    by = 1 - outputs * outputs
    if kept is not None:
        by *= kept
    back = tf.cast(recurrent, dtype)

    # The derivative to each output is clipped once the frame after has added to it,
    # so never that to the last.
    def step(state, at_t):
        by, grad_before = at_t
        z_grad = state[0] * by
        added = tf.matmul(tf.cast(z_grad, dtype), back)
        y_grad = grad_before + tf.cast(added, tf.float32)
        if diff_clip > 0:
            y_grad = tf.clip_by_value(y_grad, -diff_clip, diff_clip)
        return (y_grad,), (z_grad,)

    grad_before = tf.concat([tf.zeros_like(first)[tf.newaxis], outputs_grad[:-1]], 0)
    spec = tf.TensorSpec([inputs.shape[1], bias.shape[0]], tf.float32)
    _, (z_grad,) = time_loop(
        step, (outputs_grad[-1],), (by, grad_before), [spec], reverse=True
    )

    before = tf.concat([first[tf.newaxis], outputs[:-1]], 0)
    low, before = (
        tf.reshape(tf.cast(v, dtype), [-1, bias.shape[0]]) for v in (z_grad, before)
    )
    rows = tf.reshape(inputs, [-1, forward.shape[1]])
    found = (
        tf.matmul(low, rows, transpose_a=True),
        tf.matmul(low, before, transpose_a=True),
        tf.reduce_sum(z_grad, [0, 1]),
    )
    inputs_grad = tf.matmul(low, tf.cast(forward, dtype))
    return (
        tf.reshape(inputs_grad, tf.shape(inputs)),
        *(tf.cast(g, w.dtype) for g, w in zip(found, weights, strict=True)),
    )
