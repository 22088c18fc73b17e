"""A set of utterances as blocks that every epoch reads, by copy or anew."""

import contextlib
import dataclasses
import glob
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from seqzoo.datasets import files, frame_blocks, frame_records
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.utterances import Utterances

# Sets of up to so many bytes of features are read once and then kept.
_IN_MEMORY = 1 << 29


@dataclasses.dataclass
class SetCounts:
    """What a pass over a set found."""

    done: int = 0
    no_targets: int = 0
    other_errors: int = 0
    frames: int = 0
    """Frames of weight above 0."""
    blocks: int = 0
    """Fillings of the frame buffer."""
    dim: int = 0
    """Numbers in a frame of features."""
    classes: list[float] = dataclasses.field(default_factory=list)
    """Frames of each target class."""


@dataclasses.dataclass(frozen=True)
class Copy:
    """A local copy of a set."""

    directory: str
    name: str
    compress: bool
    """Whether it is an archive of raw features with 8 bits a value, as train.sh makes;
    else it holds the network's inputs in float32, ready to be read."""


class FrameSet:
    """The blocks of a set of utterances.

    Args:
        pipeline: its features; `prepare` may put those of the copy in their place.
        targets: of `Utterances`.
        buffer_frames: nnet1's --randomizer-size.
        minibatch_size: frames.
        copy: what `prepare` copies and epochs read; None reads the tables themselves.
        identity: what tells this set from others; a copy left over from a run that
            was killed is used again if it is of the same.
        options: more of `Utterances`.

    Raises:
        InputError: features that are read only once, and no copy.
    """

    def __init__(
        self,
        pipeline: FeaturePipeline,
        targets: Any,
        buffer_frames: int,
        minibatch_size: int,
        copy: Copy | None,
        identity: str,
        **options: Any,
    ):
        self.pipeline = pipeline
        self.utterances = Utterances(pipeline, targets, **options)
        self.buffer_frames = buffer_frames
        self.minibatch_size = minibatch_size
        self.counts = SetCounts()
        self._kept: list[frame_blocks.Block] | None = None
        self._copy = copy
        self._identity = hashlib.sha256(
            repr((identity, buffer_frames, minibatch_size, copy)).encode()
        ).hexdigest()
        if copy is None and not pipeline.replayable:
            raise InputError(
                "features from a pipe or standard input are read only once; leave "
                "copy_feats on, or write them to a file first."
            )

    def prepare(self) -> None:
        """Copies the set, if it is to be, and counts what is in it.

        Raises:
            InputError: as reading the utterances does.
        """
        if self._copy is not None:
            if not self._is_ours():
                self.remove()
            os.makedirs(self._copy.directory, exist_ok=True)
            self._write_json(self._path("json"), self._identity)
            if self._copy.compress:
                self.pipeline = self.pipeline.copied(
                    self._copy.directory, self._copy.name
                )
                self.utterances.feats = self.pipeline
            elif os.path.exists(self._path("counts.json")):
                with open(self._path("counts.json"), encoding="utf-8") as file:
                    self.counts = SetCounts(**json.load(file))
                return
        blocks = self._counted(self._blocks())
        if self._copy is None or self._copy.compress:
            self._kept = _all_of(blocks)
            return
        frame_records.write(blocks, self._path("blocks"))
        self._write_json(self._path("counts.json"), dataclasses.asdict(self.counts))

    def dataset(self) -> tf.data.Dataset:
        """The blocks; `prepare` comes first. A small set stays in memory."""
        dim = self.counts.dim
        if self._copy is not None and not self._copy.compress:
            return frame_records.read(self._path("blocks"), dim)
        kept = self._kept
        return frame_records.stream(self._blocks if kept is None else kept.copy, dim)

    def feats(self) -> Iterator[tuple[str, np.ndarray]]:
        """The features of one utterance after the other, from the blocks."""
        for block in self.dataset().as_numpy_iterator():
            ends = np.cumsum(block["lengths"])
            for part in np.split(block["feats"], ends[:-1]):
                yield "", part

    def remove(self) -> None:
        """Removes the copy, and its directory if nothing else is in it."""
        if self._copy is None:
            return
        # Several sets as one have a copy for each: `train.en.ark`.
        for path in glob.glob(glob.escape(self._path("")) + "*"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
        with contextlib.suppress(OSError):
            os.rmdir(self._copy.directory)

    def _path(self, end: str) -> str:
        assert self._copy is not None
        return os.path.join(self._copy.directory, f"{self._copy.name}.{end}")

    def _is_ours(self) -> bool:
        """Whether a copy is there that was made, or begun, for this set."""
        try:
            with open(self._path("json"), encoding="utf-8") as file:
                return json.load(file) == self._identity
        except (OSError, ValueError):
            return False

    @staticmethod
    def _write_json(path: str, value: Any) -> None:
        output = files.Output(path)
        try:
            output.write(json.dumps(value).encode())
            output.commit()
        except BaseException:
            output.discard()
            raise

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
            counts.blocks += 1
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


def _all_of(blocks: Iterable[frame_blocks.Block]) -> list[frame_blocks.Block] | None:
    """Them all, read to the end; None if they are too large to keep."""
    kept: list[frame_blocks.Block] | None = []
    size = 0
    for block in blocks:
        size += block.feats.nbytes + block.values.nbytes + block.ids.nbytes
        if size > _IN_MEMORY:
            kept = None
        if kept is not None:
            kept.append(block)
    return kept


def _padded(values: np.ndarray, size: int) -> np.ndarray:
    return np.pad(values, (0, size - len(values)))
