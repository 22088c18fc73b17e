"""Layers and components that look along time, and how such layers are called."""

from typing import Any, TypeAlias

import tensorflow as tf

from seqzoo import layers
from seqzoo.zoo.checkpoints import components

Layer: TypeAlias = Any

_KINDS = (
    layers.Splice,
    layers.LstmProjected,
    layers.BlstmProjected,
    layers.Recurrent,
    layers.SentenceAveraging,
    layers.SimpleSentenceAveraging,
    layers.MultiBasis,
)

# Work frame by frame, but leave padding out of something.
_MASKED = (layers.LengthNorm, layers.Parallel)
_COMPONENTS = (
    components.Splice,
    components.LstmProjected,
    components.BlstmProjected,
    components.RecurrentComponent,
    components.SentenceAveraging,
    components.SimpleSentenceAveraging,
)


def is_recurrent(layer: Layer) -> bool:
    """Whether its state can be carried from one piece of an utterance to the next."""
    return hasattr(layer, "run")


def looks_along_time(layer: Layer) -> bool:
    """Whether a frame's output depends on other frames of its utterance.

    Such a layer takes `(batch, time, dim)` with a mask `(batch, time)` of the real
    frames. So does a layer that holds networks with such a layer in them.
    """
    return isinstance(layer, _KINDS) or any(
        looks_along_time(nested) for net in getattr(layer, "nets", ()) for nested in net
    )


def call(
    layer: Layer, inputs: tf.Tensor, mask: tf.Tensor | None, **options: Any
) -> tf.Tensor:
    """A layer's output for `(batch, time, dim)`, whether or not it takes a mask."""
    if looks_along_time(layer) or isinstance(layer, _MASKED):
        return layer(inputs, mask=mask, **options)
    return layer(inputs, **options)


def component_looks_along_time(component: Any) -> bool:
    """The same of an nnet1 component."""
    return isinstance(component, _COMPONENTS) or any(
        component_looks_along_time(nested)
        for net in getattr(component, "nets", ())
        for nested in net.components
    )
