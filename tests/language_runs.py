"""Small runs of language models, for tests."""

import pathlib

import numpy as np

from seqzoo.zoo.commands import main

WORDS = "the a dog cat sees hears old young and runs sleeps today often never".split()
SMALL = (
    "--hiddensize={8,6}",
    "--k=5",
    "--batchsize=4",
    "--seqlen=7",
    "--startlr=0.5",
    "--saturate=10",
    "--minlr=0.1",
    "--cutoff=5",
    "--maxepoch=3",
)


def write_text(folder: pathlib.Path, seed: int = 1, words=WORDS, lines: int = 150):
    """A folder with train.txt, valid.txt and test.txt of random sentences."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(seed)
    shares = np.arange(len(words), 0, -1.0)
    for name, count in (("train", lines), ("valid", 12), ("test", 9)):
        text = "".join(
            " ".join(
                random.choice(words, random.integers(2, 9), p=shares / sum(shares))
            )
            + "\n"
            for _ in range(count)
        )
        (folder / f"{name}.txt").write_text(text)
    return folder


def train(*words, model: str = "language/lstm") -> int:
    """Runs `seqzoo train`; the exit code."""
    return main.main(["train", model, *map(str, words)])


def unless(options, others):
    """The options that are not among the others."""
    names = {str(one).partition("=")[0] for one in others}
    return [one for one in options if one.partition("=")[0] not in names]
