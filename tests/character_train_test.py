"""`seqzoo train` of models of characters: from scratch, and from torch-rnn's."""

import csv
import json
import os
import shutil

import numpy as np
import pytest

from seqzoo.datasets import torch_writer
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import trained_model
from tests.language_runs import train, write_text
from tests.torch_logs import make_checkpoint

SMALL = (
    "--batchsize=4",
    "--seqlen=9",
    "--startlr=1",
    "--minlr=0.5",
    "--cutoff=5",
    "--maxepoch=2",
)
TOKENS = [*"eatos \nz"]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_text(tmp_path_factory.mktemp("text") / "text", lines=60)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("cv") / "x.t7"
    torch_writer.write(str(path), make_checkpoint(tokens=TOKENS))
    return path


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    run = tmp_path_factory.mktemp("whole") / "run"
    words = ("--tokens=characters", "--hiddensize={8}", "--uniform=0.3")
    assert train(text, run, *words, *SMALL) == 0
    return run


def history(run, column="valid_error"):
    with open(run / "history.csv", newline="") as file:
        return [float(row[column]) for row in csv.DictReader(file)]


def words_of(run):
    return {path.name: np.load(path) for path in run.glob("weights/epoch_0002/*.npy")}


def test_a_checkpoint_without_epochs_is_not_continued(
    checkpoint, text, tmp_path, capsys
):
    assert train(text, tmp_path / "run", "--continue", checkpoint) == 1
    told = capsys.readouterr().err
    assert f"keeps no epochs to go on from; give --init={checkpoint}, and" in told


def test_from_scratch(whole, text):
    about = json.loads((whole / "config.json").read_text())
    assert about["tokens"] == "characters"
    assert about["settings"]["output"] == "full_softmax"
    found = trained_model.read(str(whole))
    train_text = (text / "train.txt").read_text()
    assert sorted(found.vocabulary.words) == sorted(set(train_text))
    assert about["data"]["training_words"] == len(train_text) - 1
    errors = history(whole)
    assert errors[1] < errors[0] < np.log(len(found.vocabulary)) + 0.1


def test_it_goes_on_after_a_stop(whole, text, tmp_path):
    words = ("--tokens=characters", "--hiddensize={8}", "--uniform=0.3", *SMALL)
    run = tmp_path / "run"
    assert train(text, run, *words, "--maxepoch=1") == 0
    assert train("--continue", run, "--maxepoch=2") == 0
    wanted, found = words_of(whole), words_of(run)
    assert wanted.keys() == found.keys() and wanted
    for name, values in wanted.items():
        np.testing.assert_array_equal(found[name], values, name)


def test_all_that_is_done_with_a_run(whole, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words, told in [
        (["eval", whole], "full softmax over"),
        (["eval", whole, "--set=valid"], "characters"),
        (["info", whole], "characters"),
        (["curves", whole, "--csv=-"], "epoch,trainerr,validerr"),
        (["sample", whole, "--prompt=the ", "--nsample=5"], "the "),
        (["export", whole, "served"], ""),
    ]:
        assert main.main([*map(str, words)]) == 0, words
        assert told in capsys.readouterr().out, words
    assert (tmp_path / "served" / "1").is_dir()


def test_the_error_of_a_column_is_that_of_eval(whole, text, tmp_path):
    # One column, which is one text: the error is nats per character.
    run = tmp_path / "run"
    more = ("--batchsize=1", "--maxepoch=1", "--valid_perplexity=1", "--startlr=0.1")
    small = [one for one in SMALL if one.partition("=")[0] not in " ".join(more)]
    words = ("--tokens=characters", "--hiddensize={8}", *small, *more)
    assert train(text, run, *words, "--trainsize=200") == 0
    (perplexity,) = history(run, "valid_perplexity")
    assert history(run) == [pytest.approx(np.log(perplexity), rel=1e-5)]


def test_fine_tuning_carries_rows_over_by_character(checkpoint, text, tmp_path):
    run, small = tmp_path / "run", [one for one in SMALL if "lr" not in one]
    more = ("--init", checkpoint, "--startlr=1e-9", "--minlr=0", "--maxepoch=1")
    assert train(text, run, *small, *more) == 0
    old, new = (trained_model.read(str(path)) for path in (checkpoint, run))
    assert new.characters and new.config.output == "full_softmax"
    assert sorted(new.vocabulary.words) == sorted(set((text / "train.txt").read_text()))
    for character in TOKENS[:-1]:
        for table, first in (("embedding/embeddings", 0), ("output/linearity", -1)):
            rows = [
                one.model.named_weights()[table].value[
                    one.vocabulary.ids[character] + first
                ]
                for one in (old, new)
            ]
            np.testing.assert_allclose(*rows, atol=1e-6)
    name = "lstm_2/w_ifco_x"
    weights = [one.model.named_weights()[name].value for one in (old, new)]
    np.testing.assert_allclose(*weights, atol=1e-6)
    report = (run / "vocabulary_change.txt").read_text()
    assert "words: 7 kept, " in report and "dropped: z\n" in report


def test_fine_tuning_with_its_own_characters(checkpoint, tmp_path, capsys):
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.txt").write_text("a tea\nto eat\n" * 40)
    (data / "valid.txt").write_text("a seat\nto toast\n" * 4)
    words = (*SMALL, "--init", checkpoint, "--vocabulary=init", "--maxepoch=3")
    run = tmp_path / "run"
    assert train(data, run, *words) == 0
    found = trained_model.read(str(run))
    assert found.vocabulary.words == TOKENS
    assert found.vocabulary.counts[TOKENS.index("s")] == 0
    errors = history(run, "train_error")
    assert errors[-1] < errors[0] - 0.1
    # With what it started from gone, it goes on.
    shutil.move(checkpoint, tmp_path / "away")
    try:
        assert train(data, run, *words[:-1], "--maxepoch=4") == 0
    finally:
        shutil.move(tmp_path / "away", checkpoint)
    assert len(history(run)) == 4
    (data / "valid.txt").write_text("a seat\nto tea.\n")
    capsys.readouterr()
    assert train(data, tmp_path / "other", *words) == 1
    assert capsys.readouterr().err.endswith(
        f"{data}/valid.txt:2: {checkpoint} does not know the character '.'; its 8 are "
        "'\\n aeostz'.\n"
    )
    assert not (tmp_path / "other").exists()


def test_what_does_not_go_together(checkpoint, whole, text, tmp_path, capsys):
    run = tmp_path / "run"

    def fails(*words):
        assert train(*words) == 1
        assert not run.exists()
        err = capsys.readouterr().err
        return err[err.index("seqzoo train: ") :]

    made = ("--init", checkpoint)
    assert f"{checkpoint}: is a model of characters, not of words; leave --to" in fails(
        text, run, *made, "--tokens=words"
    )
    assert "--min_count is for words" in fails(text, run, *made, "--min_count=2")
    assert "--tiny: Torch's small set has words" in fails(text, run, *made, "--tiny")
    assert "is a cache of characters, and words" in fails(whole / "data", run)
    assert train(text, run, *made, "--batchsize=400") == 1
    assert "characters is too short for 400 columns" in capsys.readouterr().err
    assert os.listdir(run) == ["data"]
    capsys.readouterr()
    assert train(text, whole, *SMALL, "--tokens=words") == 1
    assert "holds a run with" in capsys.readouterr().err


def test_blanks_in_the_report_of_words(checkpoint, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("train", "valid"):
        (data / f"{name}.txt").write_text("teatoast" * 9)
    run = tmp_path / "run"
    assert train(data, run, *SMALL, "--init", checkpoint, "--maxepoch=1") == 0
    report = (run / "vocabulary_change.txt").read_text().splitlines()
    assert report[-3:] == ["dropped ' '", r"dropped '\n'", "dropped z"]
    assert Vocabulary.load(str(run / "vocabulary.txt"), characters=True).words == [
        *"taeos"
    ]
