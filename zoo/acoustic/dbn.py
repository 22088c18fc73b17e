"""`acoustic/dbn`: a deep belief network, RBMs one on the other."""

import keras

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.acoustic.dbn_config import DbnConfig
from seqzoo.zoo.acoustic.dnn_config import DnnConfig
from seqzoo.zoo.checkpoints import keras_layers, nnet_edit, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet


@registry.register("acoustic/dbn", DbnConfig)
def build(config: DbnConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"outputs": (..., hid_dim)}`.

    It is the network that a DNN starts from: the way up of each RBM, which is
    `<AffineTransform>` and `<Sigmoid>`. The shift and scale of the feature transform
    start as the identity.
    """
    plain = DnnConfig(feature_dim=config.feature_dim, offsets=config.offsets)
    transform = dnn.plain_transform(plain)
    rbms = []
    input_dim = transform.output_dim
    for number in range(1, config.nn_depth + 1):
        proto = config.proto(number, input_dim)
        rbms.append(nnet_proto.initialize(proto, config.seed, rng=config.rng))
        input_dim = config.hid_dim
    stack: Nnet = nnet_edit.concat(*map(nnet_edit.rbm_to_nnet, rbms))
    return dnn.assemble(
        keras_layers.to_layers(transform, "transform_", trainable=False),
        keras_layers.to_layers(stack, "net_"),
        "acoustic_dbn",
    )
