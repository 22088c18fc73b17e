"""The learning curve that evaluate-rnnlm.lua writes of a training that Torch saved."""

import pathlib

import pytest

from seqzoo.zoo.commands import main

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
_CASES = sorted(_GOLDENS.glob("*/learningcurve.csv"))


@pytest.fixture(params=_CASES, ids=lambda path: path.parent.name)
def case(request):
    """A log, and the table of it: xplog_*.t7 and learningcurve.csv in one folder."""
    (log,) = request.param.parent.glob("xplog_*.t7")
    return log, request.param.read_bytes()


def test_there_is_a_golden():
    assert _CASES


def test_golden_torch_csv(case, tmp_path):
    log, expected = case
    path = tmp_path / "x" / "curve.csv"
    assert main.main(["curves", str(log), "--csv", str(path)]) == 0
    assert path.read_bytes() == expected


def test_golden_torch_dumpcsv(case, tmp_path, monkeypatch, capsys):
    log, expected = case
    monkeypatch.chdir(tmp_path)
    assert main.main(["curves", str(log), "--dumpcsv"]) == 0
    path = pathlib.Path("learningcurves") / f"{log.stem}.csv"
    assert path.read_bytes() == expected and capsys.readouterr().out == f"{path}\n"
    assert [p.name for p in tmp_path.iterdir()] == ["learningcurves"]
