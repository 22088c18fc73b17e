"""What the settings of all acoustic models have."""

from typing import Protocol


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
