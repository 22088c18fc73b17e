"""The pairs of components and layers that look along frequency."""

from typing import Any

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import LayerKind, register

_CONVOLUTION = (
    "patch_dim",
    "patch_step",
    "patch_stride",
    "learn_rate_coef",
    "bias_learn_rate_coef",
    "max_norm",
)
_POOLING = ("pool_size", "pool_step", "pool_stride")


def _pooling(component: Any, layer: Any) -> LayerKind:
    return LayerKind(
        component=component,
        layer=lambda c, **kwargs: layer(
            **{name: getattr(c, name) for name in _POOLING}, **kwargs
        ),
        fits=lambda made: isinstance(made, layer),
        options=_POOLING,
    )


register(
    LayerKind(
        component=components.ConvolutionalComponent,
        layer=lambda c, **kwargs: layers.FrequencyConvolution(
            len(c.filters),
            **{name: getattr(c, name) for name in _CONVOLUTION},
            **kwargs,
        ),
        fits=lambda layer: isinstance(layer, layers.FrequencyConvolution),
        options=_CONVOLUTION,
        weights=lambda layer: {"filters": layer.filters, "bias": layer.bias},
    )
)
register(_pooling(components.MaxPooling, layers.FrequencyMaxPooling))
register(_pooling(components.AveragePooling, layers.FrequencyAveragePooling))
