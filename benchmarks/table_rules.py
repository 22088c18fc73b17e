"""What the rules of word tables cost: descent, momentum and Adagrad by rows, Torch's.

The whole `seqzoo train` command as in train_language.py, 793,471 words. `dense` has
momentum on the LSTMs, which `plain` has not. A unit is a time step of a column.
"""

import pathlib
import tempfile
from functools import partial

import alternate
import language_data
import train_language

RULES = {
    "dense": (),
    "plain": ("--momentum=-1",),
    "momentum": ("--tables=momentum",),
    "adagrad": ("--tables=adagrad",),
    "dense_momentum": ("--tables=dense_momentum",),
}


def main() -> None:
    options = alternate.options(__doc__)
    updates = 4 if options.quick else 30
    alternate.on_one_core()
    report = alternate.Report("table_rules", options, unit="words")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        words = language_data.WORDS
        cache = language_data.write_cache(folder / "cache", words, 2_000_000)
        works = alternate.in_turns(
            {
                name: partial(train_language.ours, folder, cache, updates, *flags)
                for name, flags in RULES.items()
            },
            options.rounds,
        )
    report.add("2x250, V 793471, k 400, 1 thread", works, "dense")


if __name__ == "__main__":
    main()
