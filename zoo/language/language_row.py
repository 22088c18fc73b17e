"""One line of the `history.csv` of a language model."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageRow:
    """One epoch."""

    epoch: int
    learn_rate: float | None
    train_error: float
    """Sum over time steps of the mean loss over real words, a time step. It is that of
    the output layer in training: of NCE no perplexity comes."""
    valid_error: float
    valid_perplexity: float | None
    """By the full softmax."""
    best: bool
    """Whether no epoch before has a validation error as low."""
    words: int | None
    """Trained on: targets, without the separators that Torch counts."""
    seconds: float | None
    words_per_second: float | None
    gradient_norm: float | None
    """Mean over the steps, before the cutoff."""
