"""The pairs of components and layers that hold networks."""

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import pair, register

register(
    pair(
        components.Parallel,
        layers.Parallel,
        given=lambda c: {"input_dims": [net.input_dim for net in c.nets]},
        nests=True,
    )
)
register(
    pair(
        components.MultiBasis,
        layers.MultiBasis,
        "selector_learn_rate_coef",
        given=lambda c: {"selector_dim": c.selector.input_dim},
        nests=True,
    )
)
register(
    pair(
        components.SentenceAveraging,
        layers.SentenceAveraging,
        "learn_rate_factor",
        nests=True,
    )
)
