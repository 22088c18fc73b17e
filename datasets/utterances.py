"""Features, targets and weights joined by utterance."""

import dataclasses
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.scp_table import open_table
from seqzoo.datasets.target_table import TargetTable

_LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class Utterance:
    """One utterance ready for training; all parts are of one length."""

    key: str
    """Its name."""

    feats: NDArray[np.float32]
    """`(time, dim)`."""

    targets: Posterior
    """What the network should say, one frame after the other."""

    weights: NDArray[np.float32]
    """How much each frame counts, `(time,)`; frames of weight 0 are still here."""


class Utterances:
    """Features with their targets and weights, in the order of the features.

    An utterance is passed over, with a warning, and counted, when
    - it has no targets (`no_targets`);
    - it has no frame weights or no utterance weight though such are given, has no
      frames or more than `max_frames`, or its parts differ in length by
      `length_tolerance` frames or more (`other_errors`);
    - its utterance weight is 0 (without a warning, and counted nowhere).
    Parts that differ by less are cut to the shortest. Frame weights are multiplied by
    the utterance weight.

    Args:
        feats: `(key, matrix)` pairs, a `FeaturePipeline`; or a features rspecifier.
        targets: labels or posteriors by utterance: an rspecifier of int vectors, of
            posteriors or of matrices, told apart by their content, or a mapping, or a
            `TargetTable`.
        frame_weights: rspecifier of a vector for each utterance, or a mapping.
        utt_weights: rspecifier of a number for each utterance, or a mapping.
        num_targets: number of outputs of the network; an index of a target at or over
            it is an error. None: not checked.
        length_tolerance: frames, at least 1.
        max_frames: longer utterances are passed over.

    Attributes:
        num_done: utterances given out, in the current or last pass.
        no_targets: utterances without targets.
        other_errors: utterances passed over for other reasons; what the features'
            own pipeline left out is in its `num_errors`.
        replayable: whether a second pass can be made.

    Raises, while it is read:
        InputError: an index of a target outside the outputs, a feature or weight that
            is not finite, features of another dimension than the first utterance's,
            or no utterance at all in the end.

    Source: Kaldi nnet-train-frmshuff.
    """

    def __init__(
        self,
        feats: Iterable[tuple[str, NDArray[np.float32]]] | str,
        targets: Mapping[str, Any] | TargetTable | str,
        *,
        frame_weights: Mapping[str, Any] | str | None = None,
        utt_weights: Mapping[str, float] | str | None = None,
        num_targets: int | None = None,
        length_tolerance: int = 5,
        max_frames: int = 360000,
    ):
        if length_tolerance < 1:
            raise InputError(
                f"length_tolerance is {length_tolerance} frames; it is at least 1."
            )
        if isinstance(feats, str):
            feats = FeaturePipeline(feats)
        self.feats = feats
        self.targets = targets
        self.frame_weights = frame_weights
        self.utt_weights = utt_weights
        self.num_targets = num_targets
        self.length_tolerance = length_tolerance
        self.max_frames = max_frames
        self.replayable = getattr(feats, "replayable", iter(feats) is not feats)
        self.num_done = self.no_targets = self.other_errors = 0
        self._targets = (
            targets if isinstance(targets, TargetTable) else TargetTable(targets)
        )
        self._frame_weights = _open(frame_weights, "vector")
        self._utt_weights = _open(utt_weights, "token")

    def __iter__(self) -> Iterator[Utterance]:
        self.num_done = self.no_targets = self.other_errors = 0
        first: tuple[str, int] | None = None
        num_read = 0
        for key, feats in self.feats:
            num_read += 1
            if len(feats):  # an empty matrix has no dimension either
                first = first or (key, feats.shape[1])
            if key not in self._targets:
                _LOG.warning("%s, missing targets", key)
                self.no_targets += 1
                continue
            try:
                utterance = self._join(key, feats, first)
            except _PassedOver as reason:
                _LOG.warning("%s", reason)
                self.other_errors += 1
                continue
            if utterance is not None:
                self.num_done += 1
                yield utterance
        if not self.num_done:
            raise InputError(self._nothing(num_read))

    def _join(
        self, key: str, feats: NDArray[np.float32], first: tuple[str, int] | None
    ) -> Utterance | None:
        """The utterance; None if its weight is 0."""
        if first is None or not len(feats):
            raise _PassedOver(f"{key}, no frames")
        if self._frame_weights is not None and key not in self._frame_weights:
            raise _PassedOver(f"{key}, missing frame weights")
        if self._utt_weights is not None and key not in self._utt_weights:
            raise _PassedOver(f"{key}, missing utterance weight")
        self._check_feats(key, feats, first)
        if len(feats) > self.max_frames:
            raise _PassedOver(
                f"{key}, {len(feats)} frames, over the limit of {self.max_frames}"
            )
        targets = self._targets.of(key, feats)
        if self._frame_weights is None:
            weights = np.ones(len(feats), np.float32)
        else:
            weights = np.array(self._frame_weights[key], np.float32)
            _check_weights(key, weights)
        if self._utt_weights is not None:
            weight = _utt_weight(key, self._utt_weights[key])
            if weight == 0:
                return None
            weights *= np.float32(weight)
        frames = self._common_length(key, feats, targets, weights)
        targets = targets[:frames] if len(targets) > frames else targets
        self._check_targets(key, targets)
        return Utterance(key, feats[:frames], targets, weights[:frames])

    def _common_length(
        self,
        key: str,
        feats: NDArray[np.float32],
        targets: Posterior,
        weights: NDArray[np.float32],
    ) -> int:
        lengths = {"Targets": len(targets), "features": len(feats)}
        if self._frame_weights is not None:
            lengths["frame weights"] = len(weights)
        frames = min(lengths.values())
        if max(lengths.values()) - frames >= self.length_tolerance:
            told = ", ".join(f"{what} {length}" for what, length in lengths.items())
            raise _PassedOver(f"Length mismatch! {told}, {key}")
        if not frames:
            raise _PassedOver(f"{key}, no frames")
        return frames

    def _check_feats(
        self, key: str, feats: NDArray[np.float32], first: tuple[str, int]
    ) -> None:
        if feats.shape[1] != first[1]:
            raise InputError(
                f"utterance {key}: features of {feats.shape[1]} dimensions, but those "
                f"of {first[0]}, the first, have {first[1]}; all must have the same."
            )
        finite = np.isfinite(feats)
        if not finite.all():
            frame, dim = np.argwhere(~finite)[0]
            raise InputError(
                f"utterance {key}, frame {frame}, dimension {dim}: the feature is "
                f"{feats[frame, dim]}; features are finite. Make them again or leave "
                "the utterance out."
            )

    def _check_targets(self, key: str, targets: Posterior) -> None:
        indices, values = targets.indices, targets.values
        limit = np.inf if self.num_targets is None else self.num_targets
        wrong = (indices < 0) | (indices >= limit)
        if wrong.any():
            place = int(wrong.argmax())
            taken = "at least 0"
            if self.num_targets is not None:
                taken = f"0 to {self.num_targets - 1}, {self.num_targets} in all"
            raise InputError(
                f"utterance {key}, frame {_frame(targets, place)}: the target's index "
                f"is {indices[place]}, but indices are {taken}."
            )
        finite = np.isfinite(values)
        if not finite.all():
            place = int(np.argmin(finite))
            raise InputError(
                f"utterance {key}, frame {_frame(targets, place)}: target "
                f"{indices[place]} has the value {values[place]}; values are finite."
            )

    def _nothing(self, num_read: int) -> str:
        if not num_read:
            return "no utterance: there are no features at all."
        hint = "are the keys the same?"
        if not self.no_targets:
            hint = "the warnings tell why."
        return (
            f"no utterance with both features and targets: {num_read} with features "
            f"read, {self.no_targets} without targets, {self.other_errors} with other "
            f"errors; {hint}"
        )


class _PassedOver(Exception):
    """Why an utterance is left out."""


def _frame(targets: Posterior, place: int) -> int:
    """The frame that entry `place` belongs to."""
    return int(np.searchsorted(targets.offsets, place, side="right")) - 1


def _check_weights(key: str, weights: NDArray[np.float32]) -> None:
    finite = np.isfinite(weights)
    if not finite.all():
        frame = int(np.argmin(finite))
        raise InputError(
            f"utterance {key}, frame {frame}: its weight is {weights[frame]}; "
            "weights are finite."
        )


def _utt_weight(key: str, value: Any) -> float:
    try:
        weight = float(value)
    except ValueError:
        weight = np.nan
    if not 0 <= weight < np.inf:
        raise InputError(
            f"utterance {key}: its utterance weight is {value}; it is a number, at "
            "least 0."
        )
    return weight


def _open(table: Mapping[str, Any] | str | None, kind: str) -> Any:
    return open_table(table, kind) if isinstance(table, str) else table
