"""What the settings of all acoustic models have."""

from collections.abc import Sequence
from typing import Protocol

from seqzoo.datasets.errors import InputError


class AcousticConfig(Protocol):
    """A dataclass of settings that makes the prototype of a network.

    It may have `training`: settings of the flags of `seqzoo train` by training tool,
    where they differ from the tool's own; the first is the tool to train with.
    """

    @property
    def feature_dim(self) -> int:
        """Numbers in a frame of features."""

    @property
    def offsets(self) -> tuple[int, ...]:
        """Frames that the network sees at a time, relative to the target's."""

    @property
    def pdfs(self) -> int:
        """Width of the output."""

    @property
    def seed(self) -> int:
        """Of the initial weights."""

    @property
    def rng(self) -> str:
        """What `nnet_proto.initialize` draws with."""

    def proto(self, input_dim: int | None = None) -> str:
        """The prototype of the network behind the feature transform."""


def context(offsets: Sequence[int], told: str) -> int:
    """Frames of context on each side, where nothing but that can be given.

    Args:
        offsets: of frames, relative to the target's.
        told: what takes no others, and what to do.

    Raises:
        InputError: for offsets that are not symmetric without gaps.
    """
    splice = max(offsets, default=0)
    if list(offsets) != list(range(-splice, splice + 1)):
        raise InputError(f"offsets are {tuple(offsets)}; {told}")
    return splice
