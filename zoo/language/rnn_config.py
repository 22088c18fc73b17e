"""The configuration of `language/rnn`."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from seqzoo.zoo.language.language_config import LanguageConfig, Output


@dataclasses.dataclass(frozen=True, kw_only=True)
class RnnConfig(LanguageConfig):
    """Simple recurrent layers or GRUs; see `LanguageConfig`.

    Defaults are those of Torch's recurrent-language-model.lua.
    """

    training: ClassVar[Mapping[str, Any]] = {
        "batchsize": (32,),
        "seqlen": 5,
        "trainsize": -1,
        "validsize": -1,
    }
    """Options of training that are not those of `language/lstm`."""

    hiddensize: tuple[int, ...] = (200,)
    """Width of each recurrent layer's output, from the first on."""

    output: Output = "full_softmax"
    """How the output layer is trained: nce (noise-contrastive estimation),
    sampled_softmax or full_softmax. The weights are the same."""

    cell: Literal["rnn", "gru"] = "rnn"
    """The recurrent layers: rnn (simple) or gru."""

    activation: Literal["sigmoid", "tanh", "relu"] = "sigmoid"
    """Of simple recurrent layers."""
