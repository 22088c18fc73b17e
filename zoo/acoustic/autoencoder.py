"""`acoustic/autoencoder`: spliced frames through tanh layers to features."""

import keras

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.acoustic.autoencoder_config import AutoencoderConfig


@registry.register("acoustic/autoencoder", AutoencoderConfig)
def build(config: AutoencoderConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"outputs": (..., pdfs)}`."""
    return dnn.build_named(config, "acoustic_autoencoder")
