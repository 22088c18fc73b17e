"""What an update costs with 10,000, 100,000 and 793,471 words.

The training step of 2x250 (language_step.py) on texts of so many words, each smaller
vocabulary beside the largest. A unit is a time step of a column.
"""

import pathlib
import tempfile

import alternate
import language_data
import rivals
from table_rules import SCRIPT

SMALLER = (100_000, 10_000)


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 8)
    alternate.on_one_core()
    report = alternate.Report("vocabulary_size", options, unit="words")
    with tempfile.TemporaryDirectory() as scratch:
        caches = {
            words: language_data.write_cache(
                pathlib.Path(scratch) / f"{words}", words, 2_000_000
            )
            for words in (language_data.WORDS, *SMALLER)
        }
        for words in SMALLER:
            pair = {
                f"{count:,} words": rivals.Rival(SCRIPT, caches[count], "sgd", 0.9)
                for count in (language_data.WORDS, words)
            }
            rivals.compare(report, "2x250, k 400, 1 thread", pair, rounds)


if __name__ == "__main__":
    main()
