"""Contrastive divergence with one step: the arithmetic that trains an RBM."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

UNITS = ("bern", "gauss")
"""Kinds of units: binary ones with a probability, real ones with a mean."""

Draw = Callable[[tf.Tensor], tf.Tensor]
"""Hidden states for the means `(frames, hidden)` of the hidden units."""


class RbmParameters(NamedTuple):
    """What an RBM learns: tensors, variables, or what belongs to each."""

    linearity: Any
    """`(hidden, visible)`."""

    visible_bias: Any
    """`(visible,)`."""

    hidden_bias: Any
    """`(hidden,)`."""


class Phases(NamedTuple):
    """The data with its hidden units, and the same once reconstructed."""

    visible: tf.Tensor
    """`(frames, visible)`, the data."""

    hidden: tf.Tensor
    """`(frames, hidden)`, means of the hidden units on the data."""

    reconstruction: tf.Tensor
    """`(frames, visible)`, means of the visible units on drawn hidden states."""

    hidden_again: tf.Tensor
    """`(frames, hidden)`, means of the hidden units on the reconstruction."""


def check_units(visible_type: str, hidden_type: str) -> None:
    """Raises ValueError unless both are of `UNITS`."""
    for what, kind in (("visible", visible_type), ("hidden", hidden_type)):
        if kind not in UNITS:
            raise ValueError(f"{what}_type is {kind!r}; {' and '.join(UNITS)} are.")


def hidden_means(
    visible: tf.Tensor, parameters: RbmParameters, hidden_type: str
) -> tf.Tensor:
    """`v W^T + c`, through a sigmoid for binary units: `(frames, hidden)`."""
    matrix = tf.convert_to_tensor(parameters.linearity)
    linear = tf.matmul(tf.cast(visible, matrix.dtype), matrix, transpose_b=True)
    return _means(linear, parameters.hidden_bias, hidden_type)


def visible_means(
    hidden: tf.Tensor, parameters: RbmParameters, visible_type: str
) -> tf.Tensor:
    """`h W + b`, through a sigmoid for binary units: `(frames, visible)`."""
    matrix = tf.convert_to_tensor(parameters.linearity)
    linear = tf.matmul(tf.cast(hidden, matrix.dtype), matrix)
    return _means(linear, parameters.visible_bias, visible_type)


def _means(linear: tf.Tensor, bias: Any, kind: str) -> tf.Tensor:
    linear = tf.nn.bias_add(tf.cast(linear, tf.float32), bias)
    return tf.sigmoid(linear) if kind == "bern" else linear


def states(means: tf.Tensor, noise: tf.Tensor, kind: str) -> tf.Tensor:
    """Draws units: binary ones are on where `noise < means`, real ones get it added.

    Args:
        means: `(frames, units)`.
        noise: like `means`: uniform over [0, 1) for `bern`, of the normal
            distribution N(0, 1) for `gauss`.
        kind: of the units.
    """
    return tf.cast(noise < means, tf.float32) if kind == "bern" else means + noise


def noise(shape: Any, seed: tf.Tensor, kind: str) -> tf.Tensor:
    """What `states` takes, the same for the same `seed`, two integers.

    The uniform numbers are multiples of 2^-16: random bits are a good part of a step's
    cost.

    Args:
        shape: `(frames, units)`.
        seed: `(2,)`.
        kind: of the units.
    """
    if kind == "gauss":
        return tf.random.stateless_normal(shape, seed)
    frames, units = shape[0], shape[1]
    bits = tf.random.stateless_uniform(
        [frames, (units + 1) // 2], seed, None, None, tf.uint32
    )
    halves = tf.reshape(tf.bitcast(bits, tf.uint16), [frames, -1])[:, :units]
    return tf.cast(halves, tf.float32) * 2.0**-16


def phases(
    visible: tf.Tensor,
    parameters: RbmParameters,
    visible_type: str,
    hidden_type: str,
    draw: Draw,
) -> Phases:
    """Goes up, down and up again; only the hidden units are drawn.

    Args:
        visible: `(frames, visible)`.
        parameters: of the RBM; the products are computed in the type of the matrix,
            all else in float32.
        visible_type: of `UNITS`.
        hidden_type: of `UNITS`.
        draw: hidden states for the means of the hidden units.
    """
    hidden = hidden_means(visible, parameters, hidden_type)
    reconstruction = visible_means(draw(hidden), parameters, visible_type)
    again = hidden_means(reconstruction, parameters, hidden_type)
    return Phases(visible, hidden, reconstruction, again)


def contrast(found: Phases, dtype: str = "float32") -> RbmParameters:
    """What the data says more than the reconstruction, summed over the frames.

    `h^T v - h'^T v'` for the weights, as one matmul over both; `v - v'` and `h - h'`
    for the biases.

    Args:
        found: of `phases`.
        dtype: that the matmul is computed in.
    """
    up = tf.concat([found.hidden, found.hidden_again], axis=0)
    # The visible side is rarely the wider one.
    down = tf.concat([found.visible, -found.reconstruction], axis=0)
    return RbmParameters(
        tf.matmul(tf.cast(up, dtype), tf.cast(down, dtype), transpose_a=True),
        tf.reduce_sum(found.visible - found.reconstruction, axis=0),
        tf.reduce_sum(found.hidden - found.hidden_again, axis=0),
    )


def update(
    parameters: RbmParameters,
    corrections: RbmParameters,
    differences: RbmParameters,
    *,
    frames: Any,
    learning_rate: Any,
    momentum: Any,
    l2_penalty: float,
    shadow: tf.Variable | None = None,
) -> None:
    """Moves the parameters, with momentum and weight decay.

    For each parameter `w` with pending correction `corr`:

        corr = momentum * corr + lr / frames * difference - lr * l2_penalty * w
        w += corr

    The biases do not decay. `lr` is what is left of the learning rate after it was
    multiplied by `1 - momentum`.

    Args:
        parameters: float32 variables.
        corrections: variables of the same shapes.
        differences: of `contrast`.
        frames: that `differences` are sums over.
        learning_rate: scalar.
        momentum: scalar in [0, 1).
        l2_penalty: per minibatch.
        shadow: copy of the matrix in another type, to be kept up to date.

    Source: Kaldi nnet1, src/nnet/nnet-rbm.h.
    """
    momentum = tf.cast(momentum, tf.float32)
    learning_rate = tf.cast(learning_rate, tf.float32)
    step = -learning_rate / tf.cast(frames, tf.float32)
    matrix, *biases = zip(parameters, corrections, differences, strict=True)
    _update_matrix(*matrix, shadow, momentum, step, learning_rate * l2_penalty)
    for variable, correction, difference in biases:
        tf.raw_ops.ResourceApplyKerasMomentum(
            var=variable.handle,
            accum=correction.handle,
            lr=step,
            grad=difference,
            momentum=momentum,
        )


# Compiled, this is one pass over the matrices; op by op it is five and more.
@tf.function(jit_compile=True, autograph=False)
def _update_matrix(variable, correction, difference, shadow, momentum, step, decay):
    value = variable.read_value()
    change = momentum * correction - step * tf.cast(difference, value.dtype)
    change -= decay * value
    correction.assign(change)
    variable.assign(value + change)
    if shadow is not None:
        shadow.assign(tf.cast(value + change, shadow.dtype))


def deviations(found: Phases) -> tuple[tf.Tensor, tf.Tensor]:
    """Standard deviation of all numbers of the data, and of the reconstruction.

    Two float64 scalars, since the logs print six digits of their ratio.
    """
    data, reconstructed = (
        tf.math.reduce_std(tf.cast(values, tf.float64))
        for values in (found.visible, found.reconstruction)
    )
    return data, reconstructed


def shrink(parameters: RbmParameters, corrections: RbmParameters, scale: Any) -> None:
    """Scales all parameters, and forgets what is pending.

    What a Gaussian-visible RBM does, in place of an update, whose reconstruction
    deviates more than twice as much as the data: `scale` is the ratio of the two.
    """
    for variable in parameters:
        variable.assign(variable.read_value() * tf.cast(scale, variable.dtype))
    for correction in corrections:
        correction.assign(tf.zeros_like(correction))
