"""`seqzoo train language/...` that starts from a trained model."""

import csv
import json
import pathlib
import shutil

import numpy as np
import pytest

from seqzoo.datasets import torch_file
from seqzoo.zoo.language import trained_model, training
from tests.language_runs import SMALL, WORDS, train, unless, write_text
from tests.small_language_models import write_run


class Stopped(BaseException):
    """Nothing catches it."""


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_text(tmp_path_factory.mktemp("text") / "text")


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    run = tmp_path_factory.mktemp("whole") / "run"
    assert train(text, run, *SMALL, "--maxepoch=1") == 0
    return run


def test_fine_tuning_on_other_words(whole, tmp_path):
    other = write_text(tmp_path / "other", 2, [*WORDS[:8], "fox", "jumps", "barks"])
    run = tmp_path / "run"
    more = ("--init", whole, "--startlr=1e-9", "--minlr=0", "--maxepoch=1")
    assert train(other, run, *unless(SMALL, more), *more) == 0
    report = (run / "vocabulary_change.txt").read_text()
    assert "words: 11 kept, 3 new, 6 dropped" in report
    old, new = (trained_model.read(str(path)) for path in (whole, run))
    for word in (*WORDS[:8], "</S>"):
        rows = [
            one.model.embedding.embeddings.value[one.vocabulary.ids[word]]
            for one in (old, new)
        ]
        np.testing.assert_allclose(*rows, atol=1e-6)
    before = old.model.named_weights()["lstm_1/w_ifco_x"]
    after = new.model.named_weights()["lstm_1/w_ifco_x"]
    np.testing.assert_allclose(before, after, atol=1e-6)


def test_a_resumed_run_needs_no_more_what_it_started_from(whole, text, tmp_path):
    start, run = tmp_path / "start", tmp_path / "run"
    shutil.copytree(whole, start)
    more = ("--init", start, "--maxepoch=1")
    assert train(text, run, *unless(SMALL, more), *more) == 0
    shutil.rmtree(start)
    more = ("--init", start, "--maxepoch=2")
    assert train(text, run, *unless(SMALL, more), *more) == 0
    assert json.loads((run / "state.json").read_text())["epoch"] == 2


def _finer(whole, tmp_path, monkeypatch, *more):
    """What the optimizer's slots and the constant were before the first step."""
    found = {}

    def stopped(self):
        optimizer = self.trainer.optimizer
        found["iterations"] = int(optimizer.iterations)
        found["slots"] = [
            float(np.abs(slot.numpy()).max())
            for slot in optimizer.slots
            if slot is not None
        ]
        found["z"] = float(self.model.output_layer.z.numpy())
        raise Stopped

    monkeypatch.setattr(training.LanguageTraining, "run", stopped)
    with pytest.raises(Stopped):
        words = (*unless(SMALL, more), *more, "--init", whole)
        train(tmp_path / "text", tmp_path / "run", *words)
    return found


def test_slots_are_carried_over_where_the_rule_is_the_same(tmp_path, monkeypatch):
    text = write_text(tmp_path / "text")
    before = tmp_path / "before"
    rule = "--tables=momentum"
    assert train(text, before, *SMALL, rule, "--maxepoch=1") == 0
    same = _finer(before, tmp_path, monkeypatch, rule)
    assert same["iterations"] > 0 and min(same["slots"]) > 0
    # Velocities, which may be below 0, are no sums of squares.
    other = _finer(before, tmp_path, monkeypatch, "--tables=adagrad")
    assert other["iterations"] == 0 and max(other["slots"]) < 0.11


def test_a_constant_that_is_given_anew_is_taken(whole, text, tmp_path, monkeypatch):
    (tmp_path / "text").symlink_to(text)
    assert _finer(whole, tmp_path, monkeypatch)["z"] == 1
    assert _finer(whole, tmp_path, monkeypatch, "--Z=3")["z"] == 3


def test_a_folder_that_was_not_trained_here_is_started_from(tmp_path, capsys):
    write_run(tmp_path / "run")
    assert train("--continue", tmp_path / "run") == 1
    assert "was not trained here; give --init=" in capsys.readouterr().err


def test_going_on_from_what_torch_saved(tmp_path, capsys):
    data = pathlib.Path(__file__).parent / "goldens" / "torch" / "gbw_tiny"
    log = torch_file.read(str(data / "xplog_tiny.t7"))
    run = tmp_path / "run"
    done, options = int(log["epoch"]), log["opt"]
    more = ("--continue", data / "xplog_tiny.t7", f"--maxepoch={done + 1}")
    assert train(data, run, *more) == 0
    with open(run / "history.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert int(row["epoch"]) == done + 1
    assert float(row["learn_rate"]) == pytest.approx(options["lr"], rel=1e-12)
    found = json.loads((run / "config.json").read_text())["training"]
    for name in ("startlr", "minlr", "saturate", "cutoff", "momentum", "seqlen"):
        assert found[name] == options[name], name
    assert found["tables"] == "sgd"
    words = (*more[:2], f"--maxepoch={done}")
    assert train(data, tmp_path / "other", *words) == 1
    assert f"was trained for {done} epochs" in capsys.readouterr().err


def test_a_vocabulary_that_is_another(whole, tmp_path, capsys):
    other = write_text(tmp_path / "other", 2, ["x", "y", "z"])
    cache = tmp_path / "cache"
    assert train(other, tmp_path / "a", *SMALL, "--maxepoch=1", "--cache", cache) == 0
    words = ("--init", whole, "--vocabulary=init")
    assert train(cache, tmp_path / "b", *SMALL, "--cache", tmp_path / "c") == 1
    assert "is a cache itself; leave --cache out" in capsys.readouterr().err
    assert train(cache, tmp_path / "b", *SMALL, *words) == 1
    told = capsys.readouterr().err
    assert f"its vocabulary is not that of {whole}" in told
