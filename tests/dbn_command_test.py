"""`seqzoo train acoustic/dbn`: the stack, passes, resumed runs, errors."""

import json
import os
import pathlib

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dbn_recipe, dbn_training, feature_set
from seqzoo.zoo.acoustic.dbn_config import DbnConfig
from seqzoo.zoo.acoustic.dbn_options import DbnRecipe, SetSource
from seqzoo.zoo.checkpoints import nnet1, nnet_edit
from seqzoo.zoo.commands import main
from seqzoo.zoo.training.rbm_ramp import RbmRamp
from seqzoo.zoo.training.rbm_trainer import RbmTrainer, RbmTrainOptions
from tests import small_runs

SMALL = (
    "--nn_depth=3",
    "--hid_dim=8",
    "--splice=1",
    "--minibatch_size=20",
    "--randomizer_size=100",
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A data directory, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    small_runs.make_set(tmp_path / "tr", 1)
    return "tr"


def pretrain(*words):
    return main.main(["train", "acoustic/dbn", *map(str, words)])


def _rows(run):
    with open(os.path.join(run, "history.csv"), encoding="utf-8") as file:
        head, *lines = (line.strip().split(",") for line in file)
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_a_stack_is_gaussian_and_then_binary_and_goes_forward(data, capsys):
    assert pretrain(*SMALL, data, "run") == 0
    rows = _rows("run")
    assert [(row["visible_type"], row["hidden_type"]) for row in rows] == [
        ("gauss", "bern"),
        ("bern", "bern"),
        ("bern", "bern"),
    ]
    assert [row["passes"] for row in rows] == ["2", "1", "1"]
    assert [float(row["learn_rate"]) for row in rows] == [0.01, 0.4, 0.4]
    for name in ("curves.png", "final.keras", "config.json", "final.dbn", "final.nnet"):
        assert os.path.exists(os.path.join("run", name)), name
    assert not os.path.exists("run/copy")
    assert not list(pathlib.Path("run").glob("*.npz"))
    capsys.readouterr()
    assert main.main(["info", "run/3.dbn"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("num-components 6\ninput-dim 18\noutput-dim 8\n")
    assert main.main(["forward", "run", "scp:tr/feats.scp", "ark:out.ark"]) == 0
    found = dict(tables.read("ark:out.ark", "matrix"))
    whole = nnet_edit.concat(
        nnet1.read("run/final.feature_transform"), nnet1.read("run/3.dbn")
    )
    for key, feats in tables.read("scp:tr/feats.scp", "matrix"):
        np.testing.assert_allclose(found[key], whole.propagate(feats), rtol=1e-4)


def test_no_labels_are_needed_nor_taken(data, capsys):
    assert pretrain(*SMALL, "--labels=ark:x", data, "run") == 1
    assert "--labels is not for acoustic/dbn" in capsys.readouterr().err
    assert not os.path.exists("run")


def test_tables_train_like_a_directory_that_is_not_compressed(data):
    small = (*SMALL, "--nn_depth=1")
    assert pretrain(*small, "--copy_feats_compress=false", data, "directory") == 0
    assert pretrain(*small, "--feats=scp:tr/feats.scp", "--run_dir=table") == 0
    read = ("--copy_feats=false", data, "read")
    assert pretrain(*small, *read) == 0
    nets = [
        pathlib.Path(run, "1.rbm").read_bytes()
        for run in ("directory", "table", "read")
    ]
    assert nets[0] == nets[1] == nets[2]


def test_input_vis_type_bern_has_one_pass_at_the_higher_rate(data):
    options = ("--nn_depth=1", "--input_vis_type=bern", "--feats_std=0.1")
    assert pretrain(*SMALL, *options, data, "run") == 0
    (row,) = _rows("run")
    assert (row["visible_type"], row["passes"]) == ("bern", "1")
    assert float(row["learn_rate"]) == 0.4


@pytest.mark.parametrize(
    "hours, passes", [(None, [2, 1]), (100, [2, 1]), (10, [20, 10]), (1000, [2, 1])]
)
def test_smaller_sets_get_more_passes_in_proportion(hours, passes):
    recipe = DbnRecipe(train="x", hours=hours)
    assert [recipe.passes(kind) for kind in ("gauss", "bern")] == passes


def test_hours_on_the_command_line(data):
    assert pretrain(*SMALL, "--nn_depth=2", "--hours=50", data, "run") == 0
    assert [row["passes"] for row in _rows("run")] == ["4", "2"]
    log = pathlib.Path("run/log/rbm.1.log").read_text()
    assert [f"Iteration {n}/4" in log for n in (1, 2, 3, 4, 5)] == [True] * 4 + [False]


def _run(path, save_seconds=60.0):
    options = RbmTrainOptions(
        ramp=RbmRamp(momentum_steps=4, momentum_step_period=300), minibatch_size=20
    )
    recipe = DbnRecipe(
        train=SetSource(feats="scp:tr/feats.scp"), randomizer_size=100, rbm_iter=2
    )
    overrides = ["nn_depth=2", "hid_dim=8", "offsets=-1:1"]
    return dbn_recipe.train(
        path, ["seqzoo"], overrides, recipe, options, save_seconds=save_seconds
    )


class _Killed(Exception):
    pass


@pytest.mark.parametrize("filling, layer", [(7, 1), (26, 2)])
def test_a_killed_run_goes_on_within_an_rbm(data, monkeypatch, filling, layer):
    _run("whole")
    train, calls = RbmTrainer.train, []

    def killed(self, *args):
        if len(calls) == filling:
            raise _Killed
        calls.append(self)
        return train(self, *args)

    monkeypatch.setattr(RbmTrainer, "train", killed)
    with pytest.raises(_Killed):
        _run("broken", save_seconds=0)
    assert os.path.exists(f"broken/{layer}.rbm.checkpoint.npz")
    monkeypatch.setattr(RbmTrainer, "train", train)
    starts = []
    monkeypatch.setattr(
        dbn_training.DbnTraining,
        "_start",
        lambda self, number, stack, start=dbn_training.DbnTraining._start: (
            starts.append(number),
            start(self, number, stack),
        ),
    )
    _run("broken")
    assert starts == list(range(layer + 1, 3))
    for name in ("1.rbm", "2.rbm", "final.dbn"):
        ours = pathlib.Path("broken", name).read_bytes()
        assert ours == pathlib.Path("whole", name).read_bytes()
    for number in (1, 2):
        logs = [
            pathlib.Path(run, f"log/rbm.{number}.log").read_text().splitlines()
            for run in ("broken", "whole")
        ]
        told = [
            [line for line in log if line.startswith(("Iter", "Sett", "AvgL"))]
            for log in logs
        ]
        assert told[0] == told[1]
        moved = [line for line in told[0] if line.startswith("Setting momentum")]
        assert len(moved) == int(_rows("whole")[number - 1]["frames"]) // 300 + 1
    assert not list(pathlib.Path("broken").glob("*.npz"))


def test_a_finished_run_is_left_as_it_is(data):
    assert pretrain(*SMALL, "--nn_depth=1", data, "run") == 0
    before = os.stat("run/1.rbm").st_mtime_ns
    assert pretrain(*SMALL, "--nn_depth=1", data, "run") == 0
    assert os.stat("run/1.rbm").st_mtime_ns == before
    assert json.loads(pathlib.Path("run/state.json").read_text())["done"]


def test_another_run_in_the_same_folder(data, capsys):
    assert pretrain(*SMALL, "--nn_depth=1", data, "run") == 0
    assert pretrain(*SMALL, "--nn_depth=2", data, "run") == 1
    assert "config.nn_depth 1, not 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, told",
    [
        (("none", "run"), "none"),
        (("tr",), "give acoustic/dbn, or acoustic/dbn DATA EXP"),
        (("--feats=scp:tr/feats.scp",), "no run folder"),
        (("--run_dir=run",), "no data"),
        (("--hours=0", "tr", "run"), "hours is 0"),
        (("--rbm_iter=0", "tr", "run"), "rbm_iter is 0"),
        (("--nn_depth=0", "tr", "run"), "nn_depth is 0"),
        (("--momentum_max=1", "tr", "run"), "momentum_max is 1.0"),
        (("--feature_transform=none", "tr", "run"), "none: no such file"),
        (("--feat_type=transf", "tr", "run"), "give --transf=FILE"),
        (("--max_frames=3", "tr", "run"), "no features that can be used"),
        (("--minibatch_size=100000", "tr", "run"), "do not fill a minibatch"),
        (("--set=feature_dim=7", "tr", "run"), "feature_dim=7"),
        (("--rbm_extra_opts=word", "tr", "run"), "'word' is no option"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_left(data, capsys, words, told):
    assert pretrain(*words) in (1, 2)
    assert told in capsys.readouterr().err
    assert not os.path.exists("run")


def test_its_flags_are_not_for_other_models(data, capsys):
    given = ("--rbm_iter=2", "tr", "tr", "lang", "tr", "tr", "run")
    assert small_runs.train(*given) == 1
    assert "--rbm_iter is for acoustic/dbn" in capsys.readouterr().err


def test_longer_utterances_are_left_out_and_counted(data, caplog):
    assert pretrain(*SMALL, "--nn_depth=1", "--max_frames=45", data, "run") == 0
    lengths = [len(m) for _, m in tables.read("scp:tr/feats.scp", "matrix")]
    long = sum(length > 45 for length in lengths)
    assert 0 < long < len(lengths)
    log = pathlib.Path("run/log/rbm.1.log").read_text()
    assert f"{2 * (12 - long)} files, skipped {2 * long} files" in log


def test_no_features(data, capsys):
    pathlib.Path("none.scp").touch()
    assert pretrain(*SMALL, "--feats=scp:none.scp", "--run_dir=run") == 1
    assert "scp:none.scp: no features that can be used." in capsys.readouterr().err
    assert pretrain(*SMALL, "--max_frames=3", data, "run") == 1
    assert "scp:tr/feats.scp: no features that can be used." in capsys.readouterr().err
    assert not pathlib.Path("run").exists()


def test_features_that_are_not_finite(data, capsys):
    with tables.Writer("ark,scp:bad.ark,bad.scp") as writer:
        matrix = np.zeros((40, 6), np.float32)
        matrix[7, 2] = np.nan
        writer.write("u", matrix)
    assert pretrain(*SMALL, "--feats=scp:bad.scp", "--run_dir=run") == 1
    assert "utterance u, frame 7, dimension 2" in capsys.readouterr().err


def test_a_set_too_large_to_keep_is_read_again(data, monkeypatch):
    small = (*SMALL, "--nn_depth=2")
    assert pretrain(*small, data, "kept") == 0
    monkeypatch.setattr(feature_set, "_IN_MEMORY", 100)
    assert pretrain(*small, data, "read") == 0
    one, other = (pathlib.Path(run, "2.rbm").read_bytes() for run in ("kept", "read"))
    assert one == other


def test_the_model_is_registered_and_builds():
    config, model = registry.make("acoustic/dbn", ["nn_depth=2", "hid_dim=8"])
    assert isinstance(config, DbnConfig)
    assert config.types == [("gauss", "bern"), ("bern", "bern")]
    outputs = model({"feats": np.zeros((1, 3, 40), np.float32)})["outputs"]
    assert outputs.shape == (1, 3, 8)
    with pytest.raises(InputError, match="nn_depth is 0"):
        registry.config("acoustic/dbn", ["nn_depth=0"])
