"""`language/rnn`: words through simple recurrent layers, or GRUs, to those after."""

from seqzoo import layers
from seqzoo.zoo import registry
from seqzoo.zoo.language import language_model
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.language.rnn_config import RnnConfig


@registry.register("language/rnn", RnnConfig)
def build(config: RnnConfig) -> LanguageModel:
    """A `LanguageModel`; `LanguageModel` tells what goes in and comes out."""
    recurrent: list[layers.SequenceLayer] = []
    for number, units in enumerate(config.hiddensize, 1):
        options = language_model.recurrent_options(config, number)
        name = f"{config.cell}_{number}"
        if config.cell == "gru":
            recurrent.append(layers.SeqGRU(units, name=name, **options))
        else:
            activation = config.activation
            recurrent.append(layers.SeqRNN(units, activation, name=name, **options))
    return language_model.assemble(config, recurrent, "language_rnn")
