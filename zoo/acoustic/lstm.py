"""`acoustic/lstm`: projected LSTMs of frames into pdfs."""

import keras

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.acoustic.lstm_config import LstmConfig


@registry.register("acoustic/lstm", LstmConfig)
def build(config: LstmConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"logits": (..., pdfs)}`.

    The feature transform delays the targets; its shift and scale start as the identity
    until statistics are measured.
    """
    return dnn.build_named(config, "acoustic_lstm")
