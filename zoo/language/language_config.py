"""What the configurations of language models share."""

import dataclasses
from typing import Literal

Output = Literal["nce", "sampled_softmax", "full_softmax"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageConfig:
    """Word vectors through recurrent layers to an output layer over all words.

    Names and defaults are those of Torch's noise-contrastive-estimate.lua.
    """

    words: int = 0
    """Words of the vocabulary; 0 takes that of the data."""

    hiddensize: tuple[int, ...] = (256, 256)
    """Width of each recurrent layer's output, from the first on."""

    inputsize: int = -1
    """Width of the word vectors; -1 takes the first hiddensize."""

    dropout: float = 0.0
    """Share dropped in training behind the word vectors and each recurrent layer; 0
    has no dropout."""

    output: Output = "nce"
    """How the output layer is trained: nce (noise-contrastive estimation),
    sampled_softmax or full_softmax. The weights are the same."""

    k: int = 100
    """Noise words for each target."""

    Z: float = 1.0
    """The constant that NCE divides by; 0 or less estimates it in the first step."""

    rownoise: bool = False
    """Draw noise for each row of the batch, not once for all rows of a time step."""

    eps: float = 0.0
    """Of NCE: 0 is exact, 1e-7 has Torch's rounding."""

    noise_power: float = 1.0
    """Noise is drawn by the words' counts to this power; below 1 rare words come more
    often. Torch has 1."""

    unigram_bias: bool = False
    """Start the output's biases at the logarithms of the words' shares of the text,
    not all alike; then training is calm from the first step on, also with large k."""

    uniform: float = 0.1
    """Initial weights are uniform within plus and minus this; 0 or less: normal, as
    Torch's layers have them. The output layer starts as NCEModule in any case."""

    seed: int = 1
    """Of the initial weights, the noise and the dropout."""

    def __post_init__(self):
        if self.words < 0:
            raise ValueError(f"words is {self.words}; 0 or more is taken.")
        if not self.hiddensize or min(self.hiddensize) < 1:
            raise ValueError(
                f"hiddensize is {self.hiddensize}; a width of 1 or more for each "
                "recurrent layer is taken."
            )
        if self.inputsize != -1 and self.inputsize < 1:
            raise ValueError(f"inputsize is {self.inputsize}; -1 or more than 0.")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout is {self.dropout}; it is taken in [0, 1).")
        if self.k < 1:
            raise ValueError(f"k is {self.k}; 1 or more is taken.")
        if not 0 <= self.noise_power <= 1:
            raise ValueError(
                f"noise_power is {self.noise_power}; it is taken in [0, 1]."
            )
        if self.eps < 0:
            raise ValueError(f"eps is {self.eps}; 0 or more is taken.")

    @property
    def input_dim(self) -> int:
        """Width of the word vectors."""
        return self.hiddensize[0] if self.inputsize == -1 else self.inputsize
