"""nnet1 components as Keras layers with their weights, and back."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import keras
import numpy as np

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.nnet1 import Nnet

Layer: TypeAlias = Any
"""A Keras layer with the attributes that its kind has."""


def to_layers(nnet: Nnet, prefix: str = "", trainable: bool = True) -> list[Layer]:
    """The layers of a network, built and with its weights, in its order.

    Args:
        nnet: any that `nnet1.read` gives.
        prefix: of the layers' names; component 3 of `prefix="net_"` becomes
            `net_3_sigmoid`.
        trainable: False freezes all of them, as in a feature transform.

    Returns:
        Layers; `dims` of each is its (input, output) dimension.

    Raises:
        InputError: a component that has no layer.
    """
    made = []
    for number, component in enumerate(nnet.components, 1):
        word = component.marker.strip("<>").lower()
        layer = _kind_of(component, number).layer(
            component, name=f"{prefix}{number}_{word}"
        )
        if not layer.built:
            layer.build((None, component.input_dim))
        layer.trainable = trainable
        layer.dims = (component.input_dim, component.output_dim)
        made.append(layer)
    set_weights(made, nnet)
    return made


def set_weights(made: Iterable[Layer], nnet: Nnet) -> None:
    """Gives layers that `to_layers` made of a like network the weights of `nnet`."""
    for layer, component in zip(made, nnet.components, strict=True):
        for attribute, weight in _kind(layer).weights(layer).items():
            weight.assign(getattr(component, attribute).T)
            layers.refresh_shadow(weight)


def to_nnet(made: Iterable[Layer]) -> Nnet:
    """The network whose layers `to_layers` made, with their present weights.

    Or those of a Keras model, one behind the other, such as a saved one read again.

    Raises:
        InputError: a layer that has no component, or is in no model.
    """
    return Nnet([_component(layer) for layer in made])


def marker(layer: Layer) -> str:
    """The nnet1 marker of a layer, `<AffineTransform>`."""
    return _kind(layer).component.marker


def parameters(layer: Layer) -> dict[str, keras.Variable]:
    """A layer's weights by the names that `info` prints: `linearity`, `bias`."""
    kind = _kind(layer)
    weights = kind.weights(layer)
    if not weights:
        return {}
    names = kind.component(1, 1).parameters()
    return dict(zip(names, weights.values(), strict=True))


@dataclasses.dataclass(frozen=True)
class _Kind:
    """One component and its layer."""

    component: Any
    fits: Callable[[Layer], bool]
    layer: Callable[..., Layer]
    """`(component, name=...)` to a new layer."""

    options: tuple[str, ...] = ()
    """Attributes that both have under one name."""

    weights: Callable[[Layer], dict[str, keras.Variable]] = lambda layer: {}
    """The component's attributes and the layer's weights, in `parameters()` order."""


def _activation(component: Any, name: str) -> _Kind:
    function = keras.activations.get(name)
    return _Kind(
        component,
        lambda layer: (
            isinstance(layer, keras.layers.Activation) and layer.activation is function
        ),
        lambda c, **kwargs: keras.layers.Activation(function, **kwargs),
    )


_KINDS = [
    _Kind(
        components.AffineTransform,
        lambda layer: isinstance(layer, layers.Affine),
        lambda c, **kwargs: layers.Affine(
            c.output_dim,
            learn_rate_coef=c.learn_rate_coef,
            bias_learn_rate_coef=c.bias_learn_rate_coef,
            max_norm=c.max_norm,
            **kwargs,
        ),
        ("learn_rate_coef", "bias_learn_rate_coef", "max_norm"),
        lambda layer: {"linearity": layer.kernel, "bias": layer.bias},
    ),
    _Kind(
        components.LinearTransform,
        lambda layer: isinstance(layer, layers.Linear),
        lambda c, **kwargs: layers.Linear(
            c.output_dim, learn_rate_coef=c.learn_rate_coef, **kwargs
        ),
        ("learn_rate_coef",),
        lambda layer: {"linearity": layer.kernel},
    ),
    _Kind(
        components.AddShift,
        lambda layer: isinstance(layer, layers.AddShift),
        lambda c, **kwargs: layers.AddShift(
            learn_rate_coef=c.learn_rate_coef, **kwargs
        ),
        ("learn_rate_coef",),
        lambda layer: {"data": layer.shift},
    ),
    _Kind(
        components.Rescale,
        lambda layer: isinstance(layer, layers.Rescale),
        lambda c, **kwargs: layers.Rescale(learn_rate_coef=c.learn_rate_coef, **kwargs),
        ("learn_rate_coef",),
        lambda layer: {"data": layer.scale},
    ),
    _Kind(
        components.Splice,
        lambda layer: isinstance(layer, layers.Splice),
        lambda c, **kwargs: layers.Splice(c.offsets, **kwargs),
        ("offsets",),
    ),
    _Kind(
        components.Softmax,
        lambda layer: isinstance(layer, keras.layers.Softmax),
        lambda c, **kwargs: keras.layers.Softmax(**kwargs),
    ),
    _Kind(
        components.Dropout,
        lambda layer: isinstance(layer, keras.layers.Dropout),
        lambda c, **kwargs: keras.layers.Dropout(c.dropout_rate, **kwargs),
    ),
    _activation(components.Sigmoid, "sigmoid"),
    _activation(components.Tanh, "tanh"),
]


def _kind_of(component: components.Component, number: int) -> _Kind:
    for kind in _KINDS:
        if kind.component is type(component):
            return kind
    raise InputError(f"component {number} {component.marker} has no layer yet.")


def _kind(layer: Layer) -> _Kind:
    for kind in _KINDS:
        if kind.fits(layer):
            return kind
    raise InputError(f"layer {layer.name} ({type(layer).__name__}) has no component.")


def _component(layer: Layer) -> components.Component:
    kind = _kind(layer)
    component = kind.component(*_dims(layer))
    for option in kind.options:
        setattr(component, option, getattr(layer, option))
    if isinstance(layer, keras.layers.Dropout):
        component.dropout_rate = layer.rate
    for attribute, weight in kind.weights(layer).items():
        values = np.asarray(weight.value.numpy(), np.float32).T
        setattr(component, attribute, np.ascontiguousarray(values))
    return component


def _dims(layer: Layer) -> tuple[int, int]:
    if hasattr(layer, "dims"):
        return layer.dims
    try:
        return layer.input.shape[-1], layer.output.shape[-1]
    except AttributeError:
        raise InputError(
            f"layer {layer.name} is in no model, so its dimensions are not known; give "
            "it `dims`, (input, output)."
        ) from None
