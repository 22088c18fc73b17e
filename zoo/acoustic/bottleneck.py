"""`acoustic/bottleneck`: two networks with narrow layers, one behind the other."""

import keras

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn, feature_transform
from seqzoo.zoo.acoustic.acoustic_config import context
from seqzoo.zoo.acoustic.bottleneck_config import BottleneckConfig
from seqzoo.zoo.checkpoints import components, keras_layers, nnet_edit, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet

BEHIND = 4
"""Components behind a narrow layer: Affine, activation, Affine, Softmax."""


@registry.register("acoustic/bottleneck", BottleneckConfig)
def build(config: BottleneckConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"logits": (..., pdfs)}`.

    The first network, up to its narrow layer, is a part of the feature transform.
    """
    front = dnn.plain_transform(config)
    traps = feature_transform.traps_matrix(
        config.feature_dim,
        context(config.offsets, "symmetric ones without gaps are taken."),
        config.traps_dct_basis,
    )
    front = nnet_edit.concat(
        Nnet(front.components[:1]), nnet_edit.transf_to_nnet(traps, learn_rate_coef=0)
    )
    first = config.first()
    net = nnet_proto.initialize(
        first.proto(front.output_dim), config.seed, rng=config.rng
    )
    transform = second_transform(front, net, config)
    second = nnet_proto.initialize(config.proto(), config.seed, rng=config.rng)
    return dnn.assemble(
        keras_layers.to_layers(transform, "transform_", trainable=False),
        keras_layers.to_layers(second, "net_"),
        "acoustic_bottleneck",
    )


def second_transform(transform: Nnet, first: Nnet, config: BottleneckConfig) -> Nnet:
    """The second network's feature transform: `final.feature_transform.part1`.

    Args:
        transform: the first network's.
        first: the first network, trained.
        config: for `stage_offsets`.

    Returns:
        `transform`, the first network up to its narrow layer, and the splices of that.
    """
    narrow = nnet_edit.remove_last_components(first, BEHIND)
    width = narrow.output_dim
    offsets = list(config.stage_offsets)
    splice = components.Splice(width, width * len(offsets), offsets)
    return nnet_edit.concat(transform, narrow, Nnet([splice]))
