import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import scaled_gradient

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        (3.0, [[3, 6], [9, 12]]),
        (0.0, [[0, 0], [0, 0]]),
        (np.array([[1.0], [10.0]]), [[1, 2], [30, 40]]),
    ],
)
def test_outputs_are_the_inputs_and_gradients_scaled(factor, expected):
    with tf.GradientTape() as tape:
        tape.watch(X)
        outputs = scaled_gradient(X, factor)
    assert outputs.numpy().tolist() == X.numpy().tolist()
    assert tape.gradient(outputs, X, output_gradients=X).numpy().tolist() == expected
