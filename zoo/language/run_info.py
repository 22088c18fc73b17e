"""What `seqzoo info` tells of a language model: its layers, sizes and weights."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from seqzoo.zoo import registry
from seqzoo.zoo.language import run_files

_PIECE = 1 << 22  # Numbers looked at at a time.


def info(path: str) -> str:
    """A text of a line for each layer, and one for each weight; no TensorFlow.

    Args:
        path: a run folder, or `preset:NAME`.

    Raises:
        InputError: if it is none, or no epoch of its training has ended yet.
    """
    path = run_files.folder(path)
    about = run_files.read_json(path, run_files.CONFIG)
    state = run_files.read_state(path)
    weights = os.path.join(path, run_files.WEIGHTS, state["weights"])
    unit = about.get("tokens", "words")
    lines = [*_layers(about["model"], about["settings"], unit)]
    names = sorted(name for name in os.listdir(weights) if name.endswith(".npy"))
    total = 0
    for name in names:
        if name.startswith("seed."):
            continue
        values = np.load(os.path.join(weights, name), mmap_mode="r")
        if name != "output.z.npy":
            total += values.size
        lines.append(f"  {_weight(name.removesuffix('.npy'), values)}")
    lines.insert(1, f"  {total:,} parameters")
    if state.get("epoch"):
        best = state.get("best_error")
        lines.insert(
            2,
            f"  {state['epoch']} epochs; the best is {state['best_epoch']}, validation "
            f"error {best:.6g}",
        )
    return "\n".join(lines) + "\n"


def _layers(name: str, settings: Mapping[str, Any], unit: str) -> Iterator[str]:
    """The network from the words on, a line each; `unit` is "words" or "characters"."""
    yield f"{name}, {settings['words']:,} {unit}"
    defaults = {field: value for field, value, _ in registry.settings(name)}
    first = settings["hiddensize"][0]
    width = first if settings["inputsize"] == -1 else settings["inputsize"]
    drop = f"dropout {settings['dropout']:g}" if settings["dropout"] else ""
    yield f"  embedding: ids 0 to {settings['words']} -> {width}, 0 for id 0"
    if drop:
        yield f"  {drop}"
    kind = settings.get("cell", "lstm")
    for number, units in enumerate(settings["hiddensize"], 1):
        more = ""
        if settings.get("projsize", -1) != -1:
            more = f" of {settings['projsize']} cells, projected"
        if settings.get("peepholes"):
            more += ", with peepholes"
        yield f"  {kind}_{number}: {width} -> {units}{more}"
        if drop:
            yield f"  {drop}"
        width = units
    output = settings.get("output", defaults["output"])
    how = {
        "nce": f"NCE, k {settings['k']}, Z {settings['Z']:g}, noise "
        + ("by row" if settings["rownoise"] else "by time step"),
        "sampled_softmax": f"sampled softmax, k {settings['k']}",
        "full_softmax": "full softmax",
    }[output]
    yield f"  output: {width} -> {settings['words']:,} {unit}, trained by {how}"


def _weight(name: str, values: np.ndarray) -> str:
    """Shape and spread; the values are read a piece at a time."""
    flat = values.reshape(-1)
    count, total, squares = max(flat.size, 1), 0.0, 0.0
    low, high = np.inf, -np.inf
    for start in range(0, flat.size, _PIECE):
        piece = flat[start : start + _PIECE].astype(np.float64)
        total += piece.sum()
        squares += np.square(piece).sum()
        low, high = min(low, piece.min()), max(high, piece.max())
    mean = total / count
    spread = np.sqrt(max(squares / count - mean * mean, 0))
    shape = " x ".join(map(str, values.shape)) or "1"
    return (
        f"{name.replace('.', '/')} ({shape}): min {low:.5g}, max {high:.5g}, "
        f"mean {mean:.5g}, stddev {spread:.5g}"
    )
