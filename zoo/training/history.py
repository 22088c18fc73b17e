"""One line of `history.csv`."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class EpochRow:
    """One epoch."""

    iteration: int
    learn_rate: float
    train_loss: float
    cv_loss: float
    train_accuracy: float | None
    """In [0, 1]; None for mse."""
    cv_accuracy: float | None
    accepted: bool
    frames: float
    """Trained on, each times its weight."""
    seconds: float
    frames_per_second: float
    name: str
    """Of the network, in `nnet/`."""
