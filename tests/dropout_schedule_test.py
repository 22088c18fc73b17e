"""--dropout_schedule: rates by epoch, and what is none."""

import pathlib

import pytest

from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.commands import main
from tests.model_runs import make_sets, run
from tests.small_runs import SMALL, history


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    return make_sets(tmp_path_factory.mktemp("runs"))


def test_dropout_by_a_schedule(folder):
    flags = ("--proto_opts=--with-dropout", "--dropout_schedule=0.5,0.1")
    path = run("dnn", folder, "dropout", *flags, "--min_iters=3", "--max_iters=3")
    rates = []
    for row in history(path):
        net = nnet1.read(f"{path}/nnet/{row['name']}")
        rates += [c.dropout_rate for c in net.components if c.marker == "<Dropout>"]
    assert rates == pytest.approx([0.5, 0.1, 0.1])


@pytest.mark.parametrize(
    "flags, told",
    [
        (("--dropout_schedule=0.5",), "has no <Dropout>"),
        (("--dropout_schedule=half",), "rates from 0 to below 1"),
        (("--dropout_schedule=1",), "rates from 0 to below 1"),
    ],
)
def test_schedules_of_no_dropout(folder, capsys, flags, told):
    sets = [str(folder / "train"), str(folder / "cv")]
    words = [*sets, "-", *sets, str(folder / "undropped"), *SMALL, *flags]
    assert main.main(["train", "acoustic/dnn", *words]) == 1
    assert told in capsys.readouterr().err
