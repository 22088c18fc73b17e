"""What every layer owes, in one check."""

import os
import tempfile
import warnings
from collections.abc import Callable

import keras
import numpy as np


def check_layer(
    make: Callable[[], keras.layers.Layer],
    inputs: np.ndarray,
    mask: np.ndarray | None = None,
    expected: np.ndarray | None = None,
    rtol: float = 1e-6,
) -> np.ndarray:
    """Checks a layer: eager, symbolic, reloaded, masked and in half precision.

    Eager, in a Functional model, rebuilt from its config and read back from a
    `.keras` file it puts out the same; its static shape is that of its output with
    the batch and time left open; a mask goes on as it came; in float16 and bfloat16
    it computes in that type with weights of their own.

    Args:
        make: to a new layer, the same each time.
        inputs: one batch, float32.
        mask: True on real frames.
        expected: the output, if it is known.
        rtol: of all comparisons but those in half precision.

    Returns:
        The output.
    """
    layer = make()
    kwargs = {} if mask is None or not layer._call_has_mask_arg else {"mask": mask}
    eager = layer(inputs, **kwargs).numpy()
    assert eager.dtype == np.float32
    if expected is not None:
        np.testing.assert_allclose(eager, expected, rtol, err_msg="eager")

    feats = keras.Input((*[None] * (inputs.ndim - 2), inputs.shape[-1]))
    model = keras.Model(feats, layer(feats))
    assert model.output.shape == (*[None] * (inputs.ndim - 1), eager.shape[-1])
    assert layer.compute_output_shape(inputs.shape) == eager.shape

    again = make().from_config(layer.get_config())
    assert again.get_config() == layer.get_config()
    _copy_weights(layer, again, inputs.shape)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        with warnings.catch_warnings():
            # Keras's own: how it turns its variables into arrays.
            warnings.simplefilter("ignore", DeprecationWarning)
            model.save(path)
        loaded = keras.models.load_model(path)
    # By `call`: calling a Functional model with a mask warns that it drops it.
    for name, call in [("symbolic", model), ("reloaded", loaded)]:
        found = call.call(inputs, mask=mask)
        np.testing.assert_allclose(found.numpy(), eager, rtol, err_msg=name)
        if mask is not None:
            np.testing.assert_array_equal(found._keras_mask, mask, err_msg=name)
    np.testing.assert_allclose(again(inputs, **kwargs).numpy(), eager, rtol)

    for half in ("float16", "bfloat16"):
        mixed = make().from_config({**layer.get_config(), "dtype": f"mixed_{half}"})
        _copy_weights(layer, mixed, inputs.shape)
        found = mixed(inputs, **kwargs)
        assert found.dtype == half
        assert [w.dtype for w in mixed.weights] == [w.dtype for w in layer.weights]
        size = np.abs(eager).max()
        assert np.abs(found.numpy().astype("float32") - eager).max() <= 0.02 * size
    return eager


def _copy_weights(layer, other, shape):
    if not other.built:
        other.build(shape)
    for weight, value in zip(other.weights, layer.weights, strict=True):
        weight.assign(value.value.numpy())
