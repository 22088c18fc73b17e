"""A set of features without targets, as fillings of nnet1's frame buffer."""

import logging
import shutil
from collections.abc import Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from seqzoo.datasets import feature_blocks, frame_records, frames
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo.training import frame_data

_LOG = logging.getLogger(__name__)
# Sets of up to so many bytes of features are read once and then kept.
_IN_MEMORY = 1 << 29
_NAME = "train"


class FeatureSet:
    """The features of a set, prepared for many passes.

    Args:
        pipeline: of the features; `prepare` may put those of the copy in their place.
        buffer_frames: nnet1's --randomizer-size.
        minibatch_size: frames.
        max_frames: longer utterances are left out.
        copy: directory of the copy that passes read; None reads the tables themselves.
        compress: whether the copy holds 8 bits a value.

    Attributes:
        lengths: frames of each utterance, in order.
        dim: numbers in a frame.
        skipped: utterances left out of a pass.

    Raises:
        InputError: features that are read only once, and no copy.
    """

    def __init__(
        self,
        pipeline: FeaturePipeline,
        buffer_frames: int,
        minibatch_size: int,
        max_frames: int,
        copy: str | None,
        compress: bool,
    ):
        if copy is None and not pipeline.replayable:
            raise InputError(
                "features from a pipe or standard input are read only once; leave "
                "copy_feats on, or write them to a file first."
            )
        self.pipeline = pipeline
        self.buffer_frames = buffer_frames
        self.minibatch_size = minibatch_size
        self.max_frames = max_frames
        self.lengths: list[int] = []
        self.dim = 0
        self.skipped = 0
        self._copy = copy
        self._compress = compress
        self._kept: list[tuple[str, NDArray[np.float32]]] | None = None

    @property
    def frames(self) -> int:
        """In a pass."""
        return sum(self.lengths)

    def prepare(self) -> None:
        """Copies the set, if it is to be, and looks at all of it once.

        Raises:
            InputError: no features, none of one dimension, or numbers not finite.
        """
        if self._copy is not None:
            self.pipeline = self.pipeline.copied(self._copy, _NAME, self._compress)
        kept: list[tuple[str, NDArray[np.float32]]] | None = []
        size = 0
        for key, matrix in self.pipeline:
            if len(matrix) > self.max_frames:
                self.skipped += 1
                _LOG.warning(
                    "%s, %d frames, over the limit of %d",
                    key,
                    len(matrix),
                    self.max_frames,
                )
                continue
            self._check(key, matrix)
            self.lengths.append(len(matrix))
            size += matrix.nbytes
            if size > _IN_MEMORY:
                kept = None
            if kept is not None:
                kept.append((key, matrix))
        self.skipped += self.pipeline.num_errors
        self._kept = kept
        if not self.lengths:
            raise InputError(f"{self.pipeline.name}: no features that can be used.")
        if self.frames < self.minibatch_size:
            raise InputError(
                f"{self.frames} frames do not fill a minibatch of "
                f"{self.minibatch_size}; give more data or a smaller minibatch_size."
            )

    def feats(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """One pass; `prepare` comes first."""
        return iter(self._kept) if self._kept is not None else self._read()

    def fillings(
        self, transform: Sequence[keras.layers.Layer], passes: int, seed: int
    ) -> tf.data.Dataset:
        """Shuffled rows, a filling of the buffer an element, for some passes on end.

        Args:
            transform: layers of the feature transform.
            passes: over the set.
            seed: of the shuffles.

        Returns:
            Dataset of `{"inputs": (whole minibatches, dim), ...}`, in all as many as
            `cuts` tells; what fills no minibatch goes into the next.
        """

        def blocks():
            return feature_blocks.blocks(
                self.feats, passes, self.buffer_frames, self.minibatch_size
            )

        rows = frame_records.stream(blocks, self.dim).apply(
            frames.transform(frame_data.rows_function(transform))
        )
        order = frames.seeded_permutation(seed)
        # Marked, since fillings without rows are kept then, and can be counted.
        shuffle = frames.randomize(
            self.minibatch_size, order, drop_tail=True, mark_last=True
        )
        return frame_data.ahead(rows.apply(shuffle))

    def cuts(self, passes: int) -> list[int]:
        """How many fillings each pass makes."""
        return feature_blocks.cuts(
            self.lengths, passes, self.buffer_frames, self.minibatch_size
        )

    def remove(self) -> None:
        """Removes the copy."""
        if self._copy is not None:
            shutil.rmtree(self._copy, ignore_errors=True)

    def _read(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        return ((k, m) for k, m in self.pipeline if len(m) <= self.max_frames)

    def _check(self, key: str, matrix: NDArray[np.float32]) -> None:
        self.dim = self.dim or matrix.shape[1]
        if matrix.shape[1] != self.dim:
            raise InputError(
                f"utterance {key}: features of {matrix.shape[1]} dimensions, but the "
                f"first has {self.dim}; all must have the same."
            )
        if not np.isfinite(matrix).all():
            frame, dim = np.argwhere(~np.isfinite(matrix))[0]
            raise InputError(
                f"utterance {key}, frame {frame}, dimension {dim}: the feature is "
                f"{matrix[frame, dim]}; features are finite. Make them again or leave "
                "the utterance out."
            )
