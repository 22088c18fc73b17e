"""Layers and components that look along time, and how such layers are called."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
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

# Not <MultiBasisComponent>: nnet1 trains it on shuffled frames too, and takes each
# minibatch for an utterance.
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


def check_rows(net: Sequence[Layer]) -> None:
    """InputError for a layer that `on_rows` does not take."""
    for layer in net:
        if isinstance(layer, layers.Parallel):
            for nested in layer.nets:
                check_rows(nested)
        elif looks_along_time(layer) and not isinstance(layer, layers.Splice):
            raise InputError(
                f"feature transform: {layer.name} looks along whole utterances; of "
                "such layers only <Splice> is taken in front of a network."
            )


def on_rows(net: Sequence[Layer], rows: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """What layers put out for utterances that are laid end to end.

    Args:
        net: layers that work on each frame alone, splices, and parallel networks of
            these, as `check_rows` makes sure.
        rows: `(frames, dim)`, one utterance after the other.
        lengths: `(utterances,)` int32 frames of each.
    """
    for layer in net:
        if isinstance(layer, layers.Splice):
            rows = layers.splice_rows(rows, lengths, layer.offsets)
        elif isinstance(layer, layers.Parallel) and looks_along_time(layer):
            parts = tf.split(rows, layer.input_dims, axis=1)
            outputs = [
                on_rows(nested, part, lengths)
                for nested, part in zip(layer.nets, parts, strict=True)
            ]
            rows = tf.concat(outputs, axis=1)
        else:
            rows = layer(rows)
    return rows


def component_looks_along_time(component: Any) -> bool:
    """The same of an nnet1 component."""
    return isinstance(component, _COMPONENTS) or any(
        component_looks_along_time(nested)
        for net in getattr(component, "nets", ())
        for nested in net.components
    )
