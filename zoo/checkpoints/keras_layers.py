"""nnet1 components as Keras layers with their weights, and back."""

from collections.abc import Callable, Iterable
from typing import Any

import keras
import numpy as np

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.nnet1 import Nnet

Layer = keras.layers.Layer


def to_layers(nnet: Nnet, prefix: str = "", trainable: bool = True) -> list[Layer]:
    """The layers of a network, built and with its weights, in its order.

    Args:
        nnet: any that `nnet1.read` gives.
        prefix: of the layers' names; component 3 of `prefix="net_"` becomes
            `net_3_sigmoid`.
        trainable: False freezes all of them, as in a feature transform.

    Raises:
        InputError: a component that has no layer.
    """
    made = []
    for number, component in enumerate(nnet.components, 1):
        kind = type(component)
        if kind not in _TO_LAYER:
            raise InputError(f"component {number} {component.marker} has no layer yet.")
        word = component.marker.strip("<>").lower()
        layer = _TO_LAYER[kind](component, name=f"{prefix}{number}_{word}")
        if not layer.built:
            layer.build((None, component.input_dim))
        _set_parameters(layer, component)
        layer.trainable = trainable
        layer.dims = (component.input_dim, component.output_dim)
        made.append(layer)
    return made


def to_nnet(made: Iterable[Layer]) -> Nnet:
    """The network whose layers `to_layers` made, with their present weights."""
    return Nnet([_component(layer) for layer in made])


def _affine(c: components.AffineTransform, name: str) -> Layer:
    return layers.Affine(
        c.output_dim,
        learn_rate_coef=c.learn_rate_coef,
        bias_learn_rate_coef=c.bias_learn_rate_coef,
        max_norm=c.max_norm,
        name=name,
    )


def _linear(c: components.LinearTransform, name: str) -> Layer:
    return layers.Linear(c.output_dim, learn_rate_coef=c.learn_rate_coef, name=name)


_TO_LAYER: dict[type, Callable[..., Layer]] = {
    components.AffineTransform: _affine,
    components.LinearTransform: _linear,
    components.AddShift: lambda c, name: layers.AddShift(
        learn_rate_coef=c.learn_rate_coef, name=name
    ),
    components.Rescale: lambda c, name: layers.Rescale(
        learn_rate_coef=c.learn_rate_coef, name=name
    ),
    components.Splice: lambda c, name: layers.Splice(c.offsets, name=name),
    components.Sigmoid: lambda c, name: keras.layers.Activation("sigmoid", name=name),
    components.Tanh: lambda c, name: keras.layers.Activation("tanh", name=name),
    components.Softmax: lambda c, name: keras.layers.Softmax(name=name),
    components.Dropout: lambda c, name: keras.layers.Dropout(c.dropout_rate, name=name),
}


def _set_parameters(layer: Layer, component: components.Component) -> None:
    if isinstance(component, components.AffineTransform):
        layer.kernel.assign(component.linearity.T)
        layer.bias.assign(component.bias)
    elif isinstance(component, components.LinearTransform):
        layer.kernel.assign(component.linearity.T)
    elif isinstance(component, components.AddShift):
        layer.shift.assign(component.data)
    elif isinstance(component, components.Rescale):
        layer.scale.assign(component.data)


def _component(layer: Layer) -> components.Component:
    """The component of one layer that `to_layers` made."""

    def matrix(weight) -> np.ndarray:
        return np.ascontiguousarray(_values(weight).T)

    dims = layer.dims
    match layer:
        case layers.Affine():
            return components.AffineTransform(
                *dims,
                linearity=matrix(layer.kernel),
                bias=_values(layer.bias),
                learn_rate_coef=layer.learn_rate_coef,
                bias_learn_rate_coef=layer.bias_learn_rate_coef,
                max_norm=layer.max_norm,
            )
        case layers.Linear():
            return components.LinearTransform(
                *dims,
                linearity=matrix(layer.kernel),
                learn_rate_coef=layer.learn_rate_coef,
            )
        case layers.AddShift():
            return components.AddShift(
                *dims, data=_values(layer.shift), learn_rate_coef=layer.learn_rate_coef
            )
        case layers.Rescale():
            return components.Rescale(
                *dims, data=_values(layer.scale), learn_rate_coef=layer.learn_rate_coef
            )
        case layers.Splice():
            return components.Splice(*dims, offsets=list(layer.offsets))
        case keras.layers.Softmax():
            return components.Softmax(*dims)
        case keras.layers.Dropout():
            return components.Dropout(*dims, dropout_rate=layer.rate)
        case keras.layers.Activation() if layer.activation is keras.activations.sigmoid:
            return components.Sigmoid(*dims)
        case keras.layers.Activation() if layer.activation is keras.activations.tanh:
            return components.Tanh(*dims)
    raise InputError(f"layer {layer.name} ({type(layer).__name__}) has no component.")


def _values(weight: Any) -> np.ndarray:
    return np.asarray(weight.value.numpy(), np.float32)
