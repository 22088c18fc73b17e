"""What a pass over frames adds up to, and the lines nnet1 prints of it."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class FrameSums:
    """Loss and accuracy of a pass, counted as nnet1 counts them.

    Args:
        objective: `xent` or `mse`.
        dim: width of the network's output.
        report_frames: frames between two entries of the progress vector.
    """

    objective: str
    dim: int
    report_frames: int = 1_800_000

    def __post_init__(self) -> None:
        self.sums = np.zeros(4)
        self.per_class = np.zeros((4, self.dim))
        self.progress: list[float] = []
        self.minibatches = 0
        self._since = np.zeros(4)

    def add(self, minibatch_sums: np.ndarray, per_class: np.ndarray) -> None:
        """Takes in minibatches.

        Args:
            minibatch_sums: `(minibatches, 4)`: loss, target entropy, correct, frames.
            per_class: `(4, dim)`, the same for all of them together, by class.
        """
        self.per_class += per_class
        for sums in minibatch_sums:
            self.sums += sums
            self._since += sums
            if self._since[3] > self.report_frames:
                self.progress.append(float(_average(self._since)))
                self._since[:] = 0
        self.minibatches += len(minibatch_sums)

    @property
    def frames(self) -> float:
        """Frames, each times its weight."""
        return float(self.sums[3])

    @property
    def loss(self) -> float:
        """AvgLoss: per frame; for cross-entropy less the targets' own entropy."""
        return float(_average(self.sums))

    @property
    def accuracy(self) -> float | None:
        """Share of frames right, in [0, 1]; None for mse."""
        if self.objective == "mse":
            return None
        return float(self.sums[2] / max(self.frames, 1e-30))

    def report(self) -> str:
        """The summary lines."""
        progress = "".join(f"{value:g} " for value in self.progress)
        frames = max(self.frames, 1e-30)
        if self.objective == "mse":
            rms = np.sqrt(self.loss / self.dim)
            return (
                f"AvgLoss: {self.loss:g} (Mse), [RMS {rms:g}, frames {frames:g}]\n"
                f"progress: [{progress}]"
            )
        xent, entropy = self.sums[:2] / frames
        return (
            f"AvgLoss: {self.loss:g} (Xent), "
            f"[AvgXent: {xent:g}, AvgTargetEnt: {entropy:g}]\n"
            f"progress: [{progress}]\n"
            f"FRAME_ACCURACY >> {100 * self.sums[2] / frames:g}% <<"
        )

    def per_class_report(self) -> str:
        """Frames, loss and accuracy of each class; '' for mse."""
        if self.objective == "mse":
            return ""
        loss, entropy, correct, frames = self.per_class
        # Half a frame keeps classes without any from dividing by zero.
        return (
            "PER-CLASS PERFORMANCE:\n"
            f"@@@ Frames per-class: {_vector(frames)}\n"
            f"@@@ Loss per-class: {_vector((loss - entropy) / (frames + 0.5))}\n"
            f"@@@ Frame-accuracy per-class: {_vector(100 * correct / (frames + 0.5))}"
        )


def _average(sums: np.ndarray) -> float:
    return (sums[0] - sums[1]) / max(sums[3], 1e-30)


def _vector(values: np.ndarray) -> str:
    return f"[ {' '.join(f'{value:g}' for value in values)} ]"
