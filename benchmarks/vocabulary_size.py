"""What an update costs with 10,000, 100,000 and 793,471 words.

The whole `seqzoo train` command as in train_language.py, on texts of so many words. A
unit is a time step of a column.
"""

import pathlib
import tempfile
from functools import partial

import alternate
import language_data
import train_language

SIZES = (language_data.WORDS, 100_000, 10_000)


def main() -> None:
    options = alternate.options(__doc__)
    updates = 6 if options.quick else 40
    alternate.on_one_core()
    report = alternate.Report("vocabulary_size", options, unit="words")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        rivals = {}
        for words in SIZES:
            cache = language_data.write_cache(folder / f"{words}", words, 2_000_000)
            name = f"{words:,} words"
            rivals[name] = partial(train_language.ours, folder, cache, updates)
        works = alternate.in_turns(rivals, options.rounds)
    report.add("2x250, k 400, 1 thread", works, next(iter(rivals)))


if __name__ == "__main__":
    main()
