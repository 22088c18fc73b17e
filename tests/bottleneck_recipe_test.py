"""`seqzoo train acoustic/bottleneck`: both networks, and the features they give."""

import os
import pathlib

import numpy as np
import pytest

from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo.acoustic import trained_model
from seqzoo.zoo.checkpoints import nnet1, nnet_edit
from seqzoo.zoo.commands import main
from tests.model_runs import DIM, assert_scores, forward, losses, make_sets, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    return make_sets(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def bottleneck(folder) -> str:
    # Of the two stages, the narrow layers are 4 and 2 wide.
    return run(
        "bottleneck",
        folder,
        "bn",
        "--set=first_bn_dim=4",
        "--set=bn_dim=2",
        "--traps_dct_basis=2",
        "--max_iters=2",
    )


def test_the_second_network_stands_on_the_first(folder, bottleneck):
    transform = nnet1.read(f"{bottleneck}/final.feature_transform")
    first = f"{bottleneck}/part1"
    front = nnet1.read(f"{first}/final.feature_transform")
    trained = nnet1.read(f"{first}/final.nnet")
    assert front.components[1].output_dim == 2 * DIM
    narrow = nnet_edit.remove_last_components(trained, 4)
    assert narrow.components[-1].marker == "<LinearTransform>"
    assert (narrow.output_dim, transform.output_dim) == (4, 13 * 4)
    for _, feats in FeaturePipeline(f"scp:{folder}/cv/feats.scp"):
        expected = nnet_edit.concat(front, narrow).propagate(feats)
        found = transform.propagate(feats)
        # The frame itself is the seventh of 13.
        np.testing.assert_allclose(found[:, 24:28], expected, rtol=1e-5, atol=1e-6)
        break
    assert len(losses(first)) == len(losses(bottleneck)) == 2


def test_bottleneck_features(folder, bottleneck):
    source = f"scp:{folder}/cv/feats.scp"
    found = forward(bottleneck, source, "--remove_last_components=4")
    model = trained_model.read(bottleneck)
    net = nnet_edit.concat(
        model.feature_transform, nnet_edit.remove_last_components(model.nnet, 4)
    )
    assert net.output_dim == 2
    assert_scores(found, {u: net.propagate(x) for u, x in FeaturePipeline(source)})


def test_a_bottleneck_run_that_ended_is_not_run_again(folder, bottleneck):
    before = pathlib.Path(bottleneck, "state.json").read_bytes()
    at = os.stat(f"{bottleneck}/part1/final.feature_transform.part1").st_mtime_ns
    words = pathlib.Path(bottleneck, "command.txt").read_text().split()[1:]
    assert main.main(words) == 0
    assert pathlib.Path(bottleneck, "state.json").read_bytes() == before
    made = os.stat(f"{bottleneck}/part1/final.feature_transform.part1").st_mtime_ns
    assert made == at
