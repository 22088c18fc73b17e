"""Gradients of a layer, as it gives them and as its outputs move."""

import numpy as np
import tensorflow as tf


def gradient(layer, inputs: np.ndarray, diff: np.ndarray, **kwargs) -> np.ndarray:
    """What a layer sends back to its input of `diff` on its output."""
    x = tf.convert_to_tensor(inputs)
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, **kwargs)
    return tape.gradient(
        outputs, x, output_gradients=tf.cast(diff, outputs.dtype)
    ).numpy()


def weight_gradients(layer, inputs: np.ndarray, diff: np.ndarray, **kwargs):
    """What a layer's trainable weights get of `diff` on its output."""
    with tf.GradientTape() as tape:
        outputs = layer(tf.convert_to_tensor(inputs), **kwargs)
    weights = [weight.value for weight in layer.trainable_weights]
    found = tape.gradient(
        outputs, weights, output_gradients=tf.cast(diff, outputs.dtype)
    )
    return [value.numpy() for value in found]


def check_true_gradient(layer, inputs: np.ndarray, **kwargs) -> None:
    """Checks the gradient to the input against the outputs at points around it."""
    rng = np.random.default_rng(0)
    diff = rng.normal(size=layer(inputs, **kwargs).shape).astype(np.float32)
    step = 1e-2
    moved = np.zeros(inputs.shape)
    for place in np.ndindex(inputs.shape):
        ends = []
        for sign in (1, -1):
            x = inputs.copy()
            x[place] += sign * step
            y = layer(x, **kwargs).numpy().astype(np.float64)
            ends.append((y * diff).sum())
        moved[place] = (ends[0] - ends[1]) / (2 * step)
    found = gradient(layer, inputs, diff, **kwargs)
    size = np.abs(moved).max()
    np.testing.assert_allclose(found, moved, rtol=2e-3, atol=2e-3 * size)
