"""`seqzoo train acoustic/autoencoder`, on its own features and on others."""

import pathlib

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo.checkpoints import nnet1
from tests.model_runs import DIM, forward, losses, make_sets, run

SLOW = ("--learn_rate=0.0002",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    return make_sets(tmp_path_factory.mktemp("runs"))


def test_an_autoencoder_gives_its_features_back(folder):
    path = run("autoencoder", folder, "auto", "--hid_dim=30", *SLOW)
    found = losses(path)
    assert found == sorted(found, reverse=True)
    scores = forward(path, f"scp:{folder}/cv/feats.scp")
    feats = dict(FeaturePipeline(f"scp:{folder}/cv/feats.scp"))
    errors = [0.5 * np.sum((scores[u] - feats[u]) ** 2, axis=1) for u in feats]
    assert np.mean(np.concatenate(errors)) == pytest.approx(found[-1], rel=1e-4)
    # It has learnt more than their mean.
    spread = 0.5 * np.var(np.concatenate(list(feats.values())), axis=0).sum()
    assert found[-1] < spread


def test_an_autoencoder_of_features_with_deltas_gives_those_without(folder):
    once = (*SLOW, "--max_iters=1")
    path = run("autoencoder", folder, "auto_deltas", "--delta_opts=", *once)
    transform = f"{path}/final.feature_transform"
    # Beside a feature transform stands what the features in front of it are.
    given = f"--feature_transform={transform}"
    for made in (path, run("autoencoder", folder, "auto_again", given, *once)):
        assert nnet1.read(f"{made}/final.nnet").output_dim == DIM
        assert nnet1.read(f"{made}/final.feature_transform").input_dim == 3 * DIM


def test_an_autoencoder_with_targets_of_other_features(folder):
    with tables.Writer(f"ark:{folder}/clean.ark") as writer:
        for name in ("train", "cv"):
            for utt, matrix in FeaturePipeline(f"scp:{folder}/{name}/feats.scp"):
                writer.write(f"{name}_{utt}", 2 * matrix[:, :3])
    for name in ("train", "cv"):
        with tables.Writer(f"ark:{folder}/clean_{name}.ark") as writer:
            for utt, matrix in tables.read(f"ark:{folder}/clean.ark", "matrix"):
                if utt.startswith(f"{name}_"):
                    writer.write(utt.removeprefix(f"{name}_"), matrix)
    path = run(
        "autoencoder",
        folder,
        "auto_clean",
        f"--labels=ark:{folder}/clean_train.ark",
        f"--cv_labels=ark:{folder}/clean_cv.ark",
        "--num_tgt=3",
        *SLOW,
    )
    assert nnet1.read(f"{path}/final.nnet").output_dim == 3
    assert losses(path)[-1] < losses(path)[0]
