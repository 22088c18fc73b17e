"""The configuration of `language/lstm`."""

import dataclasses

from seqzoo.zoo.language.language_config import LanguageConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class LstmConfig(LanguageConfig):
    """LSTMs; see `LanguageConfig`."""

    projsize: int = -1
    """Cells of each LSTM, whose output is projected to its hiddensize; -1 has as many
    cells as outputs and no projection."""

    peepholes: bool = False
    """Gates see the cell, as in Torch's nn.LSTM."""

    def __post_init__(self):
        super().__post_init__()
        if self.projsize != -1 and self.projsize < 1:
            raise ValueError(f"projsize is {self.projsize}; -1 or more than 0.")
