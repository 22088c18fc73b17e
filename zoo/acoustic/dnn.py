"""`acoustic/dnn`: a feed-forward network of spliced frames into pdfs."""

from collections.abc import Sequence

import keras
import numpy as np

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic.acoustic_config import AcousticConfig
from seqzoo.zoo.acoustic.dnn_config import DnnConfig
from seqzoo.zoo.checkpoints import components, keras_layers, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet


@registry.register("acoustic/dnn", DnnConfig)
def build(config: DnnConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"logits": (..., pdfs)}`.

    The feature transform splices; its shift and scale start as the identity until
    statistics are measured. Without softmax the output is named `outputs`.
    """
    return build_named(config, "acoustic_dnn")


def build_named(config: AcousticConfig, name: str) -> keras.Model:
    """The same for any configuration with its own prototype."""
    net = nnet_proto.initialize(config.proto(), config.seed, rng=config.rng)
    return assemble(
        keras_layers.to_layers(plain_transform(config), "transform_", trainable=False),
        keras_layers.to_layers(net, "net_"),
        name,
    )


def plain_transform(config: AcousticConfig) -> Nnet:
    """Splice, AddShift of 0 and Rescale of 1."""
    dim = config.feature_dim
    width = dim * len(config.offsets)
    return Nnet(
        [
            components.Splice(dim, width, list(config.offsets)),
            components.AddShift(width, width, np.zeros(width, np.float32), 0.0),
            components.Rescale(width, width, np.ones(width, np.float32), 0.0),
        ]
    )


def assemble(
    transform: Sequence[keras.layers.Layer],
    net: Sequence[keras.layers.Layer],
    name: str = "acoustic",
) -> keras.Model:
    """One Keras model of a feature transform and a network behind it.

    Args:
        transform: layers, may be empty.
        net: layers. A Softmax at the end is left to whoever uses the logits: the
            loss in training, the signatures in an export.
        name: of the model.

    Returns:
        A model of `{"feats": (batch, time, dim)}`, with a mask for padding, to
        `{"logits": (batch, time, classes)}` if `net` ends in Softmax, else to
        `{"outputs": (batch, time, dim)}`.
    """
    body = [*transform, *net]
    softmax = isinstance(body[-1], keras.layers.Softmax)
    feats = keras.Input((None, body[0].dims[0]), name="feats")
    x = feats
    for layer in body[:-1] if softmax else body:
        x = layer(x)
    key = "logits" if softmax else "outputs"
    return keras.Model({"feats": feats}, {key: x}, name=name)
