"""Perplexity of a modified Kneser-Ney trigram on a cache's sets, to judge a model by.

    python benchmarks/kneser_ney.py CACHE [SET...]

Interpolated, with three discounts an order (Chen and Goodman, "An Empirical Study of
Smoothing Techniques for Language Modeling", 1998). It knows the cache's vocabulary and
scores what `seqzoo eval` scores: each word but the first mark, the last mark too.
Without a cache the bundled King James Bible is taken.
"""

import sys
import tempfile

import numpy as np

from seqzoo.datasets import gbw, gbw_cache, kjv
from seqzoo.datasets.sentences import Sentences


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path, *names = sys.argv[1:] or [scratch]
        if path == scratch:
            gbw.open_data(kjv.path(), scratch)
        cache = gbw_cache.load(path)
    words, start = len(cache.vocabulary), cache.vocabulary.start
    model = Trigram(trigrams(cache.sets["train"], start), words)
    for name in names or [name for name in cache.sets if name != "train"]:
        found = model.log_probs(trigrams(cache.sets[name], start))
        print(f"{name}: perplexity {np.exp(-found.mean()):.2f} on {len(found)} words")


def trigrams(sentences: Sentences, start: int) -> np.ndarray:
    """`(words, 3)`: each word that is predicted, behind the two before it.

    Before a sentence's first mark stands another one.
    """
    ids = np.asarray(sentences.ids, np.int64)
    before = np.roll(ids, 1)
    first = np.asarray(sentences.starts[:-1])
    windows = np.stack([np.roll(before, 1), before, ids], 1)
    windows[first + 1, 0] = start
    return np.delete(windows, first, 0)


class Trigram:
    """The model.

    Args:
        seen: `(words, 3)` trigrams of the training text.
        words: of the vocabulary, of which the start of a sentence is never predicted.
    """

    def __init__(self, seen: np.ndarray, words: int):
        self._uniform = 1 / (words - 1)
        self._orders = []
        keys, counts = np.unique(_keys(seen, words), return_counts=True)
        for order in (3, 2, 1):
            self._orders.insert(0, _Order(keys, counts, words))
            # How many words come before, not how often it comes.
            keys, counts = np.unique(keys % words ** (order - 1), return_counts=True)
        self._words = words

    def log_probs(self, asked: np.ndarray) -> np.ndarray:
        """`(n,)` of `(n, 3)` trigrams' last words."""
        found = np.full(len(asked), self._uniform)
        for size, order in enumerate(self._orders, 1):
            found = order.interpolate(_keys(asked[:, 3 - size :], self._words), found)
        return np.log(found)


class _Order:
    """The n-grams of one length, as rising whole numbers, and their counts."""

    def __init__(self, keys: np.ndarray, counts: np.ndarray, words: int):
        n1, n2, n3, n4 = (np.sum(counts == times) for times in (1, 2, 3, 4))
        shared = n1 / (n1 + 2 * n2)
        discounts = np.array(
            [
                0,
                1 - 2 * shared * n2 / n1,
                2 - 3 * shared * n3 / n2,
                3 - 4 * shared * n4 / n3,
            ]
        )
        taken = discounts[np.minimum(counts, 3)]
        self._words, self._keys, self._left = words, keys, counts - taken
        self._histories, which = np.unique(keys // words, return_inverse=True)
        self._totals = np.bincount(which, counts)
        self._taken = np.bincount(which, taken)

    def interpolate(self, keys: np.ndarray, lower: np.ndarray) -> np.ndarray:
        """Probabilities of n-grams, from those of the shorter ones."""
        left = _looked_up(keys, self._keys, self._left)
        histories = keys // self._words
        total = _looked_up(histories, self._histories, self._totals)
        taken = _looked_up(histories, self._histories, self._taken)
        known = np.maximum(total, 1)
        return np.where(total > 0, (left + taken * lower) / known, lower)


def _keys(grams: np.ndarray, words: int) -> np.ndarray:
    """One number for each n-gram; ids count from 1."""
    return (grams - 1) @ (words ** np.arange(grams.shape[1])[::-1])


def _looked_up(keys: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The values of keys; 0 for those that are not known."""
    at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[at] == keys, values[at], 0.0)


if __name__ == "__main__":
    main()
