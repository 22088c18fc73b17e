"""nnet1's training tools: what a minibatch of each is, and their own defaults."""

from collections.abc import Mapping
from typing import Any

from seqzoo.datasets.errors import InputError

FRAMES = "nnet-train-frmshuff"

TOOLS: Mapping[str, Mapping[str, Any]] = {
    FRAMES: {},
    "nnet-train-multistream": {
        "num_streams": 4,
        "batch_size": 20,
        "randomizer_size": 200_000,
    },
    "nnet-train-multistream-perutt": {
        "num_streams": 20,
        "max_frames": 8000,
        "randomizer_size": 200_000,
    },
    "nnet-train-perutt": {"max_frames": 6000, "randomizer_size": 200_000},
}
"""Each tool's defaults where they are not those of the flags. Blocks of sequences are
larger than nnet1's buffer of frames, for them to find their like in length."""


def check(tool: str) -> None:
    """InputError if there is no such tool."""
    if tool not in TOOLS:
        raise InputError(f"train_tool {tool!r}: {', '.join(TOOLS)} are taken.")


def is_sequential(tool: str) -> bool:
    """Whether its minibatches are of sequences, not of shuffled frames."""
    return tool != FRAMES


def kind(tool: str) -> str:
    """The kind of `Batching` of a tool for sequences."""
    return tool.removeprefix("nnet-train-")
