"""A model that computes in float32, whatever types it was trained in."""

from typing import Any

import keras


def in_float32(model: keras.Model) -> keras.Model:
    """`model`, or a copy of it with the same float32 weights that computes in float32.

    Args:
        model: a functional Keras model. It is left as it is.
    """
    if _is_plain(model):
        return model
    copy = keras.models.clone_model(model, clone_function=_clone)
    copy.set_weights([weight.value.numpy() for weight in model.weights])
    return copy


def _is_plain(model: keras.Model) -> bool:
    layers = model._flatten_layers(include_self=False)
    return all(layer.compute_dtype == "float32" for layer in layers) and not any(
        # A copy in the compute type, beside the weight, that layers read instead.
        getattr(weight, "shadow", None) is not None
        for weight in model.weights
    )


def _clone(layer: keras.layers.Layer) -> keras.layers.Layer:
    return type(layer).from_config(_with_float32(layer.get_config()))


def _with_float32(config: Any) -> Any:
    """A layer's config in which it and those in it compute in float32."""
    if isinstance(config, dict):
        return {
            key: "float32"
            if key == "dtype" and _is_policy(value)
            else _with_float32(value)
            for key, value in config.items()
        }
    if isinstance(config, list):
        return [_with_float32(value) for value in config]
    return config


def _is_policy(value: Any) -> bool:
    if isinstance(value, dict):
        return value.get("class_name") == "DTypePolicy"
    return isinstance(value, str) and value.endswith(("float16",))
