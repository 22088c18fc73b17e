"""The pairs of the rarer components and layers that hold no network."""

from typing import Any

import numpy as np

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import pair, register, units


def _fill_frame_pooling(component: Any, layer: Any) -> None:
    """Cuts the layer's weights into those of each pool."""
    ends = np.cumsum(layer.pool_sizes)[:-1]
    component.frame_weights = np.split(component.frame_weights, ends)


register(pair(components.Copy, layers.Copy, "columns"))
register(pair(components.LengthNorm, layers.LengthNorm))
register(pair(components.HiddenSoftmax, layers.HiddenSoftmax))
register(pair(components.BlockSoftmax, layers.BlockSoftmax, "block_dims"))
register(
    pair(
        components.ParametricRelu,
        layers.ParametricRelu,
        "alpha_learn_rate_coef",
        "beta_learn_rate_coef",
        weights=("alpha", "beta"),
    )
)
register(
    pair(
        components.SimpleSentenceAveraging,
        layers.SimpleSentenceAveraging,
        "gradient_boost",
        "shrinkage",
        "only_summing",
    )
)
register(
    pair(
        components.FramePooling,
        layers.FramePooling,
        "feature_dim",
        "frame_offsets",
        "learn_rate_coef",
        "normalize",
        given=lambda c: {"pool_sizes": [len(weights) for weights in c.frame_weights]},
        weights=("frame_weights",),
        to_layer={"frame_weights": np.concatenate},
        fill=_fill_frame_pooling,
    )
)
register(
    pair(
        components.KlHmm,
        layers.KlHmm,
        given=lambda c: {"num_states": c.output_dim},
        weights=("states",),
    )
)
register(
    pair(
        components.Rbm,
        layers.Rbm,
        "visible_type",
        "hidden_type",
        given=units,
        weights=("linearity", "visible_bias", "hidden_bias"),
    )
)
