"""What the pre-training of each RBM came to: its line in `history.csv`, its curve."""

import dataclasses
import os
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True, kw_only=True)
class RbmRow:
    """One RBM."""

    layer: int
    """From 1."""
    visible_type: str
    hidden_type: str
    visible_units: int
    hidden_units: int
    learn_rate: float
    passes: int
    """Over the data."""
    frames: int
    """Of all passes together."""
    loss: float
    """Half the squared error of the reconstruction, per frame."""
    rms: float
    """The root of that per visible unit."""
    seconds: float
    frames_per_second: float


Points = Sequence[tuple[int, float]]
"""Frames seen, and the error per visible unit (RMS) of the last of them."""


def draw(points: Mapping[str, Points], path: str, title: str) -> None:
    """Draws the reconstruction error of each RBM by the frames seen into a PNG.

    Args:
        points: by the name of the RBM.
        path: of the PNG, replaced whole.
        title: above the picture.
    """
    # Slow to import; a figure of its own needs no window system.
    import matplotlib.figure
    import matplotlib.ticker

    figure = matplotlib.figure.Figure((6, 3.6))
    axes = figure.subplots()
    for name, found in points.items():
        frames = [at for at, _ in found]
        axes.plot(frames, [error for _, error in found], label=name, marker=".")
    axes.set_xlabel("frames")
    axes.xaxis.set_major_formatter(matplotlib.ticker.EngFormatter(sep=""))
    axes.set_ylabel("reconstruction error (RMS)")
    axes.set_ylim(bottom=0)
    if points:
        axes.legend(frameon=False)
    figure.suptitle(title, parse_math=False)  # A title may be a path with $.
    figure.tight_layout()
    partial = f"{path}.partial"
    figure.savefig(partial, dpi=120, format="png")
    os.replace(partial, path)
