"""SeqRNN: the simple recurrent layer of language models."""

import keras
import tensorflow as tf

from seqzoo.layers.row_matmul import row_matmul
from seqzoo.layers.sequence_layer import SequenceLayer
from seqzoo.layers.time_loop import time_loop
from seqzoo.layers.turned import turned

# Each nonlinearity, and its derivative by its own value.
_ACTIVATIONS = {
    "sigmoid": (tf.sigmoid, lambda y: y * (1 - y)),
    "tanh": (tf.tanh, lambda y: 1 - y * y),
    "relu": (tf.nn.relu, lambda y: tf.cast(y > 0, y.dtype)),
}


@keras.saving.register_keras_serializable(package="seqzoo")
class SeqRNN(SequenceLayer):
    """`h(t) = activation(w_x x(t) + w_h h(t-1) + bias)`, the output.

    Weights: `w_x`, `w_h`, `bias`. A state is `(h,)`.

    Args:
        units: width of the output.
        activation: "sigmoid", as in Torch's language models, "tanh" or "relu".
        mask_mode, through_state, time_major, uniform, seed: see `SequenceLayer`,
            which tells shapes, mask and errors. The bias starts at 0.

    Source: Element-Research/rnn, examples/recurrent-language-model.lua.
    """

    def __init__(self, units: int, activation: str = "sigmoid", **kwargs):
        super().__init__(units, **kwargs)
        if activation not in _ACTIVATIONS:
            raise ValueError(
                f"{self.name}: activation is {activation!r}; one of "
                f"{', '.join(_ACTIVATIONS)} is taken."
            )
        self.activation = activation

    @property
    def state_sizes(self) -> tuple[int, ...]:
        return (self.units,)

    def build(self, input_shape):
        dim, units = input_shape[-1], self.units
        shapes = {"w_x": (units, dim), "w_h": (units, units), "bias": (units,)}
        self.add_weights(shapes, dim + units, kept=-1, blocks=1)

    def recur(self, inputs, state, mask):
        dtype = inputs.dtype
        work = tf.float64 if dtype == tf.float64 else tf.float32
        kept = None if mask is None else tf.cast(mask, work)[..., tf.newaxis]
        first = tf.cast(state[0], work)
        if not self.through_state:
            first = tf.stop_gradient(first)
        function, _ = _ACTIVATIONS[self.activation]
        spec = tf.TensorSpec([inputs.shape[1], self.units], work)

        @tf.custom_gradient
        def run(inputs, first, forward, recurrent, bias):
            back = turned(tf.cast(recurrent, dtype))
            projected = row_matmul(inputs, tf.cast(forward, dtype), bias)

            def step(state, at_t):
                before = state[0]
                h = at_t[0] + tf.matmul(tf.cast(before, dtype), back)
                h = function(tf.cast(h, work))
                if kept is not None:
                    carry = self.mask_mode == "carry"
                    h = tf.where(at_t[1] > 0, h, before) if carry else h * at_t[1]
                return (h,), (h,)

            sequences = (projected,) if kept is None else (projected, kept)
            _, (h,) = time_loop(step, (first,), sequences, [spec])

            def gradient(grad, last_grad):
                later = last_grad if self.through_state else tf.zeros_like(first)
                weights = forward, recurrent, bias
                return self._backward(grad, later, inputs, first, weights, h, kept)

            outputs = h if kept is None else h * kept
            return (tf.cast(outputs, dtype), h[-1]), gradient

        outputs, last = run(inputs, first, *self.tensors())
        return outputs, (last if self.through_state else tf.stop_gradient(last),)

    def _backward(self, grad, later, inputs, first, weights, h, kept):
        forward, recurrent, _ = weights
        dtype, work = inputs.dtype, h.dtype
        back = tf.cast(recurrent, dtype)
        by = _ACTIVATIONS[self.activation][1](h)
        grad = tf.cast(grad, work)
        sequences = (by, grad)
        if kept is not None:
            sequences = (by * kept, grad * kept, 1 - kept)

        def step(later, at_t):
            by, grad, *passed = at_t
            h_grad = grad + later[0]
            z_grad = h_grad * by
            earlier = tf.cast(tf.matmul(tf.cast(z_grad, dtype), back), work)
            if passed and self.mask_mode == "carry":
                earlier += h_grad * passed[0]
            return (earlier,), (z_grad,)

        spec = tf.TensorSpec([inputs.shape[1], self.units], work)
        (first_grad,), (z_grad,) = time_loop(
            step, (later,), sequences, [spec], reverse=True
        )
        before = tf.concat([first[tf.newaxis], h[:-1]], 0)
        low, rows, before = (
            tf.reshape(tf.cast(values, dtype), [-1, values.shape[-1]])
            for values in (z_grad, inputs, before)
        )
        found = (
            tf.matmul(low, rows, transpose_a=True),
            tf.matmul(low, before, transpose_a=True),
            tf.reduce_sum(z_grad, [0, 1]),
        )
        inputs_grad = tf.matmul(low, tf.cast(forward, dtype))
        return (
            tf.reshape(inputs_grad, tf.shape(inputs)),
            first_grad,
            *(tf.cast(g, w.dtype) for g, w in zip(found, weights, strict=True)),
        )

    def get_config(self):
        return {**super().get_config(), "activation": self.activation}
