"""The configuration of `language/rnn`."""

import dataclasses
from typing import Literal

from seqzoo.zoo.language.language_config import LanguageConfig, Output


@dataclasses.dataclass(frozen=True, kw_only=True)
class RnnConfig(LanguageConfig):
    """Simple recurrent layers or GRUs; see `LanguageConfig`.

    Defaults are those of Torch's recurrent-language-model.lua.
    """

    hiddensize: tuple[int, ...] = (200,)
    """Width of each recurrent layer's output, from the first on."""

    output: Output = "full_softmax"
    """How the output layer is trained: nce (noise-contrastive estimation),
    sampled_softmax or full_softmax. The weights are the same."""

    cell: Literal["rnn", "gru"] = "rnn"
    """The recurrent layers: rnn (simple) or gru."""

    activation: Literal["sigmoid", "tanh", "relu"] = "sigmoid"
    """Of simple recurrent layers."""
