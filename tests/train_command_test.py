"""`seqzoo train`: the recorded recipe, resuming, data of every form, bad input."""

import csv
import os
import pathlib
import re
import shlex
import shutil

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.posterior import Posterior
from seqzoo.zoo.acoustic import frame_set, frame_training
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.commands import main
from seqzoo.zoo.training import run_folder

RECIPE = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "recipe"


def train(*words: str) -> int:
    return main.main(["train", "acoustic/dnn", *map(str, words)])


@pytest.fixture(autouse=True)
def _in_a_new_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def history(run) -> list[dict[str, str]]:
    with open(os.path.join(run, "history.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def trace(run) -> list[str]:
    return [row["name"] for row in history(run)]


# The recorded recipe.


@pytest.fixture(scope="module")
def recipe_run(tmp_path_factory):
    """steps/nnet/train.sh's own recorded command line, given to `seqzoo train`."""
    folder = tmp_path_factory.mktemp("recipe")
    for name in ("data", "labels.post"):
        copy = shutil.copytree if name == "data" else shutil.copy
        copy(RECIPE / name, folder / name)
    text = (RECIPE / "dnn.log").read_text()
    words = shlex.split(re.match(r"\$ bash steps/nnet/train.sh (.*)", text)[1])
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert train("--set", "kaldi_draws=true", "--kaldi_tail", *words) == 0
    finally:
        os.chdir(before)
    return folder / "exp" / "dnn"


def test_golden_kaldi_recipe_takes_train_shs_command_as_it_is(recipe_run):
    assert (recipe_run / "final.nnet").exists()
    recorded = (RECIPE / "dnn.nnetdir.txt").read_text().split()
    ours = sorted(path.name for path in (recipe_run / "nnet").iterdir())

    def form(name):
        return re.sub(r"(tr|cv)[0-9.]+", r"\1N", name)

    assert [form(name) for name in ours] == [form(name) for name in recorded]


def test_golden_kaldi_recipe_makes_the_recorded_prototype(recipe_run):
    assert (recipe_run / "nnet.proto").read_text() == (
        RECIPE / "dnn.nnet.proto"
    ).read_text()


def test_golden_kaldi_recipe_makes_the_recorded_feature_transform(recipe_run):
    ours = nnet1.read(str(recipe_run / "final.feature_transform")).components
    theirs = nnet1.read(str(RECIPE / "dnn.feature_transform.txt")).components
    assert [c.marker for c in ours] == [c.marker for c in theirs]
    assert ours[0].offsets == theirs[0].offsets
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        # The file has 7 digits of Kaldi's float32 sums.
        np.testing.assert_allclose(one.data, other.data, rtol=1e-6, atol=1e-8)


def test_golden_kaldi_recipe_starts_from_the_recorded_loss(recipe_run):
    recorded = re.search(
        r"CROSSVAL PRERUN AVG.LOSS ([0-9.]+)", (RECIPE / "dnn.log").read_text()
    )
    log = (recipe_run / "log" / "iter00.initial.log").read_text()
    loss = float(re.search(r"AvgLoss: ([0-9.]+)", log)[1])
    assert f"{loss:.4f}" == recorded[1]


def test_golden_kaldi_recipe_log_lines_have_the_recorded_form(recipe_run):
    log = (recipe_run / "log" / "iter1.tr.log").read_text().splitlines()
    assert log[0].startswith("seqzoo train acoustic/dnn ")
    assert re.match(r"The active device is CPU:0: .* total:\d+M, free/total:", log[1])
    tail = "\n".join(log[2:])
    assert re.search(
        r"^Done 14 files, 0 with no tgt_mats, 0 with other errors\. "
        r"\[TRAINING, RANDOMIZED, [0-9.e-]+ min, fps[0-9.e+]+\]$",
        tail,
        re.MULTILINE,
    )
    assert re.search(
        r"^AvgLoss: [0-9.]+ \(Xent\), \[AvgXent: [0-9.]+, AvgTargetEnt: 0\]\n"
        r"progress: \[\]\nFRAME_ACCURACY >> [0-9.]+% <<$",
        tail,
        re.MULTILINE,
    )
    assert "### After" not in tail


# A small problem of our own.

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


@pytest.fixture
def sets(tmp_path):
    make_set(tmp_path / "tr", 1)
    make_set(tmp_path / "cv", 2, utterances=5)
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


# Killed and resumed.


class Killed(BaseException):
    """Not an Exception: nothing may catch it, as nothing catches a SIGKILL."""


def _kill(monkeypatch, owner, name: str, after: bool, call: int):
    real = getattr(owner, name)
    calls = 0

    def deadly(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == call and not after:
            raise Killed
        result = real(*args, **kwargs)
        if calls == call:
            raise Killed
        return result

    monkeypatch.setattr(owner, name, deadly)


# So high a rate that the first epoch is rejected.
KILLED = (*SMALL, "--learn_rate=8", "--halving_factor=0.05", "--momentum=0.5")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing stopped, and its sets."""
    folder = tmp_path_factory.mktemp("whole")
    make_set(folder / "tr", 1)
    make_set(folder / "cv", 2, utterances=5)
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert train(*KILLED, "tr", "cv", "lang", "tr", "cv", "run") == 0
    finally:
        os.chdir(before)
    assert any(name.endswith("_rejected") for name in trace(folder / "run"))
    assert not trace(folder / "run")[-1].endswith("_rejected")
    return folder / "run"


@pytest.mark.parametrize(
    ("owner", "name", "after", "call"),
    [
        (frame_set.FrameSet, "prepare", True, 1),
        (frame_training.FrameTraining, "__init__", False, 1),
        (frame_training.FrameTraining, "_score_init", False, 1),
        (run_folder.RunFolder, "save_state", True, 1),
        (frame_training.FrameTraining, "_learn", True, 2),
        (frame_training.FrameTraining, "_score", True, 3),
        (nnet1, "write", True, 4),
        (run_folder.RunFolder, "save_state", True, 3),
        (run_folder.RunFolder, "write_history", False, 3),
        (frame_training.FrameTraining, "_finish", False, 1),
        (frame_training, "save_whole", True, 1),
    ],
)
def test_a_killed_run_goes_on_with_the_same_trace(
    sets, whole, monkeypatch, owner, name, after, call
):
    with monkeypatch.context() as patch:
        _kill(patch, owner, name, after, call)
        with pytest.raises(Killed):
            train(*KILLED, *sets, "run")
    assert train(*KILLED, *sets, "run") == 0
    assert trace("run") == trace(whole)
    final = pathlib.Path("run/final.nnet").read_bytes()
    assert final == (whole / "final.nnet").read_bytes()
    assert os.path.exists("run/final.keras")
    assert not os.path.exists("run/copy")


def test_another_command_does_not_go_on_in_the_folder(sets, capsys):
    assert train(*SMALL, *sets, "run") == 0
    assert train(*SMALL, "--momentum=0.9", *sets, "run") == 1
    assert "options.momentum 0.0, not 0.9" in capsys.readouterr().err
    assert train(*SMALL, *sets, "run") == 0


# Bad input: exit 1, one line, nothing left behind.


def _truncate(path: str):
    data = pathlib.Path(path).read_bytes()
    pathlib.Path(path).write_bytes(data[: len(data) // 2])


def _rewrite_feats(change):
    values = list(tables.read("scp:tr/feats.scp"))
    with tables.Writer("ark,scp:tr/feats.ark,tr/feats.scp") as writer:
        for key, matrix in values:
            writer.write(key, change(key, matrix))


def _nan(key, matrix):
    if key == "u03":
        matrix = matrix.copy()
        matrix[7, 2] = np.nan
    return matrix


def _ragged():
    pathlib.Path("tr/feats.ark").write_text("u00  [\n  1 2 3\n  4 5 ]\n")
    pathlib.Path("tr/feats.scp").write_text("u00 tr/feats.ark:4\n")


def _high_label():
    with tables.Writer("ark,scp:tr/ali.ark,tr/ali.scp", "int32_vector") as writer:
        for key, matrix in tables.read("scp:tr/feats.scp"):
            writer.write(key, np.full(len(matrix), 7, np.int32))


def _empty(path: str):
    pathlib.Path(path).write_text("")


BAD = {
    "truncated ark": (lambda: _truncate("tr/feats.ark"), (), r"tr/feats\.ark.*byte"),
    "ragged text": (_ragged, (), r"tr/feats\.ark:\d+.*row"),
    "unknown type": (
        lambda: pathlib.Path("tr/feats.ark").write_bytes(b"u00 \0B<Nnet3Eg> "),
        ("--feats=ark:tr/feats.ark",),
        r"tr/feats\.ark.*Nnet3Eg.*FM",
    ),
    "NaN": (lambda: _rewrite_feats(_nan), (), r"u03.*frame 7.*dimension 2.*nan"),
    "another width": (
        lambda: _rewrite_feats(lambda k, m: m[:, :4] if k == "u05" else m),
        (),
        r"u05.*4 dimensions.*6",
    ),
    "held-out width": (
        lambda: shutil.rmtree("cv") or make_set(pathlib.Path("cv"), 2, 5, dim=9),
        (),
        r"6 dimensions, held-out ones 9",
    ),
    "label out of range": (_high_label, ("--num_tgt=3",), r"frame 0.*7.*0 to 2"),
    "empty set": (lambda: _empty("tr/feats.scp"), (), r"."),
    "no data dir": (lambda: shutil.rmtree("cv"), (), r"cv: no such .* directory"),
    "model name": (lambda: None, ("acoustic/dn",), r"did you mean acoustic/dnn"),
    "flag": (lambda: None, ("--learn_rte=1",), r"did you mean --learn_rate"),
    "setting": (lambda: None, ("--set=hidden_dims=3",), r"hidden_dim"),
    "momentum": (lambda: None, ("--momentum=1.5",), r"momentum is 1.5"),
    "no Softmax": (
        lambda: None,
        ("--proto_opts=--no-softmax",),
        r"xent needs <Softmax>",
    ),
    "transform width": (
        lambda: pathlib.Path("ft").write_text("<Nnet> <Splice> 10 5 [ 0 1 ] </Nnet>"),
        ("--feature_transform=ft",),
        r"ft: takes 5 dimensions.*have 6",
    ),
    "missing statistics": (
        lambda: None,
        ("--cmvn_opts=--norm-vars=true",),
        r"cmvn\.scp is missing",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(sets, capsys, case):
    spoil, flags, message = BAD[case]
    spoil()
    words = [*SMALL, *flags]
    model = "acoustic/dnn"
    if flags and flags[0].startswith("acoustic"):
        model, words = flags[0], list(SMALL)
    if any(word.startswith("--feats=") for word in words):
        words += ["--cv_feats=scp:cv/feats.scp", "--labels=scp:tr/ali.scp"]
        words += ["--num_tgt=3", "--run_dir=run"]
    else:
        words += [*sets, "run"]
    assert main.main(["train", model, *words]) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("seqzoo train: ")
    assert re.search(message, error), error
    assert not os.path.exists("run")


def test_a_run_folder_that_cannot_be_written(sets, capsys):
    pathlib.Path("run").write_text("a file")
    assert train(*SMALL, *sets, "run") == 1
    assert "run: the run folder cannot be written" in capsys.readouterr().err
    assert pathlib.Path("run").read_text() == "a file"
