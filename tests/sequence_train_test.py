"""`seqzoo train acoustic/lstm` and `acoustic/blstm`: tools, resuming, refusals."""

import json
import os
import pathlib
import re

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.zoo.acoustic import frame_training
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.commands import main
from tests import small_runs
from tests.small_runs import history, trace
from tests.train_resume_test import Killed, _kill

TINY = (
    "--set=cell_dim=6",
    "--set=num_layers=1",
    "--set=lstm_param_range=0.5",
    "--num_streams=3",
    "--learn_rate=0.01",
    "--momentum=0.5",
    "--copy_feats_compress=false",
    "--keep_lr_iters=4",
    "--max_iters=4",
)
LSTM = ("acoustic/lstm", "--splice=0", "--set=proj_dim=4", "--batch_size=10", *TINY)
BLSTM = ("acoustic/blstm", "--set=proj_dim_last=3", *TINY)


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """The directories of a small problem, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    small_runs.make_set(tmp_path / "tr", 1)
    small_runs.make_set(tmp_path / "cv", 2, utterances=5)
    return ("tr", "cv", "lang", "tr", "cv")


def train(*words) -> int:
    return main.main(["train", *words])


def options(run) -> dict:
    return json.loads(pathlib.Path(run, "config.json").read_text())["options"]


def test_an_lstm_is_trained_scored_run_and_resumed(sets, monkeypatch, capsys):
    assert train(*LSTM, *sets, "run") == 0
    assert options("run")["train_tool"] == "nnet-train-multistream"
    rows = history("run")
    assert float(rows[-1]["cv_loss"]) < 0.5 < float(rows[0]["cv_loss"])
    assert [c.marker for c in nnet1.read("run/final.nnet").components][0] == (
        "<LstmProjected>"
    )
    for name in ("final.keras", "curves.png", "ali_train_pdf.counts"):
        assert os.path.exists(os.path.join("run", name)), name

    # Whole utterances give the loss that streams gave.
    best = min(float(row["cv_loss"]) for row in rows)
    capsys.readouterr()
    assert main.main(["eval", "run", "cv", "cv"]) == 0
    told = float(re.search("AvgLoss: ([0-9.]+)", capsys.readouterr().out)[1])
    assert told == pytest.approx(best, rel=1e-4)
    assert main.main(["forward", "run", "scp:cv/feats.scp", "ark:out.ark"]) == 0
    labels = dict(tables.read("scp:cv/ali.scp", "int32_vector"))
    loss = np.concatenate(
        [
            -np.log(y[np.arange(len(y)), labels[k]])
            for k, y in tables.read("ark:out.ark")
        ]
    )
    assert loss.mean() == pytest.approx(best, rel=1e-4)

    with monkeypatch.context() as patch:
        _kill(patch, frame_training.FrameTraining, "_learn", True, 3)
        with pytest.raises(Killed):
            train(*LSTM, *sets, "killed")
    assert train(*LSTM, *sets, "killed") == 0
    assert trace("killed") == trace("run")
    final = pathlib.Path("killed", "final.nnet").read_bytes()
    assert final == pathlib.Path("run", "final.nnet").read_bytes()


def test_a_blstm_is_trained_on_whole_utterances(sets, capsys):
    assert train(*BLSTM, "--verbose=1", *sets, "run") == 0
    assert options("run")["train_tool"] == "nnet-train-multistream-perutt"
    rows = history("run")
    assert float(rows[-1]["cv_loss"]) < float(rows[0]["cv_loss"])
    log = pathlib.Path("run/log/iter1.tr.log").read_text()
    assert re.search(r"\[2\] output of <BlstmProjected> \( min -", log)
    assert re.search(r"Component 1 : <BlstmProjected>, \n  f_w_gifo_x_?", log)
    capsys.readouterr()
    assert main.main(["eval", "run", "cv", "cv"]) == 0
    told = float(re.search("AvgLoss: ([0-9.]+)", capsys.readouterr().out)[1])
    best = min(float(row["cv_loss"]) for row in rows)
    assert told == pytest.approx(best, rel=1e-4)


def test_defaults_are_the_models_the_tools_and_then_train_shs(sets):
    small = ("--set=cell_dim=4", "--max_iters=1", "--keep_lr_iters=1")
    assert train("acoustic/lstm", *small, *sets, "lstm") == 0
    found = options("lstm")
    assert (found["num_streams"], found["batch_size"]) == (10, 20)
    assert found["momentum"] == 0.9
    assert float(history("lstm")[0]["learn_rate"]) == 1e-4
    [splice, *_] = nnet1.read("lstm/final.feature_transform").components
    assert splice.offsets == [5]

    tool = "--train-tool=nnet-train-multistream-perutt --num-streams=2"
    delay = "--target_delay=3"
    assert train("acoustic/lstm", *small, tool, delay, *sets, "perutt") == 0
    found = options("perutt")
    assert (found["num_streams"], found["max_frames"]) == (2, 15_000)
    assert float(history("perutt")[0]["learn_rate"]) == 4e-5
    [splice, *_] = nnet1.read("perutt/final.feature_transform").components
    assert splice.offsets == [3]

    dnn = [flag for flag in small_runs.SMALL if "minibatch_size" not in flag]
    dnn += ["--max_iters=1", "--train_tool=nnet-train-perutt"]
    assert train("acoustic/dnn", *dnn, *sets, "dnn") == 0
    found = options("dnn")
    assert (found["momentum"], found["max_frames"]) == (0, 6000)


def test_network_type_is_train_shs_name_of_the_model(sets, capsys):
    words = ("acoustic/dnn", "--network-type=blstm", *BLSTM[1:], "--max_iters=1")
    assert train(*words, *sets, "run") == 0
    [blstm, *_] = nnet1.read("run/final.nnet").components
    assert blstm.marker == "<BlstmProjected>"
    assert train("acoustic/lstm", "--network_type=blstm", *sets, "other") == 1
    told = "--network_type=blstm is acoustic/blstm, but acoustic/lstm is to be trained"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("acoustic/lstm", "--set=cell_dim=4", "--train_tool=nnet-train-frmshuff"),
            "component 1 <LstmProjected> looks at frames in their order, but "
            "nnet-train-frmshuff shuffles them; train with --train_tool=",
        ),
        (
            (*BLSTM, "--train_tool=nnet-train-multistream"),
            "component 1 net_1_blstmprojected looks at whole utterances",
        ),
        (
            (*LSTM, "--train_tool=nnet-train-streams"),
            "train_tool 'nnet-train-streams': nnet-train-frmshuff, nnet-train-multis",
        ),
        (
            (*LSTM, "--kaldi_tail", "--num_streams=13"),
            "frames make no minibatch of 13 streams; give more utterances or a smaller "
            "num_streams, or leave kaldi_tail off",
        ),
    ],
)
def test_what_does_not_go_together_is_told(sets, capsys, words, told):
    assert train(*words, *sets, "run") == 1
    assert told in capsys.readouterr().err
