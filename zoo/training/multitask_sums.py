"""What a pass over frames with several losses adds up to."""

from collections.abc import Sequence

import numpy as np

from seqzoo.zoo.training.frame_sums import FrameSums
from seqzoo.zoo.training.objective import Part


class MultitaskSums:
    """The same as `FrameSums`, of several losses.

    Args:
        parts: the losses.
        report_frames: frames between two entries of each progress vector.

    Attributes:
        tasks: the `FrameSums` of each loss.
    """

    def __init__(self, parts: Sequence[Part], report_frames: int = 1_800_000):
        self.tasks = [FrameSums(p.loss, p.dim or 0, report_frames) for p in parts]
        self.weights = [part.weight for part in parts]
        self.minibatches = 0
        self.frames = 0.0
        """Frames with targets for any loss, each times its weight."""

    def add(self, minibatch_sums: np.ndarray, per_class: np.ndarray) -> None:
        """Takes in minibatches.

        Args:
            minibatch_sums: `(minibatches, 1 + tasks, 4)`, as of `layers.multitask`.
            per_class: `(4, dim)`, all tasks' classes side by side.
        """
        self.minibatches += len(minibatch_sums)
        self.frames += float(minibatch_sums[:, 0, 3].sum())
        start = 0
        for number, sums in enumerate(self.tasks, 1):
            end = start + sums.dim
            sums.add(minibatch_sums[:, number], per_class[:, start:end])
            start = end

    @property
    def per_class(self) -> np.ndarray:
        """`(4, dim)`: loss, target entropy, correct and frames of all classes."""
        return np.concatenate([sums.per_class for sums in self.tasks], axis=1)

    @property
    def loss(self) -> float:
        """The sum of each loss per frame times its weight; what is not finite is 0."""
        return float(
            sum(
                weight * sums.loss if np.isfinite(sums.loss) else 0.0
                for weight, sums in zip(self.weights, self.tasks, strict=True)
            )
        )

    @property
    def accuracy(self) -> float | None:
        """Share of frames right in all cross-entropies together; None without any."""
        scored = [sums.sums for sums in self.tasks if sums.objective == "xent"]
        if not scored:
            return None
        _, _, correct, frames = np.sum(scored, axis=0)
        return float(correct / max(frames, 1e-30))

    def report(self) -> str:
        """The summary lines."""
        lines = [f"MultiTaskLoss, with {len(self.tasks)} parallel loss functions."]
        for number, sums in enumerate(self.tasks, 1):
            lines.append(f"Loss {number}, {sums.report()}\n")
        weights = "".join(f"{weight:g} " for weight in self.weights)
        values = "".join(f"{sums.loss:g} " for sums in self.tasks)
        lines.append(
            f"Loss (OVERALL), AvgLoss: {self.loss:g} (MultiTaskLoss), "
            f"weights {weights}, values {values}"
        )
        return "\n".join(lines)

    def per_class_report(self) -> str:
        """Nothing: nnet1 prints no classes of several losses."""
        return ""
