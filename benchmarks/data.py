"""What the scripts measure on: the bundled speech, and tables made from it."""

import pathlib
import sys

import numpy as np

from seqzoo.datasets import prompts, tables

SEQZOO = [sys.executable, "-m", "seqzoo.zoo.commands"]


def speech() -> np.ndarray:
    """All frames of the English training set, `(frames, 40)`."""
    table = f"ark:{prompts.path('en')}/train/feats.ark"
    return np.concatenate([feats for _, feats in tables.read(table)])


def utterances(frames: int, length: int, seed: int = 0) -> list[np.ndarray]:
    """Cuts from the speech: `frames` in all, each 0.7 to 1.3 times `length`."""
    rng = np.random.default_rng(seed)
    source = speech()
    found = []
    while frames > 0:
        rows = min(max(1, int(length * rng.uniform(0.7, 1.3))), frames)
        start = int(rng.integers(0, max(1, len(source) - rows)))
        found.append(np.resize(source[start : start + rows], (rows, source.shape[1])))
        frames -= rows
    return found


def write_training_set(folder: pathlib.Path, name: str, frames: int, pdfs: int) -> None:
    """`NAME.scp` of compressed speech, and `NAME.ali` with classes at random."""
    rng = np.random.default_rng(frames)
    matrices = utterances(frames, 400)
    feats = f"ark,scp:{folder}/{name}.ark,{folder}/{name}.scp"
    with (
        tables.Writer(feats, compression_method=2) as writer,
        tables.Writer(f"ark:{folder}/{name}.ali", "int32_vector") as labels,
    ):
        for i, matrix in enumerate(matrices):
            writer.write(f"{name}{i:05}", matrix)
            labels.write(f"{name}{i:05}", rng.integers(0, pdfs, len(matrix)))
