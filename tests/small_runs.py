"""Small runs of `seqzoo train acoustic/dnn`, for the tests of training."""

import csv
import os
import pathlib

import numpy as np

from seqzoo.datasets import tables
from seqzoo.zoo.commands import main

CLASSES = 3


def make_set(folder: pathlib.Path, seed: int, utterances: int = 12, dim: int = 6):
    """Features whose largest of the first three dimensions is the class."""
    folder.mkdir()
    rng = np.random.default_rng(seed)
    with (
        tables.Writer(f"ark,scp:{folder}/feats.ark,{folder}/feats.scp") as feats,
        tables.Writer(
            f"ark,scp:{folder}/ali.ark,{folder}/ali.scp", "int32_vector"
        ) as ali,
    ):
        for number in range(utterances):
            frames = int(rng.integers(30, 60))
            labels = np.repeat(rng.integers(0, CLASSES, frames // 5 + 1), 5)[:frames]
            matrix = rng.normal(size=(frames, dim)).astype(np.float32)
            matrix[np.arange(frames), labels] += 3
            feats.write(f"u{number:02d}", matrix)
            ali.write(f"u{number:02d}", labels.astype(np.int32))


SMALL = (
    "--hid_layers=1",
    "--hid_dim=8",
    "--splice=1",
    "--minibatch_size=32",
    "--randomizer_size=100",
    "--max_iters=4",
    "--learn_rate=0.05",
)


def train(*words: object) -> int:
    """Runs `seqzoo train acoustic/dnn`; its exit code."""
    return main.main(["train", "acoustic/dnn", *map(str, words)])


def history(run) -> list[dict[str, str]]:
    """The lines of `history.csv`."""
    with open(os.path.join(run, "history.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def trace(run) -> list[str]:
    """The names of the networks, which tell rates and losses."""
    return [row["name"] for row in history(run)]
