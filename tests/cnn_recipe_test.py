"""`seqzoo train acoustic/cnn`, with and without pitch."""

import json
import pathlib

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import cnn_recipe
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.commands import main
from tests.model_runs import (
    assert_scores,
    forward,
    losses,
    make_sets,
    numpy_scores,
    run,
)
from tests.small_runs import CLASSES


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    return make_sets(tmp_path_factory.mktemp("runs"))


CNN = "--patch-dim1=4 --patch-dim2=2 --num-filters1=4 --num-filters2=5"


@pytest.mark.parametrize("pitch", [False, True])
def test_a_cnn_takes_the_order_of_its_deltas_from_the_features(folder, pitch):
    # Of 12 numbers a frame, 3 are pitch, or none.
    options = f"{CNN} --pitch-dim=3 --num-pitch-neurons=4" if pitch else CNN
    path = run(
        "cnn",
        folder,
        f"cnn_{pitch}",
        "--delta_opts=--delta-order=1",
        f"--cnn_proto_opts={options}",
        "--max_iters=2",
        "--learn_rate=0.02",
    )
    found = losses(path)
    assert found[-1] < found[0] < np.log(CLASSES) + 0.5
    config = json.loads(pathlib.Path(path, "config.json").read_text())
    assert config["model"] == "acoustic/cnn" and config["config"]["delta_order"] == 1
    kinds = [c.marker for c in nnet1.read(f"{path}/final.nnet").components]
    first = "<Copy>" if pitch else "<ConvolutionalComponent>"
    assert kinds[0] == first and kinds[-1] == "<Softmax>"
    scores = forward(path, f"scp:{folder}/cv/feats.scp")
    assert_scores(scores, numpy_scores(path, folder))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--cnn_proto_opts=--pool-size=4 --pool-step=4", 0.008),
        ("--cnn_proto_opts=--activation-type=<Tanh>", 1e-5),
        ("--proto_opts=--activation-type=<Tanh>", 1e-5),
    ],
)
def test_the_learning_rate_of_convolutions_that_do_not_fit_40_energies(
    tmp_path, monkeypatch, options, expected
):
    """23 energies are as well; which there are is known once features are read."""
    told = []

    def recipe(path, command, overrides, recipe, options, schedule, model):
        told.append(schedule.learn_rate)
        raise InputError("enough")

    monkeypatch.setattr(cnn_recipe, "train", recipe)
    words = ["tr", "cv", "lang", "ali", "ali_cv", str(tmp_path / "run")]
    assert main.main(["train", "acoustic/cnn", options, *words]) == 1
    assert told == [expected]


def test_a_cnn_takes_the_order_from_beside_a_feature_transform(folder):
    flags = (f"--cnn_proto_opts={CNN}", "--max_iters=1", "--learn_rate=0.02")
    first = run("cnn", folder, "first", "--delta_opts=--delta-order=1", *flags)
    given = f"--feature_transform={first}/final.feature_transform"
    assert losses(run("cnn", folder, "second", given, *flags)) == losses(first)
