"""KaldiSGD: nnet1's update rule as a Keras optimizer."""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="seqzoo")
class KaldiSGD(keras.optimizers.Optimizer):
    """Stochastic gradient descent as nnet1 does it.

    Gradients are sums over the frames of a minibatch, so the learning rate is
    per frame. For each weight `w` with gradient `g`, in this order:

        corr = clip(g + momentum * corr, grad_clip), element by element
        w -= lr * penalty_coef * l2_penalty * frames * w
        w  = shrink(w, lr * penalty_coef * l1_penalty * frames), see below
        w -= lr * coef * corr
        rows of w longer than max_norm are scaled back to it

    Momentum is not compensated by `1 - momentum`: the effective rate is
    `lr / (1 - momentum)`. L1 moves a weight towards 0 by its step; a weight whose
    sign the step and the pending update, by `lr * penalty_coef * corr`, together
    would flip becomes 0 and forgets its `corr`; a weight that is 0 takes no step.
    Which steps touch a weight and their coefficients are attributes of the weight,
    set by `UpdatableComponent.add_parameter`; a plain Keras weight takes momentum
    only.

    In `keras.Model.fit` it does the same with a loss of `reduction="sum"`.

    Args:
        learning_rate: per frame.
        momentum: in [0, 1).
        l1_penalty: per frame and unit of learning rate, weights only.
        l2_penalty: the same.
        minibatch_size: frames whose gradients a step sums, for the penalties.
            `apply_frames` takes another number for one step.

    Raises:
        ValueError: if `momentum` is outside [0, 1) or a penalty is negative.

    Source: Kaldi nnet1, src/nnet/nnet-affine-transform.h (Update).
    """

    def __init__(
        self,
        learning_rate: float = 0.008,
        momentum: float = 0.0,
        l1_penalty: float = 0.0,
        l2_penalty: float = 0.0,
        minibatch_size: int = 256,
        name: str = "kaldi_sgd",
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        if not 0 <= momentum < 1:
            raise ValueError(f"{name}: momentum is {momentum}; it is taken in [0, 1).")
        for option, value in (("l1_penalty", l1_penalty), ("l2_penalty", l2_penalty)):
            if value < 0:
                raise ValueError(f"{name}: {option} is {value}, below 0.")
        self.momentum = momentum
        self.l1_penalty = l1_penalty
        self.l2_penalty = l2_penalty
        self.minibatch_size = minibatch_size
        self._frames: tf.Tensor | float = float(minibatch_size)
        self._corrections: list[keras.Variable | None] = []

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        self._corrections = [
            self.add_variable_from_reference(v, "correction")
            if self._moving(v)
            else None
            for v in variables
        ]

    def apply_frames(self, gradients, variables, frames) -> None:
        """`apply` for a minibatch of `frames` frames (a scalar tensor or int)."""
        self._frames = tf.cast(frames, tf.float32)
        try:
            self.apply(gradients, variables)
        finally:
            self._frames = float(self.minibatch_size)

    def reset(self) -> None:
        """Forgets all pending momentum, as a new nnet1 training run would."""
        for correction in self._corrections:
            if correction is not None:
                correction.assign(tf.zeros(correction.shape, correction.dtype))

    def update_step(self, gradient, variable, learning_rate):
        # `variable` is TensorFlow's own; the options are on Keras's.
        index = self._get_variable_index(variable)
        options = self._trainable_variables[index]
        correction = self._corrections[index]
        shadow = getattr(options, "shadow", None)
        learning_rate = tf.cast(learning_rate, variable.dtype)
        rate = learning_rate * getattr(options, "learn_rate_coef", 1.0)
        clip = getattr(options, "grad_clip", 0.0)
        if correction is not None or clip > 0 or not self._plain(options):
            gradient = tf.cast(gradient, variable.dtype)
        accumulator = None if correction is None else correction.value
        free = shadow is None and clip == 0 and self._plain(options)
        if free and hasattr(accumulator, "handle") and hasattr(variable, "handle"):
            # The same as below in fewer passes.
            tf.raw_ops.ResourceApplyMomentum(
                var=variable.handle,
                accum=accumulator.handle,
                lr=rate,
                grad=gradient,
                momentum=tf.cast(self.momentum, variable.dtype),
            )
            return
        if correction is not None:
            gradient += self.momentum * tf.convert_to_tensor(correction)
        if clip > 0:
            # One pass, where tf.clip_by_value is two.
            gradient = tf.raw_ops.ClipByValue(
                t=gradient, clip_value_min=-clip, clip_value_max=clip
            )
        if self._plain(options):
            if correction is not None:
                self.assign(correction, gradient)
            _descend(variable, shadow, gradient, rate)
            return
        value = tf.convert_to_tensor(variable)
        if self._penalized(options):
            step = learning_rate * options.penalty_coef
            value, gradient = self._penalize(value, gradient, step)
        value -= rate * gradient
        limit = getattr(options, "max_norm", 0.0)
        if limit > 0:
            norms = tf.norm(value, axis=1, keepdims=True)
            value *= tf.minimum(1.0, limit / tf.maximum(norms, 1e-30))
        if correction is not None:
            self.assign(correction, gradient)
        self.assign(variable, value)
        if shadow is not None:
            shadow.assign(tf.cast(value, shadow.dtype))

    def get_config(self):
        return {
            **super().get_config(),
            "momentum": self.momentum,
            "l1_penalty": self.l1_penalty,
            "l2_penalty": self.l2_penalty,
            "minibatch_size": self.minibatch_size,
        }

    def _moving(self, variable) -> bool:
        return self.momentum > 0 and getattr(variable, "momentum", True)

    def _penalized(self, variable) -> bool:
        used = self.l1_penalty > 0 or self.l2_penalty > 0
        return used and getattr(variable, "penalty_coef", 0.0) > 0

    def _plain(self, variable) -> bool:
        limited = getattr(variable, "max_norm", 0.0) > 0
        return not (limited or self._penalized(variable))

    def _penalize(self, value, gradient, rate):
        frames = tf.cast(self._frames, value.dtype)
        if self.l2_penalty > 0:
            value = value - rate * self.l2_penalty * frames * value
        if self.l1_penalty > 0:
            step = rate * self.l1_penalty * frames
            shrunk = value - step * tf.sign(value)
            after = shrunk - rate * gradient
            flips = (tf.sign(after) != tf.sign(value)) & (value != 0)
            value = tf.where(flips, 0.0, shrunk)
            gradient = tf.where(flips, 0.0, gradient)
        return value, gradient


def _descend(variable, shadow, gradient, rate) -> None:
    if shadow is not None:
        _descend_both(variable, shadow, gradient, rate)
    elif hasattr(variable, "handle"):
        tf.raw_ops.ResourceApplyGradientDescent(
            var=variable.handle, alpha=rate, delta=tf.cast(gradient, variable.dtype)
        )
    else:
        variable.assign_sub(rate * gradient)


# Compiled, the two stores share one pass over the weights; op by op it is four
# passes, which cost as much as the step's matmuls in bfloat16.
@tf.function(jit_compile=True)
def _descend_both(weight, shadow, gradient, rate):
    value = weight - rate * tf.cast(gradient, weight.dtype)
    weight.assign(value)
    shadow.assign(tf.cast(value, shadow.dtype))
