"""Training words per second of the billion-word model, 2x250, beside PyTorch.

793,471 words, NCE with 400 noise words, 128 columns of 50 steps, cutoff 10, momentum on
the LSTMs, on one thread. Ours is the whole `seqzoo train` command; its start and end,
where 1.6 GB are written, are taken off by the difference of an epoch of few updates and
one of more; seconds by the clock are those of its history.csv. PyTorch's is a loop over
the same cache that is as fast as we could make it (torch_language.py): with the state
emptied between sentences, as in ours and Torch's, and without, by `nn.LSTM`. A unit is
a time step of a column, as Torch counts words; one of 27 is a separator. That both
learn the same is shown first (same_language.py). All are kept on one core.
"""

import csv
import dataclasses
import pathlib
import sys
import tempfile
from functools import partial

import alternate
import data
import language_data

UPDATES, QUICK_UPDATES = 100, 24
COLUMNS, STEPS = 128, 50


def main() -> None:
    options = alternate.options(__doc__)
    updates = QUICK_UPDATES if options.quick else UPDATES
    alternate.on_one_core()
    here = pathlib.Path(__file__).parent
    alternate.run([sys.executable, str(here / "same_language.py")])
    report = alternate.Report("train_language", options, unit="words")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        cache = language_data.write_cache(
            folder / "cache", language_data.WORDS, 2_000_000
        )
        works = alternate.in_turns(
            {
                "seqzoo": partial(ours, folder, cache, updates),
                "seqzoo, bfloat16": partial(ours, folder, cache, updates, "--bfloat16"),
                "PyTorch, resets": partial(peer, cache, updates, "--reset"),
                "PyTorch, nn.LSTM": partial(peer, cache, updates),
                "PyTorch, nn.LSTM, bfloat16": partial(
                    peer, cache, updates, "--bfloat16"
                ),
                "PyTorch, resets, bfloat16": partial(
                    peer, cache, updates, "--reset", "--bfloat16"
                ),
            },
            options.rounds,
        )
    for name, others in (
        ("seqzoo", ("PyTorch, resets", "PyTorch, nn.LSTM")),
        (
            "seqzoo, bfloat16",
            (
                "PyTorch, resets, bfloat16",
                "PyTorch, nn.LSTM",
                "PyTorch, nn.LSTM, bfloat16",
            ),
        ),
    ):
        shown = {one: works[one] for one in (name, *others)}
        report.add("2x250, V 793471, k 400, 1 thread", shown, name)


def ours(folder: pathlib.Path, cache: str, updates: int, *flags: str) -> alternate.Work:
    """The command with so many updates more than a few."""
    few = 4
    return epoch(folder, cache, few + updates, *flags) - epoch(
        folder, cache, few, *flags
    )


def epoch(
    folder: pathlib.Path, cache: str, updates: int, *flags: str
) -> alternate.Work:
    """The whole command, of one epoch with so many updates."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        command = [
            *[*data.SEQZOO, "train", "language/lstm", cache, f"{scratch}/run"],
            *["--hiddensize=250,250", "--k=400", "--uniform=0.1", "--startlr=0.05"],
            *["--cutoff=10", "--momentum=0.9", "--maxepoch=1", "--threads=1"],
            *[f"--batchsize={COLUMNS}", f"--seqlen={STEPS}"],
            *[f"--trainsize={updates * STEPS}", f"--validsize={STEPS}"],
            *flags,
        ]
        work = alternate.run(command, updates * STEPS * COLUMNS)
        with open(f"{scratch}/run/history.csv", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        return dataclasses.replace(work, wall=float(row["seconds"]))


def peer(cache: str, updates: int, *flags: str) -> alternate.Work:
    """PyTorch's loop."""
    words = ("torch_language.py", cache, *flags, "--updates", updates)
    return alternate.run_script(*words)


if __name__ == "__main__":
    main()
