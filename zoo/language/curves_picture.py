"""The picture of learning curves."""

import math
import os
from collections.abc import Sequence
from typing import Any

from seqzoo.zoo.language.learning_curves import Curves

_TRAIN, _VALID = "tab:blue", "tab:orange"
_MARKED = 40  # With more epochs, points would hide the line.
_INSIDE = 5  # More runs have their names beside the picture.


def draw(runs: Sequence[Curves], path: str) -> None:
    """Draws runs into a PNG; see `learning_curves.draw`."""
    import matplotlib.figure  # Slow to import, and needs no window system this way.

    with_perplexity = any(_known(run.perplexity) for run in runs)
    beside = len(runs) > _INSIDE
    width = (11 if with_perplexity else 6.4) + (2 if beside else 0)
    figure = matplotlib.figure.Figure((width, 4), layout="constrained")
    panels = figure.subplots(1, 2 if with_perplexity else 1, squeeze=False)[0]
    colors = _colors(len(runs))
    if len(runs) == 1:
        _one(panels[0], runs[0])
        _learn_rate(panels[0], runs[0])
        figure.suptitle(runs[0].name, parse_math=False)  # A name may have a $.
    else:
        for run, color in zip(runs, colors, strict=True):
            style = {"color": color, "linestyle": (0, (3, 1.5)), "linewidth": 0.9}
            _line(panels[0], run.epochs, run.train, "_", alpha=0.8, **style)
            _line(panels[0], run.epochs, run.valid, run.name, color=color)
            _ring(panels[0], run, run.valid, color)
    kinds = {run.kind for run in runs}
    panels[0].set_ylabel(kinds.pop() if len(kinds) == 1 else "error a time step")
    if with_perplexity:
        for run, color in zip(runs, colors, strict=True):
            color = _VALID if len(runs) == 1 else color
            _line(panels[1], run.epochs, run.perplexity, run.name, color=color)
            _ring(panels[1], run, run.perplexity, color)
        _perplexity_axis(panels[1], runs)
    for axes in panels:
        _epoch_axis(axes, runs)
    _legends(figure, panels, beside, len(runs))
    partial = f"{path}.partial"
    figure.savefig(partial, dpi=120, format="png")
    os.replace(partial, path)


def _one(axes, run: Curves) -> None:
    _line(axes, run.epochs, run.train, "training", color=_TRAIN)
    _line(axes, run.epochs, run.valid, "validation", color=_VALID)
    _ring(axes, run, run.valid, _VALID)


def _line(axes, epochs, values, label: str, **style: Any) -> None:
    pairs = [(e, v) for e, v in zip(epochs, values, strict=True) if not math.isnan(v)]
    marked = len(pairs) == 1 or (len(pairs) <= _MARKED and "linestyle" not in style)
    axes.plot(
        [epoch for epoch, _ in pairs],
        [value for _, value in pairs],
        label=_plain(label),
        marker="o" if marked else "",
        markersize=3,
        **style,
    )


def _ring(axes, run: Curves, values: Sequence[float], color) -> None:
    for epoch, value in zip(run.epochs, values, strict=True):
        if epoch == run.best and not math.isnan(value):
            axes.plot(
                [epoch],
                [value],
                marker="o",
                markersize=8,
                markerfacecolor="none",
                markeredgecolor=color,
                linestyle="none",
            )


def _learn_rate(axes, run: Curves) -> None:
    """Steps behind the curves of `axes`, one an epoch, by a scale of their own."""
    if not _known(run.learn_rate):
        return
    rates = axes.twinx()
    edges = [epoch - 0.5 for epoch in run.epochs] + [run.epochs[-1] + 0.5]
    rates.stairs(run.learn_rate, edges, baseline=None, color="0.75")
    rates.set_ylim(bottom=0, top=1.05 * max(_known(run.learn_rate)) or 1)
    rates.set_ylabel("learning rate", color="0.5")
    rates.tick_params(colors="0.5")
    rates.set_zorder(axes.get_zorder() - 1)
    axes.patch.set_visible(False)


def _epoch_axis(axes, runs: Sequence[Curves]) -> None:
    first = min(run.epochs[0] for run in runs)
    last = max(run.epochs[-1] for run in runs)
    axes.set_xlabel("epoch")
    margin = 0.5 + 0.01 * (last - first)
    axes.set_xlim(first - margin, last + margin)
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)


def _perplexity_axis(axes, runs: Sequence[Curves]) -> None:
    axes.set_ylabel("validation perplexity (full softmax)")
    values = [value for run in runs for value in _known(run.perplexity)]
    low, high = min(values), max(values)
    if low <= 0 or high < 3 * low:
        return
    axes.set_yscale("log")
    steps = (1, 2, 5) if high > 30 * low else (1, 1.5, 2, 3, 4, 5, 7)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps]
    axes.set_ylim(low / 1.1, high * 1.1)
    ticks = [tick for tick in ticks if low / 1.1 <= tick <= high * 1.1]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks([], minor=True)


def _legends(figure, panels, beside: bool, runs: int) -> None:
    import matplotlib.lines

    if runs == 1:
        panels[0].legend(frameon=False)
        return
    handles, _ = panels[0].get_legend_handles_labels()
    grey: dict[str, Any] = {"color": "0.4"}
    dashes = (0, (3, 1.5))
    handles += [
        matplotlib.lines.Line2D([], [], label="validation", **grey),
        matplotlib.lines.Line2D(
            [], [], label="training", linestyle=dashes, linewidth=0.9, **grey
        ),
    ]
    where = figure if beside else panels[0]
    place = {"loc": "outside right center"} if beside else {"loc": "best"}
    where.legend(handles=handles, frameon=False, fontsize="small", **place)


def _plain(label: str) -> str:
    """A name as it is, though matplotlib sets $...$ as a formula."""
    return label.replace("$", r"\$")


def _known(values: Sequence[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _colors(count: int) -> list[Any]:
    import matplotlib

    if count <= 10:
        return [f"C{number}" for number in range(count)]
    every = matplotlib.colormaps["turbo"]
    return [every(number / (count - 1)) for number in range(count)]
