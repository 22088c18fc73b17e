"""Sentences as word ids: one long array, and where in it each begins."""

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt


@dataclasses.dataclass(frozen=True)
class Sentences:
    """A set of sentences, in order.

    Sentence `k` is `ids[starts[k] : starts[k + 1]]`. Each has two ids at least: of a
    single one there is nothing to predict.

    Attributes:
        ids: `(n,)` int32 word ids, 1 or more; may be a file mapped to memory.
        starts: `(sentences + 1,)` int64; the last is `n`.
        skipped: how many sentences were left out for having one id only.
    """

    ids: np.ndarray
    starts: np.ndarray
    skipped: int = 0

    @classmethod
    def of(cls, sequences: Iterable[Sequence[int] | np.ndarray]) -> "Sentences":
        """From arrays of ids, one a sentence; those of one id or none are skipped."""
        arrays = [np.asarray(sequence, np.int32) for sequence in sequences]
        kept = [array for array in arrays if len(array) > 1]
        starts = np.cumsum([0, *map(len, kept)], dtype=np.int64)
        ids = np.concatenate([np.zeros(0, np.int32), *kept])
        return cls(ids, starts, len(arrays) - len(kept))

    @classmethod
    def cut(cls, ids: npt.ArrayLike, starts: npt.ArrayLike) -> "Sentences":
        """From one array and where its sentences begin; short ones are skipped.

        Args:
            ids: `(n,)` word ids.
            starts: `(sentences,)`, rising from 0; the last sentence ends at `n`.
        """
        ids = np.asarray(ids, np.int32)
        bounds = np.append(np.asarray(starts, np.int64), len(ids))
        lengths = np.diff(bounds)
        long = lengths > 1
        if long.all():
            return cls(ids, bounds)
        kept = np.cumsum([0, *lengths[long]], dtype=np.int64)
        return cls(ids[np.repeat(long, lengths)], kept, int(np.sum(~long)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, k: int) -> np.ndarray:
        """The ids of sentence `k`, from 0."""
        if not 0 <= k < len(self):
            raise IndexError(f"no sentence {k} of {len(self)}")
        return self.ids[self.starts[k] : self.starts[k + 1]]

    @property
    def targets(self) -> int:
        """How many ids there are to predict: all but the first of each sentence."""
        return len(self.ids) - len(self)
