"""Reading text into the cache of a language model.

The text is made: words of random letters, drawn about as often as those of news. The
word of rank r comes in the ratio 1 / r up to 10,000, and r ** -1.8 from there, so that
of 829 million words the last of 800,000 would come 3 times, as in the billion-word
benchmark. There are 25 a line, in shards that lie as the benchmark's do. One and two
processes make the whole cache: words are read, counted, numbered and written. The disk
is that of the temporary folder. A unit is a word.
"""

import pathlib
import subprocess
import sys
import tempfile
from functools import partial

import alternate
import numpy as np

from seqzoo.datasets import gbw_build, gbw_sources

TYPES = 800_000
WORDS_A_LINE = 25


def main() -> None:
    options = alternate.options(__doc__)
    report = alternate.Report("cache_building", options)
    shards, words = (4, 1_000_000) if options.quick else (16, 2_500_000)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        size = write_corpus(folder / "text", shards, words)
        total = words * (shards + 2)
        works = alternate.in_turns(
            {
                f"seqzoo, {count} processes": partial(build, folder, count, total)
                for count in (1, 2)
            },
            options.rounds,
        )
        report.add(
            f"{shards} shards of {words / 1e6:g} million words, {TYPES} different",
            works,
            "seqzoo, 2 processes",
            bytes_a_unit=size / total,
        )


def write_corpus(folder: pathlib.Path, shards: int, words: int) -> int:
    """Writes shards, two of them held out; returns their bytes."""
    rng = np.random.default_rng(0)
    lengths = np.minimum(2 + rng.poisson(4, TYPES), 14)
    letters = rng.integers(ord("a"), ord("z") + 1, int(lengths.sum()), np.uint8)
    text, ends = letters.tobytes().decode(), np.cumsum(lengths).tolist()
    vocabulary = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    ranks = np.arange(1, TYPES + 1)
    chances = np.minimum(1 / ranks, 1e4**0.8 * ranks**-1.8)
    rises = np.cumsum(chances / chances.sum())
    size = 0
    names = [
        f"{gbw_sources.TRAINING}/news.en-{i:05}-of-{shards + 1:05}"
        for i in range(1, shards + 1)
    ]
    names += [f"{gbw_sources.HELDOUT}/news.en.heldout-{i:05}-of-00002" for i in (0, 1)]
    for name in names:
        ids = np.searchsorted(rises, rng.random(words)).clip(max=TYPES - 1).tolist()
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            for i in range(0, words, WORDS_A_LINE):
                line = map(vocabulary.__getitem__, ids[i : i + WORDS_A_LINE])
                file.write(" ".join(line) + "\n")
        size += path.stat().st_size
    return size


def build(folder: pathlib.Path, processes: int, words: int) -> alternate.Work:
    """Makes the cache in a process of its own, and removes it."""
    cache = folder / "cache"
    command = [sys.executable, __file__, str(folder / "text"), str(cache)]
    work = alternate.run([*command, str(processes)], words)
    subprocess.run(["rm", "-r", str(cache)], check=True)
    return work


if __name__ == "__main__":
    if len(sys.argv) == 4 and not sys.argv[1].startswith("-"):
        gbw_build.build(sys.argv[1], sys.argv[2], processes=int(sys.argv[3]))
    else:
        main()
