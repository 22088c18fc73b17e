"""How momentum and learning rate of an RBM go, by the frames that it has seen."""

import dataclasses
from typing import NamedTuple

import numpy as np

_FRAMES_AN_HOUR = 360_000


class Setting(NamedTuple):
    """What holds for some minibatches on end."""

    momentum: float
    learning_rate: float
    """After it was multiplied by `1 - momentum` of the ramp."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RbmRamp:
    """Momentum rises step by step; the learning rate falls with `1 - momentum`.

    The first minibatch is learnt with `momentum`. After each minibatch, with
    `n = frames seen // momentum_step_period`, the ramp stands at

        momentum + n * (momentum_max - momentum) / momentum_steps, at most momentum_max

    With `with_bug`, nnet1's default, only the learning rate follows the ramp, and
    momentum itself is `momentum_max` from the second minibatch on.
    """

    learn_rate: float = 0.4
    """Before it is multiplied by `1 - momentum`."""

    momentum: float = 0.5
    """At the start, in [0, 1)."""

    momentum_max: float = 0.9
    """At the end, in [0, 1)."""

    momentum_steps: int = 40
    """Steps from the one to the other."""

    momentum_step_period: int = 500_000
    """Frames between two steps."""

    with_bug: bool = True
    """Whether momentum leaps to its end at once, as it does in nnet1."""

    def __post_init__(self) -> None:
        for name in ("momentum", "momentum_max"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; it is taken in [0, 1)."
                )
        for name in ("momentum_steps", "momentum_step_period"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; 1 is the least.")

    def after(self, frames: int) -> Setting:
        """What holds once so many frames are seen; 0 is the start."""
        if not frames:
            return Setting(self.momentum, self.learn_rate * (1 - self.momentum))
        number = frames // self.momentum_step_period
        step = (self.momentum_max - self.momentum) / self.momentum_steps
        at = self.momentum + number * step
        if number > self.momentum_steps:
            at = self.momentum_max
        used = self.momentum_max if self.with_bug else at
        return Setting(used, self.learn_rate * (1 - at))

    def sets(self, frames: int, minibatch_size: int) -> bool:
        """Whether a minibatch that ends with frame `frames` moves the ramp on."""
        if frames <= minibatch_size:
            return frames > 0
        period = self.momentum_step_period
        return frames // period > (frames - minibatch_size) // period

    def minibatches(
        self, first: int, count: int, minibatch_size: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For minibatches on end: momentum, learning rate, whether they are just set.

        Args:
            first: number of the first, from 0.
            count: how many.
            minibatch_size: frames in each.

        Returns:
            Three arrays `(count,)`.
        """
        seen = [number * minibatch_size for number in range(first, first + count)]
        settings = np.array([self.after(frames) for frames in seen], np.float32)
        fresh = np.array([self.sets(frames, minibatch_size) for frames in seen], bool)
        return (*settings.reshape(-1, 2).T, fresh)

    def line(self, frames: int) -> str:
        """What the log says when the ramp moves on after so many frames."""
        momentum, rate = self.after(frames)
        return (
            f"Setting momentum {momentum:g} and learning rate {rate:g} "
            f"after processing {frames / _FRAMES_AN_HOUR:g} h"
        )
