"""`seqzoo train` killed at any moment goes on with the same trace."""

import os
import pathlib

import pytest

from seqzoo.zoo.acoustic import frame_set, frame_training
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.training import run_folder
from tests import small_runs
from tests.small_runs import SMALL, make_set, trace, train


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """The directories of a small problem, in a working directory of its own."""
    monkeypatch.chdir(tmp_path)
    small_runs.make_set(tmp_path / "tr", 1)
    small_runs.make_set(tmp_path / "cv", 2, utterances=5)
    return ("tr", "cv", "lang", "tr", "cv")


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
