"""A set of utterances as blocks that every epoch reads, by copy or anew."""

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterable, Iterator

import numpy as np
import tensorflow as tf

from seqzoo.datasets import files, frame_blocks, frame_records
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.utterances import Utterances


@dataclasses.dataclass
class SetCounts:
    """What a pass over a set found."""

    done: int = 0
    no_targets: int = 0
    other_errors: int = 0
    frames: int = 0
    """Frames of weight above 0."""
    dim: int = 0
    """Numbers in a frame of features."""
    classes: list[float] = dataclasses.field(default_factory=list)
    """Frames of each target class."""


class FrameSet:
    """The blocks of a set of utterances.

    Args:
        utterances: the set.
        buffer_frames: nnet1's --randomizer-size.
        minibatch_size: frames.
        copy: path of a local copy that `prepare` writes and epochs read; None reads
            the tables anew in every epoch.
        compress: whether the copy is compressed (lossless).
        identity: what tells this set from others; a copy left over from a run that
            was killed is used again if it is of the same.
    """

    def __init__(
        self,
        utterances: Utterances,
        buffer_frames: int,
        minibatch_size: int,
        copy: str | None,
        compress: bool,
        identity: str,
    ):
        self.utterances = utterances
        self.buffer_frames = buffer_frames
        self.minibatch_size = minibatch_size
        self.counts = SetCounts()
        self._copy = copy
        self._compress = compress
        self._identity = hashlib.sha256(
            repr((identity, buffer_frames, minibatch_size, compress)).encode()
        ).hexdigest()
        if copy is None and not utterances.replayable:
            raise InputError(
                "features from a pipe or standard input are read only once; leave "
                "copy_feats on, or write them to a file first."
            )

    def prepare(self) -> None:
        """Makes the copy, or where none is wanted counts what the tables hold.

        Raises:
            InputError: as reading the utterances does.
        """
        if self._copy is None:
            for _ in self._counted(self._blocks()):
                pass
            return
        if self._reuse():
            return
        os.makedirs(os.path.dirname(self._copy), exist_ok=True)
        frame_records.write(
            self._counted(self._blocks()), self._copy, compress=self._compress
        )
        index = {"identity": self._identity, "counts": dataclasses.asdict(self.counts)}
        output = files.Output(self._index)
        output.write(json.dumps(index).encode())
        output.commit()

    def dataset(self) -> tf.data.Dataset:
        """The blocks; `prepare` comes first."""
        if self._copy is None:
            return frame_records.stream(self._blocks, self.counts.dim)
        return frame_records.read(self._copy, self.counts.dim, self._compress)

    def feats(self) -> Iterator[tuple[str, np.ndarray]]:
        """The features of one utterance after the other, from the blocks."""
        for block in self.dataset().as_numpy_iterator():
            ends = np.cumsum(block["lengths"])
            for part in np.split(block["feats"], ends[:-1]):
                yield "", part

    def remove(self) -> None:
        """Removes the copy."""
        if self._copy is None:
            return
        for path in (self._copy, self._index):
            if os.path.exists(path):
                os.remove(path)

    @property
    def _index(self) -> str:
        return f"{self._copy}.json"

    def _blocks(self) -> Iterator[frame_blocks.Block]:
        return frame_blocks.blocks(
            self.utterances, self.buffer_frames, self.minibatch_size
        )

    def _counted(
        self, blocks: Iterable[frame_blocks.Block]
    ) -> Iterator[frame_blocks.Block]:
        counts, classes = SetCounts(), np.zeros(0)
        for block in blocks:
            counts.dim = block.feats.shape[1]
            counts.frames += int(np.count_nonzero(block.weights))
            found = np.bincount(block.ids.ravel(), block.values.ravel())
            size = max(len(classes), len(found))
            classes = _padded(classes, size) + _padded(found, size)
            yield block
        counts.done = self.utterances.num_done
        counts.no_targets = self.utterances.no_targets
        counts.other_errors = self.utterances.other_errors
        counts.classes = classes.tolist()
        self.counts = counts

    def _reuse(self) -> bool:
        if not (os.path.exists(self._copy or "") and os.path.exists(self._index)):
            return False
        try:
            with open(self._index, encoding="utf-8") as file:
                index = json.load(file)
            if index["identity"] != self._identity:
                return False
            self.counts = SetCounts(**index["counts"])
        except (ValueError, KeyError, TypeError):
            return False
        return True


def _padded(values: np.ndarray, size: int) -> np.ndarray:
    return np.pad(values, (0, size - len(values)))


