"""nnet1 components as Keras layers with their weights, and back."""

from collections.abc import Iterable
from typing import Any, cast

import keras
import numpy as np

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import (
    common_kinds,
    convolution_kinds,
    layer_kinds,
    memoryless_kinds,
    nesting_kinds,
    recurrent_kinds,
)
from seqzoo.zoo.checkpoints.layer_kinds import Layer
from seqzoo.zoo.checkpoints.nnet1 import Nnet

# The modules that register pairs.
_REGISTERED = (
    common_kinds,
    memoryless_kinds,
    convolution_kinds,
    nesting_kinds,
    recurrent_kinds,
)


def to_layers(
    nnet: Nnet,
    prefix: str = "",
    trainable: bool = True,
    *,
    kaldi_gradients: bool = False,
) -> list[Layer]:
    """The layers of a network, built and with its weights, in its order.

    Args:
        nnet: any that `nnet1.read` gives.
        prefix: of the layers' names; component 3 of `prefix="net_"` becomes
            `net_3_sigmoid`.
        trainable: False freezes all of them, as in a feature transform.
        kaldi_gradients: True trains with nnet1's gradients where they are not the
            true ones.

    Returns:
        Layers; `dims` of each is its (input, output) dimension.

    Raises:
        InputError: a component that has no layer.
    """
    made = []
    for number, component in enumerate(cast(list[Any], nnet.components), 1):
        word = component.marker.strip("<>").lower()
        name = f"{prefix}{number}_{word}"
        kind = layer_kinds.of_component(component, number)
        given: dict[str, Any] = {"name": name}
        if kind.nests:
            given["nets"] = [
                to_layers(
                    nested, f"{name}_{i}_", trainable, kaldi_gradients=kaldi_gradients
                )
                for i, nested in enumerate(component.nets, 1)
            ]
        layer = kind.layer(component, **given)
        if hasattr(layer, "kaldi_gradients"):
            layer.kaldi_gradients = kaldi_gradients
        if not layer.built:
            layer.build((None, component.input_dim))
        layer.trainable = trainable
        layer.dims = (component.input_dim, component.output_dim)
        made.append(layer)
    set_weights(made, nnet)
    return made


def set_weights(made: Iterable[Layer], nnet: Nnet) -> None:
    """Gives layers that `to_layers` made of a like network the weights of `nnet`."""
    found = cast(list[Any], nnet.components)
    for layer, component in zip(made, found, strict=True):
        kind = layer_kinds.of_layer(layer)
        for attribute, weight in kind.weights(layer).items():
            values = getattr(component, attribute)
            if attribute in kind.to_layer:
                values = kind.to_layer[attribute](values)
            weight.assign(values)
            layers.refresh_shadow(weight)
        if kind.nests:
            for nested, net in zip(layer.nets, component.nets, strict=True):
                set_weights(nested, net)


def to_nnet(made: Iterable[Layer]) -> Nnet:
    """The network whose layers `to_layers` made, with their present weights.

    Or those of a Keras model, one behind the other, such as a saved one read again.

    Raises:
        InputError: a layer that has no component, or is in no model.
    """
    return Nnet([_component(layer) for layer in made])


def marker(layer: Layer) -> str:
    """The nnet1 marker of a layer, `<AffineTransform>`."""
    return layer_kinds.of_layer(layer).component.marker


def parameters(layer: Layer) -> dict[str, keras.Variable]:
    """A layer's weights by the names that `info` prints: `linearity`, `bias`.

    Those of networks in it have the network's and the component's number in front,
    counted from 1: `net_2_component_1_bias`.
    """
    kind = layer_kinds.of_layer(layer)
    if kind.nests:
        return {
            f"net_{i}_component_{j}_{name}": weight
            for i, net in enumerate(layer.nets, 1)
            for j, nested in enumerate(net, 1)
            for name, weight in parameters(nested).items()
        }
    weights = kind.weights(layer)
    if not weights:
        return {}
    names = list(kind.component(1, 1).parameters())
    if not names:  # They depend on what the component holds.
        return weights
    return dict(zip(names, weights.values(), strict=True))


def _component(layer: Layer) -> Any:
    kind = layer_kinds.of_layer(layer)
    component = kind.component(*_dims(layer))
    for option in kind.options:
        setattr(component, option, getattr(layer, option))
    if isinstance(layer, keras.layers.Dropout):
        component.dropout_rate = layer.rate
    for attribute, weight in kind.weights(layer).items():
        kept = np.float64 if weight.dtype == "float64" else np.float32
        values = np.asarray(weight.value.numpy(), kept)
        if attribute in kind.to_component:
            values = kind.to_component[attribute](values)
        setattr(component, attribute, np.ascontiguousarray(values))
    if kind.nests:
        component.nets = [to_nnet(net) for net in layer.nets]
    kind.fill(component, layer)
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
