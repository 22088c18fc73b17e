"""`acoustic/multilingual`: spliced frames to the pdfs of several languages."""

import keras

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.acoustic.multilingual_config import MultilingualConfig


@registry.register("acoustic/multilingual", MultilingualConfig)
def build(config: MultilingualConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"outputs": (..., pdfs)}`.

    The outputs are posteriors: those of each language sum to 1.
    """
    return dnn.build_named(config, "acoustic_multilingual")
