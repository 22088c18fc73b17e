"""`seqzoo train` with bad input: exit 1, one line, nothing left behind."""

import os
import pathlib
import re
import shutil

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.zoo.commands import main
from tests import small_runs
from tests.small_runs import SMALL, make_set, train


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """The directories of a small problem, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    small_runs.make_set(tmp_path / "tr", 1)
    small_runs.make_set(tmp_path / "cv", 2, utterances=5)
    return ("tr", "cv", "lang", "tr", "cv")


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
