"""`acoustic/blstm`: LSTMs in both directions of frames into pdfs."""

import keras

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.acoustic.blstm_config import BlstmConfig


@registry.register("acoustic/blstm", BlstmConfig)
def build(config: BlstmConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"logits": (..., pdfs)}`."""
    return dnn.build_named(config, "acoustic_blstm")
