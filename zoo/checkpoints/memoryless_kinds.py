"""The pairs of the rarer components and layers that hold no network."""

from typing import Any

import numpy as np

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import LayerKind, register


def _pair(component: Any, layer: Any, *options: str, **more: Any) -> LayerKind:
    """A pair whose options have one name in the component, the layer and its call."""
    return LayerKind(
        component=component,
        layer=lambda c, **kwargs: layer(
            **{name: getattr(c, name) for name in options}, **kwargs
        ),
        fits=lambda made: isinstance(made, layer),
        options=options,
        **more,
    )


def _fill_frame_pooling(component: Any, layer: Any) -> None:
    """Cuts the layer's weights into those of each pool."""
    ends = np.cumsum(layer.pool_sizes)[:-1]
    component.frame_weights = np.split(component.frame_weights, ends)


register(_pair(components.Copy, layers.Copy, "columns"))
register(_pair(components.LengthNorm, layers.LengthNorm))
register(_pair(components.HiddenSoftmax, layers.HiddenSoftmax))
register(_pair(components.BlockSoftmax, layers.BlockSoftmax, "block_dims"))
register(
    _pair(
        components.ParametricRelu,
        layers.ParametricRelu,
        "alpha_learn_rate_coef",
        "beta_learn_rate_coef",
        weights=lambda layer: {"alpha": layer.alpha, "beta": layer.beta},
    )
)
register(
    _pair(
        components.SimpleSentenceAveraging,
        layers.SimpleSentenceAveraging,
        "gradient_boost",
        "shrinkage",
        "only_summing",
    )
)
_FRAME_POOLING = ("feature_dim", "frame_offsets", "learn_rate_coef", "normalize")
register(
    LayerKind(
        component=components.FramePooling,
        layer=lambda c, **kwargs: layers.FramePooling(
            pool_sizes=[len(weights) for weights in c.frame_weights],
            **{name: getattr(c, name) for name in _FRAME_POOLING},
            **kwargs,
        ),
        fits=lambda layer: isinstance(layer, layers.FramePooling),
        options=_FRAME_POOLING,
        weights=lambda layer: {"frame_weights": layer.frame_weights},
        to_layer={"frame_weights": np.concatenate},
        fill=_fill_frame_pooling,
    )
)
register(
    LayerKind(
        component=components.KlHmm,
        layer=lambda c, **kwargs: layers.KlHmm(c.output_dim, **kwargs),
        fits=lambda layer: isinstance(layer, layers.KlHmm),
        weights=lambda layer: {"states": layer.states},
    )
)
register(
    LayerKind(
        component=components.Rbm,
        layer=lambda c, **kwargs: layers.Rbm(
            c.output_dim, c.visible_type, c.hidden_type, **kwargs
        ),
        fits=lambda layer: isinstance(layer, layers.Rbm),
        options=("visible_type", "hidden_type"),
        weights=lambda layer: {
            "linearity": layer.linearity,
            "visible_bias": layer.visible_bias,
            "hidden_bias": layer.hidden_bias,
        },
    )
)
