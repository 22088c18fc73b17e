"""Which Keras layer stands for which nnet1 component, and the register of these pairs.

`register` makes a pair known to all of `keras_layers`; docs/adding_a_component.md adds
one.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components

Layer: TypeAlias = Any
"""A Keras layer with the attributes that its kind has."""

Convert: TypeAlias = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerKind:
    """One component and its layer."""

    component: Any
    """The component's class."""

    layer: Callable[..., Layer]
    """`(component, name=...)` to a new layer; with `nets=` where the component holds
    networks, as lists of layers."""

    fits: Callable[[Layer], bool]
    """Whether a layer is of this kind."""

    options: Sequence[str] = ()
    """Attributes that both have under one name."""

    weights: Callable[[Layer], dict[str, keras.Variable]] = lambda layer: {}
    """The component's attributes and the layer's weights, in `parameters()` order."""

    to_layer: Mapping[str, Convert] = dataclasses.field(default_factory=dict)
    """By attribute: what makes the weight of the component's array; where nothing is
    said it is the same."""

    to_component: Mapping[str, Convert] = dataclasses.field(default_factory=dict)
    """The way back."""

    fill: Callable[[Any, Layer], None] = lambda component, layer: None
    """Gives the component what else it takes of the layer, after all of that."""

    nests: bool = False
    """Whether both hold networks in `nets`: a list of `Nnet` in the component, of
    lists of layers in the layer."""


def pair(
    component: Any,
    layer: Any,
    *options: str,
    given: Callable[[Any], Mapping[str, Any]] = lambda component: {},
    weights: Mapping[str, str] | Sequence[str] = (),
    **more: Any,
) -> LayerKind:
    """The kind of a layer whose names are its component's.

    Args:
        component: the component's class.
        layer: the layer's class.
        options: attributes that both have, and that the layer's call takes.
        given: what else that call takes, of the component.
        weights: attributes of the component and the layer's of each, where they differ.
        more: fields of `LayerKind`.
    """
    names = weights if isinstance(weights, Mapping) else {w: w for w in weights}
    return LayerKind(
        component=component,
        layer=lambda c, **kwargs: layer(
            **given(c), **{name: getattr(c, name) for name in options}, **kwargs
        ),
        fits=lambda made: isinstance(made, layer),
        options=options,
        weights=lambda made: {
            name: getattr(made, ours) for name, ours in names.items()
        },
        **more,
    )


def units(component: Any) -> dict[str, Any]:
    """What most layers are given of a component besides its options."""
    return {"units": component.output_dim}


_KINDS: list[LayerKind] = []


def register(kind: LayerKind) -> None:
    """Makes a pair known. Of two that fit, the later one holds."""
    _KINDS.insert(0, kind)


def of_component(component: components.Component, number: int) -> LayerKind:
    """The pair of a component; `number` is for the error where there is none."""
    for kind in _KINDS:
        if kind.component is type(component):
            return kind
    raise InputError(f"component {number} {component.marker} has no layer yet.")


def of_layer(layer: Layer) -> LayerKind:
    """The pair of a layer; InputError where there is none."""
    for kind in _KINDS:
        if kind.fits(layer):
            return kind
    raise InputError(f"layer {layer.name} ({type(layer).__name__}) has no component.")
