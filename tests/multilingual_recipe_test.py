"""`seqzoo train acoustic/multilingual`: a block for each language, and one alone."""

import json
import os
import pathlib
import shutil

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.commands import main
from tests.model_runs import (
    DIM,
    assert_scores,
    forward,
    losses,
    make_sets,
    numpy_scores,
)
from tests.small_runs import CLASSES, SMALL, make_set


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> pathlib.Path:
    """The sets of `de`, and others of `nl`."""
    folder = make_sets(tmp_path_factory.mktemp("runs"))
    for name, seed in (("train", 3), ("cv", 4)):
        (folder / f"de_{name}").symlink_to(folder / name)
        make_set(folder / f"nl_{name}", seed, dim=DIM)
    return folder


@pytest.fixture(scope="module")
def multilingual(folder) -> str:
    path = str(folder / "multi")
    sets = [f"{folder}/{{}}_train", f"{folder}/{{}}_cv"]
    words = [*sets, "-", *sets, path, *SMALL, "--languages=de,nl", "--max_iters=3"]
    assert main.main(["train", "acoustic/multilingual", *words]) == 0
    return path


def test_each_language_is_learnt_in_its_block(folder, multilingual):
    found = losses(multilingual)
    assert found == sorted(found, reverse=True)
    config = json.loads(pathlib.Path(multilingual, "config.json").read_text())
    assert config["config"]["block_dims"] == [CLASSES, CLASSES]
    assert config["options"]["objective"] == "multitask,xent,3,1,xent,3,1"
    log = pathlib.Path(multilingual, "log", "iter3.cv.log").read_text()
    assert "Done 24 files" in log and "with 2 parallel loss functions" in log
    assert not os.path.exists(f"{multilingual}/copy")
    net = nnet1.read(f"{multilingual}/final.nnet")
    assert net.components[-1].block_dims == [3, 3]
    # Both are the same task, so that both blocks tell the same classes.
    scores = forward(multilingual, f"scp:{folder}/cv/feats.scp")
    rows = np.concatenate(list(scores.values()))
    np.testing.assert_allclose(rows[:, :3].sum(1), 1, rtol=1e-5)
    same = rows[:, :3].argmax(1) == rows[:, 3:].argmax(1)
    assert same.mean() > 0.8


def test_one_language_of_it(folder, multilingual, capsys):
    source = f"scp:{folder}/cv/feats.scp"
    whole = forward(multilingual, source)
    found = forward(multilingual, source, "--block=nl")
    assert_scores(found, {utt: rows[:, 3:] for utt, rows in whole.items()})
    assert_scores(found, numpy_scores(multilingual, folder, "nl"))
    counts = [
        tables.read_object(f"{multilingual}/ali_train_pdf.{name}counts", "vector")
        for name in ("", "de.", "nl.")
    ]
    np.testing.assert_array_equal(counts[0], np.concatenate(counts[1:]))
    capsys.readouterr()
    sets = [str(folder / "nl_cv")] * 2
    assert main.main(["eval", multilingual, *sets, "--blocksoftmax_active=2"]) == 0
    told = capsys.readouterr().out
    log = pathlib.Path(multilingual, "log", "iter3.cv.log").read_text()
    accuracy = told[told.index("FRAME_ACCURACY") :].splitlines()[0]
    assert accuracy in log


def _spoiled(folder, tmp_path, part, change):
    """Sets of which the `part` of `nl` has other labels."""
    for name in ("de_train", "de_cv", "nl_train", "nl_cv"):
        shutil.copytree(folder / name, tmp_path / name)
    labels = list(tables.read(f"scp:{folder}/{part}/ali.scp", "int32_vector"))
    path = tmp_path / part
    with tables.Writer(f"ark,scp:{path}/ali.ark,{path}/ali.scp", "int32_vector") as out:
        for key, values in map(change, labels):
            out.write(key, values)


def _other_key(entry):
    return f"other-{entry[0]}", entry[1]


def _seven(entry):
    values = entry[1].copy()
    values[4] = 7
    return entry[0], values


@pytest.mark.parametrize(
    ("part", "change", "told"),
    [
        ("nl_train", _other_key, "nl: no training utterance with both features and"),
        ("nl_cv", _other_key, "nl: no held-out utterance with both features and"),
        (
            "nl_cv",
            _seven,
            "utterance nl/u00, frame 4: the target's index is 7, but those of nl are 0 "
            "to 2, 3 in all.",
        ),
    ],
)
def test_each_language_has_targets_that_fit(
    folder, tmp_path, capsys, part, change, told
):
    _spoiled(folder, tmp_path, part, change)
    sets = [f"{tmp_path}/{{}}_train", f"{tmp_path}/{{}}_cv"]
    words = [*sets, "-", *sets, f"{tmp_path}/run", *SMALL, "--languages=de,nl"]
    assert main.main(["train", "acoustic/multilingual", *words]) == 1
    assert told in capsys.readouterr().err.splitlines()[-1]
    assert not os.path.exists(tmp_path / "run")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "de,nl --init=multi --replace_output=3",
            "--replace_output puts one softmax in place of all; train acoustic/dnn",
        ),
        (
            "nl,de --init=multi",
            "multi: has blocks of de,nl, but languages are nl,de; give --languages=de,",
        ),
        (
            "de,nl --labels=scp:{}_train/ali.scp",
            "add --set block_dims=N,N,...",
        ),
    ],
)
def test_what_does_not_fit_several_languages(
    folder, multilingual, monkeypatch, capsys, words, told
):
    monkeypatch.chdir(folder)
    sets = ["{}_train", "{}_cv"]
    flags = [f for f in SMALL if not f.startswith(("--hid", "--splice"))]
    words = [*sets, "-", *sets, "none", *flags, *f"--languages={words}".split()]
    assert main.main(["train", "acoustic/multilingual", *words]) == 1
    assert told in capsys.readouterr().err.splitlines()[-1]
    assert not os.path.exists("none")


def test_names_of_labels_or_tables_without_a_place_for_the_language(
    folder, monkeypatch, capsys
):
    monkeypatch.chdir(folder)
    sets = ["{}_train", "{}_cv", "-", "{}_train"]
    data = ["--feats=scp:{}_train/feats.scp", "--cv_feats=scp:nl_cv/feats.scp"]
    for words, name in (
        ([*sets, "nl_cv", "none"], "nl_cv"),
        ([*data, "--run_dir=none"], "scp:nl_cv/feats.scp"),
    ):
        words = [*words, *SMALL, "--languages=de,nl"]
        assert main.main(["train", "acoustic/multilingual", *words]) == 1
        told = capsys.readouterr().err.splitlines()[-1]
        assert f"{name}: of several languages; write {{}} where" in told
        assert not os.path.exists("none")


def test_names_of_data_without_a_place_for_the_language(folder, capsys):
    sets = [str(folder / "train"), str(folder / "cv")]
    words = [*sets, "-", *sets, str(folder / "none"), *SMALL, "--languages=de,nl"]
    assert main.main(["train", "acoustic/multilingual", *words]) == 1
    assert "write {} where the name of the language stands" in capsys.readouterr().err
    assert not os.path.exists(folder / "none")
