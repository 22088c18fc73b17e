import csv
import json
import os
import pathlib

import pytest

from seqzoo.datasets import files
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.training.history import EpochRow
from seqzoo.zoo.training.run_folder import RunFolder

COMMAND = ["seqzoo", "train", "acoustic/dnn", "--set", "proto_opts=a b"]


@pytest.fixture
def folder(tmp_path):
    return RunFolder(str(tmp_path / "run"), COMMAND)


def listed(path):
    """All files below, as paths relative to it."""
    return sorted(
        os.path.relpath(os.path.join(at, name), path)
        for at, _, names in os.walk(path)
        for name in names
    )


def row(iteration, **kwargs):
    return EpochRow(
        **{
            "iteration": iteration,
            "learn_rate": 0.008,
            "train_loss": 1.5,
            "cv_loss": 1.75,
            "train_accuracy": 0.5,
            "cv_accuracy": 0.25,
            "accepted": True,
            "frames": 1000.0,
            "seconds": 2.0,
            "frames_per_second": 500.0,
            "name": f"nnet_iter{iteration:02d}",
            **kwargs,
        }
    )


def test_what_a_new_folder_holds(folder):
    assert sorted(os.listdir(folder.path)) == ["command.txt", "log", "nnet", "weights"]
    with open(folder.file("command.txt")) as file:
        assert file.read() == "seqzoo train acoustic/dnn --set 'proto_opts=a b'\n"
    assert folder.load_state() is None
    assert folder.file("nnet", "x") == os.path.join(folder.path, "nnet", "x")


def test_folders_above_are_made(tmp_path):
    RunFolder(str(tmp_path / "exp" / "a" / "run"), COMMAND)
    assert (tmp_path / "exp/a/run/command.txt").exists()


def test_a_folder_is_opened_again_with_the_latest_command(folder):
    folder.save_state({"epoch": 3})
    again = RunFolder(folder.path, ["seqzoo", "train"])
    assert again.load_state() == {"epoch": 3}
    again.begin(CONFIG)
    with open(folder.file("command.txt")) as file:
        assert file.read() == "seqzoo train\n"


def test_the_state_is_what_was_saved_last(folder):
    for state in ({"epoch": 1, "loss": 0.1}, {"epoch": 2, "best": None, "rows": [1.5]}):
        folder.save_state(state)
        assert folder.load_state() == state
    assert listed(folder.path) == ["command.txt", "state.json"]


@pytest.mark.parametrize(("where", "what"), [(os, "replace"), (files.Output, "write")])
def test_a_failure_while_the_state_is_written_leaves_the_old_one(
    folder, monkeypatch, where, what
):
    folder.save_state({"epoch": 1})

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(where, what, full)
    with pytest.raises((InputError, OSError)):
        folder.save_state({"epoch": 2})
    monkeypatch.undo()
    assert folder.load_state() == {"epoch": 1}
    assert listed(folder.path) == ["command.txt", "state.json"]


def test_a_state_that_cannot_be_told_is_not_begun(folder):
    folder.save_state({"epoch": 1})
    with pytest.raises(TypeError):
        folder.save_state({"epoch": object()})
    assert folder.load_state() == {"epoch": 1}


def test_a_damaged_state(folder):
    with open(folder.file("state.json"), "w") as file:
        file.write('{"epoch": ')
    with pytest.raises(InputError, match=r"state\.json: cannot be read .* start anew"):
        folder.load_state()


def test_the_config_is_kept(folder):
    folder.begin({"rate": 0.008, "offsets": (-1, 0, 1), "net": {"layers": 6}})
    with open(folder.file("config.json")) as file:
        assert json.load(file) == {
            "rate": 0.008,
            "offsets": [-1, 0, 1],
            "net": {"layers": 6},
        }


CONFIG = {"rate": 0.008, "net": {"layers": 6, "offsets": (-1, 1)}, "init": None}


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({**CONFIG, "rate": 0.1}, "rate 0.008, not 0.1"),
        (
            {**CONFIG, "net": {"layers": 4, "offsets": (-1, 1)}},
            r"net\.layers 6, not 4",
        ),
        (
            {**CONFIG, "net": {"layers": 6, "offsets": (0,)}},
            r"net\.offsets \[-1, 1\], not \[0\]",
        ),
        ({**CONFIG, "more": 1}, "more None, not 1"),
        ({**CONFIG, "init": "x"}, "init None, not 'x'"),
    ],
)
def test_a_run_of_something_else(folder, now, told):
    folder.begin(CONFIG)
    folder.begin(now)  # Nothing is stored yet, so the settings may change.
    folder.begin(CONFIG)
    folder.save_state({"epoch": 1})
    folder.begin(CONFIG)
    with pytest.raises(InputError, match=f"holds a run with {told}; give another"):
        RunFolder(folder.path, ["seqzoo", "other"]).begin(now)
    with open(folder.file("command.txt")) as file:
        assert "other" not in file.read()
    with open(folder.file("config.json")) as file:
        assert json.load(file) == json.loads(json.dumps(CONFIG))


def test_a_path_that_cannot_be_a_folder(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(
            InputError, match=r"file.*: the run folder cannot be written \(.*\); give"
        ):
            RunFolder(str(path), COMMAND)


def test_an_error_before_the_first_state_removes_a_new_folder(tmp_path):
    path = str(tmp_path / "run")
    with pytest.raises(InputError, match="no targets"):
        with RunFolder(path, COMMAND).removed_on_failure():
            raise InputError("no targets")
    assert not os.path.exists(path)


def test_an_error_keeps_folders_that_are_dear(folder):
    for name in ("data", "other"):
        os.mkdir(folder.file(name))
        pathlib.Path(folder.file(name, "ids")).touch()
    with pytest.raises(InputError, match="no targets"):
        with folder.removed_on_failure(lambda path: path.endswith("data")):
            raise InputError("no targets")
    assert listed(folder.path) == ["data/ids"]


def test_an_error_after_the_first_state_keeps_it(folder):
    with pytest.raises(InputError):
        with folder.removed_on_failure():
            folder.save_state({"epoch": 0})
            raise InputError("the disk is full")
    assert folder.load_state() == {"epoch": 0}


def test_an_error_keeps_a_folder_that_was_there(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("notes")
    with pytest.raises(InputError):
        with RunFolder(str(tmp_path / "run"), COMMAND).removed_on_failure():
            raise InputError("no targets")
    assert (tmp_path / "run" / "mine").read_text() == "notes"


def test_no_error_removes_nothing(folder):
    with folder.removed_on_failure():
        pass
    assert os.path.exists(folder.path)


def test_a_log_begins_with_the_command(folder):
    for text in ("one\ntwo", "three"):
        with folder.log("iter01.tr.log") as log:
            log.write(text)
            with open(folder.file("log", "iter01.tr.log")) as file:
                lines = file.read().splitlines()  # On disk before it is closed.
    assert lines == ["seqzoo train acoustic/dnn --set 'proto_opts=a b'", "three"]


def test_a_command_with_names_that_are_no_text(tmp_path):
    name = os.fsdecode(b"caf\xe9.ark")
    folder = RunFolder(str(tmp_path / "run"), ["seqzoo", name])
    with folder.log("a.log"):
        pass
    for file in ("command.txt", "log/a.log"):
        with open(folder.file(file), "rb") as opened:
            assert opened.read() == b"seqzoo 'caf\xe9.ark'\n"


def test_links_are_relative_and_replaced(folder, tmp_path):
    for name in ("first", "second"):
        folder.write_text(os.path.join("nnet", name), name)
        folder.link(os.path.join("nnet", name), "final.nnet")
        folder.link(os.path.join("nnet", name), os.path.join("nnet", "final"))
    assert os.readlink(folder.file("final.nnet")) == os.path.join("nnet", "second")
    assert os.readlink(folder.file("nnet", "final")) == "second"
    moved = tmp_path / "elsewhere"
    os.rename(folder.path, moved)
    assert (moved / "final.nnet").read_text() == "second"
    assert not any(name.endswith(".partial") for name in listed(moved))


def test_a_link_left_half_made_is_no_hindrance(folder):
    folder.write_text("nnet/a", "a")
    os.symlink("nowhere", folder.file("final.nnet.partial"))
    folder.link("nnet/a", "final.nnet")
    assert os.readlink(folder.file("final.nnet")) == "nnet/a"
    assert listed(folder.path) == ["command.txt", "final.nnet", "nnet/a"]


def test_a_copy_where_there_are_no_links(folder, monkeypatch):
    def refused(*args):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "symlink", refused)
    for text in ("first", "second"):
        folder.write_text("nnet/a", text)
        folder.link("nnet/a", "final.nnet")
    with open(folder.file("final.nnet")) as file:
        assert file.read() == "second"
    assert not os.path.islink(folder.file("final.nnet"))
    assert listed(folder.path) == ["command.txt", "final.nnet", "nnet/a"]


def test_history_is_a_table_of_all_epochs(folder):
    folder.write_history([row(1)])
    folder.write_history([row(1), row(2, accepted=False, cv_accuracy=None)])
    with open(folder.file("history.csv"), newline="") as file:
        text = file.read()
    assert text.splitlines() == [
        "iteration,learn_rate,train_loss,cv_loss,train_accuracy,cv_accuracy,accepted,"
        "frames,seconds,frames_per_second,name",
        "1,0.008,1.5,1.75,0.5,0.25,True,1000.0,2.0,500.0,nnet_iter01",
        "2,0.008,1.5,1.75,0.5,,False,1000.0,2.0,500.0,nnet_iter02",
    ]
    assert "\r" not in text
    assert [r["name"] for r in csv.DictReader(text.splitlines())] == [
        "nnet_iter01",
        "nnet_iter02",
    ]
    assert listed(folder.path) == ["command.txt", "history.csv"]
