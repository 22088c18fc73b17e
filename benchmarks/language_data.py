"""Word ids that lie as those of the billion-word benchmark, in a cache.

The word of rank r comes in the ratio 1 / r up to 10,000, and r ** -1.8 from there, so
that of 829 million words the last of 800,000 would come 3 times. Ids are in no order:
rows that come often do not lie side by side. Sentences have 27 ids in the mean, `<S>`
and `</S>` among them.
"""

import pathlib

import numpy as np

from seqzoo.datasets import gbw_cache
from seqzoo.datasets.gbw_vocabulary import SPECIAL, Vocabulary
from seqzoo.datasets.sentences import Sentences

WORDS = 793_471
LENGTH = 27


def counts(words: int, total: float = 829e6) -> np.ndarray:
    """How often each word came, `(words,)`; the last three are the special ones."""
    ranks = np.arange(1, words - 2)
    shares = np.minimum(1 / ranks, 1e4**0.8 * ranks**-1.8)
    shares *= total * (1 - 2 / LENGTH) / shares.sum()
    found = np.random.default_rng(1).permutation(np.maximum(shares, 3))
    marks = total / LENGTH
    return np.append(found, [total / 100, marks, marks]).astype(np.int64)


def write_cache(folder: pathlib.Path, words: int, size: int) -> str:
    """Makes a cache with so many training ids; returns its path."""
    seen = counts(words)
    names = [f"word{i}" for i in range(words - 3)]
    cache = gbw_cache.write(
        str(folder),
        Vocabulary([*names, *SPECIAL], seen),
        {
            "train": [sentences(seen, size, 2)],
            "valid": [sentences(seen, max(size // 10, 20_000), 3)],
        },
    )
    return cache.folder


def sentences(seen: np.ndarray, size: int, seed: int) -> Sentences:
    """About `size` ids; each sentence is `<S> word ... </S>`."""
    random = np.random.default_rng(seed)
    # The spread of the news: a half of the mean.
    lengths = 2 + random.negative_binomial(4, 4 / (LENGTH + 2), size // LENGTH)
    ends = np.cumsum(lengths)
    rises = np.cumsum(seen[:-2] / seen[:-2].sum())
    ids = np.searchsorted(rises, random.random(ends[-1])).clip(max=len(seen) - 3) + 1
    ids[ends - 1] = len(seen)
    ids[ends - lengths] = len(seen) - 1
    return Sentences.cut(ids.astype(np.int32), ends - lengths)
