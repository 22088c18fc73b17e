"""`seqzoo train acoustic/multilingual`: a block for each language, and one alone."""

import json
import os
import pathlib

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


def test_names_of_data_without_a_place_for_the_language(folder, capsys):
    sets = [str(folder / "train"), str(folder / "cv")]
    words = [*sets, "-", *sets, str(folder / "none"), *SMALL, "--languages=de,nl"]
    assert main.main(["train", "acoustic/multilingual", *words]) == 1
    assert "write {} where the name of the language stands" in capsys.readouterr().err
    assert not os.path.exists(folder / "none")
