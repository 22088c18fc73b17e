"""The pairs of components and layers that most networks are made of."""

from typing import Any

import keras

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import LayerKind, register


def _of(kind: type) -> Any:
    return lambda layer: isinstance(layer, kind)


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
    LayerKind(
        component=components.AffineTransform,
        layer=lambda c, **kwargs: layers.Affine(
            c.output_dim,
            learn_rate_coef=c.learn_rate_coef,
            bias_learn_rate_coef=c.bias_learn_rate_coef,
            max_norm=c.max_norm,
            **kwargs,
        ),
        fits=_of(layers.Affine),
        options=("learn_rate_coef", "bias_learn_rate_coef", "max_norm"),
        weights=lambda layer: {"linearity": layer.linearity, "bias": layer.bias},
    )
)
register(
    LayerKind(
        component=components.LinearTransform,
        layer=lambda c, **kwargs: layers.Linear(
            c.output_dim, learn_rate_coef=c.learn_rate_coef, **kwargs
        ),
        fits=_of(layers.Linear),
        options=("learn_rate_coef",),
        weights=lambda layer: {"linearity": layer.linearity},
    )
)
register(
    LayerKind(
        component=components.AddShift,
        layer=lambda c, **kwargs: layers.AddShift(
            learn_rate_coef=c.learn_rate_coef, **kwargs
        ),
        fits=_of(layers.AddShift),
        options=("learn_rate_coef",),
        weights=lambda layer: {"data": layer.shift},
    )
)
register(
    LayerKind(
        component=components.Rescale,
        layer=lambda c, **kwargs: layers.Rescale(
            learn_rate_coef=c.learn_rate_coef, **kwargs
        ),
        fits=_of(layers.Rescale),
        options=("learn_rate_coef",),
        weights=lambda layer: {"data": layer.scale},
    )
)
register(
    LayerKind(
        component=components.Splice,
        layer=lambda c, **kwargs: layers.Splice(c.offsets, **kwargs),
        fits=_of(layers.Splice),
        options=("offsets",),
    )
)
register(
    LayerKind(
        component=components.Softmax,
        layer=lambda c, **kwargs: layers.Softmax(**kwargs),
        fits=_of(keras.layers.Softmax),
    )
)
register(
    LayerKind(
        component=components.Dropout,
        layer=lambda c, **kwargs: layers.Dropout(c.dropout_rate, **kwargs),
        fits=_of(keras.layers.Dropout),
    )
)
register(_activation(components.Sigmoid, "sigmoid"))
register(_activation(components.Tanh, "tanh"))
