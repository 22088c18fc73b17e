"""`language/lstm`: words through LSTMs to the words that follow."""

from seqzoo import layers
from seqzoo.zoo import registry
from seqzoo.zoo.language import language_model
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.language.lstm_config import LstmConfig


@registry.register("language/lstm", LstmConfig)
def build(config: LstmConfig) -> LanguageModel:
    """A `LanguageModel`; `LanguageModel` tells what goes in and comes out."""
    recurrent = [
        layers.SeqLSTM(
            units,
            cell_dim=None if config.projsize == -1 else config.projsize,
            peepholes=config.peepholes,
            name=f"lstm_{number}",
            **language_model.recurrent_options(config, number),
        )
        for number, units in enumerate(config.hiddensize, 1)
    ]
    return language_model.assemble(config, recurrent, "language_lstm")
