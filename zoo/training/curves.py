"""Learning curves as a picture."""

import os
from collections.abc import Sequence

from seqzoo.zoo.training.history import EpochRow


def draw(rows: Sequence[EpochRow], path: str, title: str) -> None:
    """Draws loss, accuracy and learning rate by epoch into a PNG.

    Args:
        rows: the epochs; those rejected are drawn hollow.
        path: of the PNG, replaced whole.
        title: above the picture.
    """
    import matplotlib.figure  # Slow to import, and needs no window system this way.

    with_accuracy = rows[0].cv_accuracy is not None
    figure = matplotlib.figure.Figure((10 if with_accuracy else 6, 3.6))
    panels = figure.subplots(1, 2 if with_accuracy else 1, squeeze=False)[0]
    _panel(panels[0], rows, "train_loss", "cv_loss", "loss per frame")
    if with_accuracy:
        _panel(panels[1], rows, "train_accuracy", "cv_accuracy", "frame accuracy, %")
    _learn_rate(panels[0], rows)
    figure.suptitle(title, parse_math=False)  # A title may be a path with $.
    figure.tight_layout()
    partial = f"{path}.partial"
    figure.savefig(partial, dpi=120, format="png")
    os.replace(partial, path)


def _learn_rate(axes, rows) -> None:
    """Steps behind the curves of `axes`, one an epoch, by a scale of their own."""
    rates = axes.twinx()
    values = [row.learn_rate for row in rows]
    edges = [row.iteration - 0.5 for row in rows] + [rows[-1].iteration + 0.5]
    rates.stairs(values, edges, baseline=None, color="0.75")
    rates.set_yscale("log")
    some = sorted(set(values))[:: len(set(values)) // 6 + 1]
    rates.set_yticks(some, [f"{value:.3g}" for value in some])
    rates.set_yticks([], minor=True)
    rates.set_ylabel("learning rate", color="0.5")
    rates.tick_params(colors="0.5")
    rates.set_zorder(axes.get_zorder() - 1)
    axes.patch.set_visible(False)


def _panel(axes, rows, train: str, held_out: str, label: str) -> None:
    scale = 100 if "accuracy" in train else 1
    for column, name, color in (
        (train, "training", "tab:blue"),
        (held_out, "held out", "tab:orange"),
    ):
        values = [scale * getattr(row, column) for row in rows]
        epochs = [row.iteration for row in rows]
        axes.plot(epochs, values, color=color, label=name, marker="o", markersize=4)
        rejected = [i for i, row in enumerate(rows) if not row.accepted]
        axes.plot(
            [epochs[i] for i in rejected],
            [values[i] for i in rejected],
            linestyle="none",
            marker="o",
            markersize=4,
            color=color,
            markerfacecolor="white",
        )
    axes.set_xlabel("epoch")
    axes.set_ylabel(label)
    axes.set_xlim(rows[0].iteration - 0.5, rows[-1].iteration + 0.5)
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    axes.legend(frameon=False)
