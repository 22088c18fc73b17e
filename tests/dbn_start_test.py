"""`seqzoo train acoustic/dnn --dbn`: a network that starts with a stack of RBMs."""

import os
import pathlib

import numpy as np
import pytest

from seqzoo.zoo.acoustic import dbn_start
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe, SetSource
from seqzoo.zoo.checkpoints import components, nnet1
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from tests import small_runs

# 6 dimensions in 3 frames.
INPUTS, HIDDEN = 18, 5


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """The directories of a small problem, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    small_runs.make_set(tmp_path / "tr", 1)
    small_runs.make_set(tmp_path / "cv", 2, utterances=5)
    return ("tr", "cv", "lang", "tr", "cv")


def _stack(path, inputs=INPUTS):
    rng = np.random.default_rng(3)
    nnet = Nnet([])
    for dim in (inputs, HIDDEN):
        linearity = rng.normal(size=(HIDDEN, dim)).astype(np.float32)
        bias = rng.normal(size=HIDDEN).astype(np.float32)
        nnet.components += [
            components.AffineTransform(dim, HIDDEN, linearity, bias),
            components.Sigmoid(HIDDEN, HIDDEN),
        ]
    pathlib.Path(path).parent.mkdir(exist_ok=True)
    nnet1.write(str(path), nnet)
    return nnet.components


def _train(*words):
    given = ("--splice=1", "--minibatch_size=32", "--max_iters=2", *words)
    return small_runs.train(*given)


def test_only_the_output_layer_is_new_and_told_by_the_seed(sets):
    stack = _stack("dbn/2.dbn")
    outputs = []
    for seed in (1, 1, 2):
        run = f"run{len(outputs)}"
        assert _train("--dbn=dbn/2.dbn", f"--seed={seed}", *sets, run) == 0
        init = nnet1.read(f"{run}/nnet_dbn_dnn.init").components
        assert len(init) == 6
        for ours, theirs in zip(init[:4], stack, strict=True):
            assert ours.marker == theirs.marker
            if hasattr(theirs, "linearity"):
                np.testing.assert_array_equal(ours.linearity, theirs.linearity)
                np.testing.assert_array_equal(ours.bias, theirs.bias)
        outputs.append(init[4].linearity)
        assert all(n.startswith("nnet_dbn_dnn_iter") for n in small_runs.trace(run))
    assert np.array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0], outputs[2])


def test_the_stack_learns_on_with_the_output_layer_and_resumes(sets):
    stack = _stack("dbn/2.dbn")
    assert _train("--dbn=dbn/2.dbn", *sets, "run") == 0
    final = nnet1.read("run/final.nnet").components
    assert not np.array_equal(final[0].linearity, stack[0].linearity)
    before = small_runs.trace("run")
    assert _train("--dbn=dbn/2.dbn", *sets, "run") == 0
    assert small_runs.trace("run") == before


def test_hidden_layers_may_stand_between(sets):
    _stack("dbn/2.dbn")
    given = ("--dbn=dbn/2.dbn", "--hid_layers=1", "--hid_dim=7", *sets, "run")
    assert _train(*given) == 0
    dims = [c.output_dim for c in nnet1.read("run/final.nnet").components]
    assert dims == [5, 5, 5, 5, 7, 7, 3, 3]


def test_the_folder_of_pre_training_brings_its_feature_transform(sets):
    _stack("dbn/final.dbn")
    width = INPUTS
    transform = Nnet(
        [
            components.Splice(6, width, [-1, 0, 1]),
            components.AddShift(width, width, np.full(width, 0.25, np.float32), 0.0),
        ]
    )
    nnet1.write("dbn/final.feature_transform", transform)
    assert _train("--dbn=dbn", *sets, "run") == 0
    used = nnet1.read("run/final.feature_transform").components
    assert [c.marker for c in used] == ["<Splice>", "<AddShift>"]
    np.testing.assert_array_equal(used[1].data, transform.components[1].data)


def test_settings_of_the_features_are_taken_from_beside_the_stack(sets):
    _stack("dbn/2.dbn", inputs=3 * INPUTS)
    pathlib.Path("dbn/delta_opts").write_text("--delta-order=2\n")
    recipe = DnnRecipe(train="tr", held_out="cv", dbn="dbn/2.dbn")
    assert dbn_start.with_settings(recipe).delta_opts == "--delta-order=2"
    given = DnnRecipe(train="tr", held_out="cv", dbn="dbn/2.dbn", delta_opts="")
    assert dbn_start.with_settings(given) == given
    table = SetSource(feats="scp:tr/feats.scp")
    tables = DnnRecipe(train=table, held_out=table, dbn="dbn/2.dbn")
    assert dbn_start.with_settings(tables) == tables
    assert _train("--dbn=dbn/2.dbn", *sets, "run") == 0
    assert pathlib.Path("run/delta_opts").read_text() == "--delta-order=2\n"


@pytest.mark.parametrize(
    "dbn, told",
    [
        ("none", "none: no such file; give a stack of RBMs"),
        ("tr", "tr: a folder without final.dbn"),
        ("dbn/wide.dbn", "takes 20 numbers a frame, but the feature transform puts"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_left(sets, capsys, dbn, told):
    _stack("dbn/wide.dbn", inputs=20)
    assert _train(f"--dbn={dbn}", *sets, "run") == 1
    assert told in capsys.readouterr().err
    assert not os.path.exists("run")
