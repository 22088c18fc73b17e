"""The pairs of components and layers that look along frequency."""

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import pair, register

_POOLING = ("pool_size", "pool_step", "pool_stride")

register(
    pair(
        components.ConvolutionalComponent,
        layers.FrequencyConvolution,
        "patch_dim",
        "patch_step",
        "patch_stride",
        "learn_rate_coef",
        "bias_learn_rate_coef",
        "max_norm",
        given=lambda c: {"num_filters": len(c.filters)},
        weights=("filters", "bias"),
    )
)
register(pair(components.MaxPooling, layers.FrequencyMaxPooling, *_POOLING))
register(pair(components.AveragePooling, layers.FrequencyAveragePooling, *_POOLING))
