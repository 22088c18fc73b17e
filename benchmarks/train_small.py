"""Training frames per second of 440-2x512-117 on one thread, beside PyTorch.

A net this small shows what everything but the matrix products costs. Ours is the whole
`seqzoo train` command on the bundled English prompts; its start and end are taken off
as in train_dnn.py. The held-out set is scored in every epoch, as always in training, so
its frames are work done but not counted. nnet1's rate is that of training alone.
"""

import csv
import pathlib
import tempfile

import alternate
import data

from seqzoo.datasets import prompts

KALDI = 22_000  # Training frames per second on one thread.
SHAPE = "440-2x512-117"


def main() -> None:
    options = alternate.options(__doc__)
    epochs = 6 if options.quick else 16
    report = alternate.Report("train_small", options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        works: dict[str, list[alternate.Work]] = {
            "seqzoo train, whole epochs": [],
            "seqzoo train, training alone": [],
            "PyTorch": [],
        }
        for _ in range(options.rounds):
            whole, alone = ours(folder, epochs)
            works["seqzoo train, whole epochs"].append(whole)
            works["seqzoo train, training alone"].append(alone)
            frames = int(whole.units) // (epochs - 1)
            works["PyTorch"].append(
                alternate.run_script("torch_dnn.py", "train", SHAPE, 1, frames)
            )
        for name in list(works)[:2]:
            pair = {key: works[key] for key in (name, "PyTorch")}
            recorded = {"Kaldi nnet1, recorded": KALDI}
            report.add(f"{SHAPE}, float32, 1 thread", pair, name, recorded)


def ours(folder: pathlib.Path, epochs: int) -> tuple[alternate.Work, alternate.Work]:
    """All epochs but the first; and their training alone, by the command's own clock.

    For the latter the seconds of the processor are those of the clock: one thread.
    """
    corpus = prompts.path("en")
    work = []
    for count in (1, epochs):
        with tempfile.TemporaryDirectory(dir=folder) as run:
            command = [
                *[*data.SEQZOO, "train", "acoustic/dnn"],
                *[f"{corpus}/train", f"{corpus}/cv", "none"],
                *[f"{corpus}/train", f"{corpus}/cv", f"{run}/run"],
                *["--hid_layers=2", "--hid_dim=512", "--cmvn_opts=--norm-means=true"],
                *[
                    "--threads=1",
                ],
                *[f"--{name}_iters={count}" for name in ("max", "min", "keep_lr")],
            ]
            done = alternate.run(command)
            with open(f"{run}/run/history.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        frames = sum(float(row["frames"]) for row in rows)
        work.append(alternate.Work(frames, done.wall, done.cpu))
    later = rows[1:]
    seconds = sum(float(row["seconds"]) for row in later)
    alone = sum(float(row["frames"]) for row in later)
    return work[1] - work[0], alternate.Work(alone, seconds, seconds)


if __name__ == "__main__":
    main()
