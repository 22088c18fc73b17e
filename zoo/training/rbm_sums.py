"""The reconstruction error of an RBM's training, and the lines nnet1 prints of it."""

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np


@dataclasses.dataclass
class RbmSums:
    """Half the squared error per frame, over all passes so far.

    Args:
        dim: visible units.
        report_frames: frames between two entries of the progress vector.
    """

    dim: int
    report_frames: int = 1_800_000

    def __post_init__(self) -> None:
        self.error = 0.0
        self.frames = 0
        self.progress: list[float] = []
        self._since = [0.0, 0.0]

    def add(self, errors: Iterable[float], frames: int) -> None:
        """Takes in minibatches: the error of each, and how many frames it has."""
        for error in errors:
            self.error += error
            self.frames += frames
            self._since[0] += error
            self._since[1] += frames
            if self._since[1] > self.report_frames:
                self.progress.append(self._since[0] / self._since[1])
                self._since = [0.0, 0.0]

    @property
    def loss(self) -> float:
        """AvgLoss: per frame."""
        return self.error / max(self.frames, 1)

    @property
    def rms(self) -> float:
        """Root of the loss per visible unit."""
        return float(np.sqrt(self.loss / self.dim))

    def report(self) -> str:
        """The summary lines."""
        progress = "".join(f"{value:g} " for value in self.progress)
        return (
            f"AvgLoss: {self.loss:g} (Mse), [RMS {self.rms:g}, frames {self.frames}]\n"
            f"progress: [{progress}]"
        )

    def state(self) -> dict[str, np.ndarray]:
        """What `restore` needs."""
        return {
            "error": np.array(self.error),
            "frames": np.array(self.frames),
            "progress": np.array(self.progress),
            "since": np.array(self._since),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes back to a `state`."""
        self.error, self.frames = float(state["error"]), int(state["frames"])
        self.progress, self._since = state["progress"].tolist(), state["since"].tolist()
