"""`seqzoo train`: data of every form, feature types, objectives, logs."""

import os
import pathlib
import re
import shutil

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.posterior import Posterior
from seqzoo.zoo.checkpoints import nnet1
from tests import small_runs
from tests.small_runs import SMALL, history, trace, train


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """The directories of a small problem, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    small_runs.make_set(tmp_path / "tr", 1)
    small_runs.make_set(tmp_path / "cv", 2, utterances=5)
    return ("tr", "cv", "lang", "tr", "cv")


def test_a_toy_problem_is_learnt(sets):
    assert train(*SMALL, "--max_iters=8", *sets, "run") == 0
    assert float(history("run")[-1]["cv_accuracy"]) > 0.9
    for name in (
        "config.json",
        "command.txt",
        "final.keras",
        "final.nnet",
        "final.feature_transform",
        "ali_train_pdf.counts",
        "curves.png",
        "weights/final.weights.h5",
        "log/iter1.cv.log",
    ):
        assert os.path.exists(os.path.join("run", name)), name
    assert not os.path.exists("run/copy")


def test_tables_with_and_without_a_copy_train_alike(sets):
    data = (
        "--feats=scp:tr/feats.scp",
        "--cv_feats=scp:cv/feats.scp",
        "--labels=scp:tr/ali.scp",
        "--cv_labels=scp:cv/ali.scp",
        "--num_tgt=3",
    )
    assert train(*SMALL, *data, "--run_dir=copied") == 0
    assert train(*SMALL, *data, "--run_dir=read", "--copy_feats", "false") == 0
    elsewhere = ("--copy_feats_tmproot=elsewhere/tmp.XXXX", "--run_dir=apart")
    assert train(*SMALL, *data, *elsewhere) == 0
    nets = [pathlib.Path(run, "final.nnet").read_bytes() for run in ("copied", "read")]
    assert nets[0] == nets[1] == pathlib.Path("apart/final.nnet").read_bytes()
    assert not [path for path in pathlib.Path("elsewhere").rglob("*") if path.is_file()]


def test_seeds_make_a_run_and_another_seed_another(sets):
    for run, seed in (("one", 777), ("two", 777), ("three", 778)):
        assert train(*SMALL, f"--randomizer_seed={seed}", *sets, run) == 0
    assert trace("one") == trace("two") != trace("three")


def test_kaldi_tail_leaves_frames_out(sets):
    assert train(*SMALL, "--max_iters=1", *sets, "all") == 0
    assert train(*SMALL, "--max_iters=1", "--kaldi_tail", *sets, "whole") == 0
    everything = float(history("all")[0]["frames"])
    assert float(history("whole")[0]["frames"]) == everything - everything % 32


def test_mean_square_error_with_tanh_as_train_sh_is_told(sets):
    tool = "nnet-train-frmshuff --objective-function=mse"
    proto = "--no-softmax --activation-type=<Tanh> --hid-bias-mean=0.0"
    told = ("--train-tool", tool, "--proto-opts", proto)
    assert train(*SMALL, "--learn_rate=0.001", *told, *sets, "run") == 0
    markers = [c.marker for c in nnet1.read("run/final.nnet").components]
    assert markers == ["<AffineTransform>", "<Tanh>", "<AffineTransform>"]
    log = pathlib.Path("run/log/iter1.tr.log").read_text()
    assert re.search(r"AvgLoss: [0-9.]+ \(Mse\), \[RMS [0-9.]+, frames \d+\]", log)
    assert not os.path.exists("run/ali_train_pdf.counts")


def test_tanh_alone_lowers_the_learning_rate(sets):
    flags = [flag for flag in SMALL if "learn_rate" not in flag]
    tanh = "--proto_opts=--activation-type=<Tanh>"
    assert train(*flags, "--max_iters=1", tanh, *sets, "run") == 0
    assert float(history("run")[0]["learn_rate"]) == 1e-5

    # So it does in a network that is given.
    for given in ("--init=run", "--mlp_proto=run/nnet.proto"):
        rest = [] if given == "--init=run" else flags
        assert train(*rest, "--max_iters=1", given, *sets, "again") == 0
        assert float(history("again")[0]["learn_rate"]) == 1e-5
        shutil.rmtree("again")


def test_external_targets_are_any_numbers(sets):
    rng = np.random.default_rng(3)
    with tables.Writer("ark:targets.ark", "posterior") as writer:
        for key, matrix in tables.read("scp:tr/feats.scp"):
            frames = [
                [(0, float(row[0])), (1, -3.5), (3, float(rng.normal()))]
                for row in matrix
            ]
            writer.write(key, Posterior.from_frames(frames))
    assert (
        train(
            *SMALL,
            "--learn_rate=0.001",
            "--objective_function=mse",
            "--proto_opts=--no-softmax",
            "--labels=ark:targets.ark",
            "--num_tgt=4",
            "tr",
            "tr",
            "dummy",
            "dummy",
            "dummy",
            "run",
        )
        == 0
    )
    assert nnet1.read("run/final.nnet").output_dim == 4
    losses = [float(row["train_loss"]) for row in history("run")]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    ("feat_type", "more", "width"),
    [
        ("plain", (), 3 * 6),
        ("traps", ("--traps_dct_basis=2",), 2 * 6),
        ("transf", ("--transf=m.mat", "--splice_after_transf=1"), 3 * 4),
        ("lda", ("--lda_dim=2",), 2),
    ],
)
def test_feature_types(sets, feat_type, more, width):
    matrix = np.random.default_rng(4).normal(size=(4, 18)).astype(np.float32)
    tables.write_object("m.mat", matrix)
    flags = (*SMALL, "--max_iters=1", f"--feat_type={feat_type}", *more)
    assert train(*flags, *sets, "run") == 0
    transform = nnet1.read("run/final.feature_transform")
    assert (transform.input_dim, transform.output_dim) == (6, width)
    spliced = np.concatenate(
        [transform.propagate(m) for _, m in tables.read("scp:tr/feats.scp")]
    )
    np.testing.assert_allclose(spliced.mean(0), 0, atol=0.05)
    np.testing.assert_allclose(spliced.std(0), 1, atol=0.05)


def test_frame_weights_of_zero_leave_frames_out(sets):
    with tables.Writer("ark:weights.ark", "vector") as writer:
        for name in ("tr", "cv"):
            for key, matrix in tables.read(f"scp:{name}/feats.scp"):
                if name == "tr":
                    writer.write(key, np.arange(len(matrix)) % 2.0)
    flags = (*SMALL, "--max_iters=1", "--length_tolerance=1000")
    assert train(*flags, "--frame_weights=ark:weights.ark", *sets, "run") == 0
    frames = sum(len(m) // 2 for _, m in tables.read("scp:tr/feats.scp"))
    assert float(history("run")[0]["frames"]) == frames


def test_features_from_a_pipe_are_read_once(sets):
    data = ("--labels=scp:tr/ali.scp", "--cv_labels=scp:cv/ali.scp", "--num_tgt=3")
    feats = ("--feats=ark:cat tr/feats.ark |", "--cv_feats=ark:cat cv/feats.ark |")
    assert train(*SMALL, "--max_iters=1", *data, *feats, "--run_dir=run") == 0
    assert len(history("run")) == 1


def test_statistics_are_logged_at_both_ends_of_an_epoch(sets):
    assert train(*SMALL, "--max_iters=1", "--verbose=1", *sets, "run") == 0
    log = pathlib.Path("run/log/iter1.tr.log").read_text()
    assert len(re.findall(r"^### After \d+ frames", log, re.MULTILINE)) == 2
    assert (
        len(re.findall(r"^\[5\] output of <Softmax> \( min ", log, re.MULTILINE)) == 2
    )
    assert len(re.findall(r"^  linearity_grad \( min ", log, re.MULTILINE)) == 4


def test_bfloat16_stays_close(sets):
    assert train(*SMALL, *sets, "float32") == 0
    assert train(*SMALL, "--bfloat16", *sets, "bfloat16") == 0
    wide, narrow = (
        float(history(run)[-1]["cv_loss"]) for run in ("float32", "bfloat16")
    )
    assert narrow == pytest.approx(wide, rel=0.05)
