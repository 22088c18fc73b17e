"""`acoustic/cnn`: spliced frames through convolutions along frequency to pdfs."""

import dataclasses
import os
import tempfile

import keras

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.acoustic.cnn_config import CnnConfig


@registry.register("acoustic/cnn", CnnConfig)
def build(config: CnnConfig) -> keras.Model:
    """Maps `{"feats": (batch, time, feature_dim)}` to `{"logits": (..., pdfs)}`."""
    with tempfile.TemporaryDirectory() as folder:
        # Without pitch there are none.
        for name, text in config.pitch_protos().items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        options = f"{config.cnn_proto_opts} --dir={folder}".strip()
        there = dataclasses.replace(config, cnn_proto_opts=options)
        return dnn.build_named(there, "acoustic_cnn")
