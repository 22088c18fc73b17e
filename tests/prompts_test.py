import os
import pathlib

import numpy as np
import pytest

from seqzoo.datasets import prompts, tables
from seqzoo.datasets.errors import InputError


def test_the_corpus_lies_in_the_package():
    assert sorted(os.listdir(prompts.path("es"))) == [
        "ali_train_pdf.counts",
        "cv",
        "lexicon.txt",
        "pdfs.txt",
        "phones.txt",
        "test",
        "train",
    ]
    assert os.path.exists(os.path.join(prompts.path(), "LICENSE.txt"))


def test_recorded_figures():
    english = prompts.recorded("en")
    assert english["pdfs"] == 117
    assert english["cv"] == {"xent": 0.969288, "accuracy": 69.79}
    assert prompts.recorded()["settings"]["splice"] == 5
    assert set(prompts.recorded()["languages"]) == set(prompts.LANGUAGES)


def test_unknown_language():
    with pytest.raises(InputError, match="no language 'ens'; .* Did you mean en?"):
        prompts.path("ens")


@pytest.mark.parametrize("absolute", [False, True])
def test_a_copy_is_read_from_the_current_directory(absolute, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = str(tmp_path / "data/prompts") if absolute else "data/prompts"
    assert prompts.copy_to(target) == target
    assert os.listdir("data") == ["prompts"]
    scp = pathlib.Path(target, "fr/cv/feats.scp").read_text().splitlines()
    assert all(line.split()[1].startswith(f"{target}/fr/cv/") for line in scp)
    total = 0
    for key, feats in tables.read(f"scp:{target}/fr/cv/feats.scp", "matrix"):
        assert key.startswith("june-fr-")
        assert feats.shape[1] == 40
        assert np.isfinite(feats).all()
        total += len(feats)
    assert total == 2999


def test_a_copy_that_is_there_is_kept_and_other_things_are_not_touched(tmp_path):
    target = tmp_path / "p"
    prompts.copy_to(str(target))
    (target / "mine").touch()
    prompts.copy_to(str(target))
    assert (target / "mine").exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    with pytest.raises(InputError, match="not a copy of the prompts"):
        prompts.copy_to(str(other))
    with pytest.raises(InputError, match="not a copy of the prompts"):
        prompts.copy_to(str(other / "file"))
    assert os.listdir(other) == ["file"]
