"""Runs of acoustic models on small data directories, and their scores by NumPy."""

import pathlib

import numpy as np

from seqzoo.datasets import tables
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo.acoustic import trained_model
from seqzoo.zoo.checkpoints import nnet_edit
from seqzoo.zoo.commands import main
from tests.small_runs import SMALL, history, make_set

DIM = 12


def make_sets(folder: pathlib.Path) -> pathlib.Path:
    """Sets `train` and `cv`."""
    for name, seed in (("train", 1), ("cv", 2)):
        make_set(folder / name, seed, dim=DIM)
    return folder


def run(model, folder, name, *flags) -> str:
    """Trains on the data directories; the run folder."""
    sets = [str(folder / part) for part in ("train", "cv")]
    path = str(folder / name)
    words = [*sets, "-", *sets, path, *SMALL, *flags]
    assert main.main(["train", f"acoustic/{model}", *words]) == 0
    return path


def losses(path) -> list[float]:
    """On the held-out set, by epoch."""
    return [float(row["cv_loss"]) for row in history(path)]


def forward(path, feats, *flags) -> dict[str, np.ndarray]:
    """What `seqzoo forward` gives."""
    scores = f"ark:{path}.scores.ark"
    assert main.main(["forward", path, feats, scores, *flags]) == 0
    return dict(tables.read(scores, "matrix"))


def numpy_scores(path, folder, block=None) -> dict[str, np.ndarray]:
    """By the network in NumPy, with the run's transform and deltas."""
    model = trained_model.read(path, block=block)
    net = nnet_edit.concat(model.feature_transform, model.nnet)
    feats = FeaturePipeline(f"scp:{folder}/cv/feats.scp", delta_opts=model.delta_opts)
    return {utt: net.propagate(matrix) for utt, matrix in feats}


def assert_scores(found, expected) -> None:
    """The same utterances and numbers."""
    assert found.keys() == expected.keys()
    for utt, values in expected.items():
        np.testing.assert_allclose(found[utt], values, rtol=1e-3, atol=1e-5)
