"""The pairs of components and layers that most networks are made of."""

from typing import Any

import keras

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import LayerKind, pair, register, units


def _activation(component: Any, name: str) -> LayerKind:
    function = keras.activations.get(name)
    return LayerKind(
        component=component,
        layer=lambda c, **kwargs: keras.layers.Activation(function, **kwargs),
        fits=lambda layer: (
            isinstance(layer, keras.layers.Activation) and layer.activation is function
        ),
    )


register(
    pair(
        components.AffineTransform,
        layers.Affine,
        "learn_rate_coef",
        "bias_learn_rate_coef",
        "max_norm",
        given=units,
        weights=("linearity", "bias"),
    )
)
register(
    pair(
        components.LinearTransform,
        layers.Linear,
        "learn_rate_coef",
        given=units,
        weights=("linearity",),
    )
)
register(
    pair(
        components.AddShift,
        layers.AddShift,
        "learn_rate_coef",
        weights={"data": "shift"},
    )
)
register(
    pair(
        components.Rescale,
        layers.Rescale,
        "learn_rate_coef",
        weights={"data": "scale"},
    )
)
register(pair(components.Splice, layers.Splice, "offsets"))
# Keras's own layers fit as well.
register(
    LayerKind(
        component=components.Softmax,
        layer=lambda c, **kwargs: layers.Softmax(**kwargs),
        fits=lambda layer: isinstance(layer, keras.layers.Softmax),
    )
)
register(
    LayerKind(
        component=components.Dropout,
        layer=lambda c, **kwargs: layers.Dropout(c.dropout_rate, **kwargs),
        fits=lambda layer: isinstance(layer, keras.layers.Dropout),
    )
)
register(_activation(components.Sigmoid, "sigmoid"))
register(_activation(components.Tanh, "tanh"))
