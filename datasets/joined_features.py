"""Features of several sets as one, each with its own normalisation."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline

SEPARATOR = "/"


class JoinedFeatures:
    """Several `FeaturePipeline`s as one; utterance `u` of set `s` is `s/u`.

    Args:
        sets: pipelines by the name of their set. All give features of one dimension.

    Attributes:
        num_done, num_errors, replayable, dim, order: as of `FeaturePipeline`.

    Raises:
        InputError: a name of a set with `/` in it; on reading, features of another
            dimension than the first set's.
    """

    def __init__(self, sets: Mapping[str, FeaturePipeline]):
        for name in sets:
            if SEPARATOR in name or not name:
                raise InputError(f"{name!r}: names of sets are words without '/'.")
        self._sets = dict(sets)
        self.replayable = all(one.replayable for one in sets.values())
        self.feats_rspecifier = " ".join(one.feats_rspecifier for one in sets.values())
        self._seed: int | None = None

    @property
    def num_done(self) -> int:
        """Utterances given out, in the current or last pass."""
        return sum(one.num_done for one in self._sets.values())

    @property
    def num_errors(self) -> int:
        """Utterances passed over."""
        return sum(one.num_errors for one in self._sets.values())

    @property
    def dim(self) -> int:
        """Dimension of what comes out."""
        return next(iter(self._sets.values())).dim

    @property
    def order(self) -> list[str] | None:
        """The utterances in reading order; None if a set is an archive."""
        orders = {name: one.order for name, one in self._sets.items()}
        if None in orders.values():
            return None
        queues = {name: iter(order or ()) for name, order in orders.items()}
        return [
            f"{name}{SEPARATOR}{next(queues[name])}"
            for name in self._turns({n: len(o or ()) for n, o in orders.items()})
        ]

    def shuffled(self, seed: int) -> "JoinedFeatures":
        """All utterances in one random order, always alike for one seed."""
        other = JoinedFeatures(
            {name: one.shuffled(seed) for name, one in self._sets.items()}
        )
        other._seed = seed
        return other

    def copied(self, directory: str, name: str) -> "JoinedFeatures":
        """The same from compressed copies, one for each set: `NAME.SET.ark`."""
        other = copy.copy(self)
        other._sets = {
            word: one.copied(directory, f"{name}.{word}")
            for word, one in self._sets.items()
        }
        other.replayable = True
        return other

    def __iter__(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        dim = None
        for key, feats in self._all():
            dim = dim or feats.shape[1]
            if feats.shape[1] != dim:
                raise InputError(
                    f"utterance {key}: features of {feats.shape[1]} dimensions, but "
                    f"those before have {dim}; all sets must have the same."
                )
            yield key, feats

    def _all(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        readers: dict[str, Iterator[Any]] = {n: iter(s) for n, s in self._sets.items()}
        if self._seed is not None:
            sizes = {name: len(one.order or ()) for name, one in self._sets.items()}
            for name in self._turns(sizes):
                # A set may give fewer than its scp has: some are passed over.
                found = next(readers[name], None)
                if found is not None:
                    yield f"{name}{SEPARATOR}{found[0]}", found[1]
        for name, reader in readers.items():
            for key, feats in reader:
                yield f"{name}{SEPARATOR}{key}", feats

    def _turns(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Which set gives the next utterance; shuffled, a random order of them all."""
        names = np.repeat(np.array(list(sizes), object), list(sizes.values()))
        if self._seed is not None:
            np.random.default_rng(self._seed).shuffle(names)
        return iter(names.tolist())
