"""The pairs of components and layers that hold networks."""

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import LayerKind, register

register(
    LayerKind(
        component=components.Parallel,
        layer=lambda c, **kwargs: layers.Parallel(
            input_dims=[net.input_dim for net in c.nets], **kwargs
        ),
        fits=lambda layer: isinstance(layer, layers.Parallel),
        nests=True,
    )
)
register(
    LayerKind(
        component=components.MultiBasis,
        layer=lambda c, **kwargs: layers.MultiBasis(
            selector_dim=c.selector.input_dim,
            selector_learn_rate_coef=c.selector_learn_rate_coef,
            **kwargs,
        ),
        fits=lambda layer: isinstance(layer, layers.MultiBasis),
        options=("selector_learn_rate_coef",),
        nests=True,
    )
)
register(
    LayerKind(
        component=components.SentenceAveraging,
        layer=lambda c, **kwargs: layers.SentenceAveraging(
            learn_rate_factor=c.learn_rate_factor, **kwargs
        ),
        fits=lambda layer: isinstance(layer, layers.SentenceAveraging),
        options=("learn_rate_factor",),
        nests=True,
    )
)
