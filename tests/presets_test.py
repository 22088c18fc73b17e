"""Recipes by name, and the trained models that come along."""

import json
import pathlib
import re

import numpy as np
import pytest

from seqzoo.datasets import gbw, kjv
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.sentences import Sentences
from seqzoo.zoo import presets, registry
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import evaluate, make_preset, run_files, trained_model
from seqzoo.zoo.language.train_options import LanguageTrainOptions
from tests.language_runs import SMALL, train, write_text

_TRAINED = run_files.presets()
_SENTENCES = 60


@pytest.mark.parametrize("name", presets.PRESETS)
def test_recipes_are_settings_and_options(name):
    recipe = presets.PRESETS[name]
    registry.config(recipe.model, recipe.settings)
    LanguageTrainOptions(**recipe.training)


def test_the_recipes_of_the_billion_words():
    large = presets.PRESETS["gbw_4x2048"]
    config = registry.config(large.model, large.settings)
    assert config.hiddensize == (2048,) * 4
    assert (config.dropout, config.k, config.Z) == (0.2, 400, 1)
    assert large.training["momentum"] < 0
    small = presets.PRESETS["gbw_2x250"]
    assert registry.config(small.model, small.settings).hiddensize == (250, 250)
    for name, startlr in (("gbw_2x250", 1.0), ("gbw_4x2048", 0.7)):
        options = LanguageTrainOptions(**presets.PRESETS[name].training)
        assert options.startlr == startlr
        assert (options.minlr, options.saturate, options.cutoff) == (0.001, 300, 10)
        assert (options.trainsize, options.validsize) == (400_000, 40_000)


def test_recipes_that_are_not_there():
    with pytest.raises(InputError, match="did you mean gbw_2x250"):
        presets.preset("language/lstm", "gbw_2x25")
    with pytest.raises(InputError, match="one of language/lstm, not of language/rnn"):
        presets.preset("language/rnn", "gbw_2x250")
    with pytest.raises(InputError, match="no preset 'x'"):
        trained_model.read("preset:x")


def test_one_trained_model_comes_along():
    assert "kjv_2x128" in _TRAINED


@pytest.mark.parametrize("name", _TRAINED)
def test_a_trained_model_is_small_and_tells_of_itself(name):
    folder = pathlib.Path(run_files.folder(f"preset:{name}"))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert size <= 4_000_000
    about = json.loads((folder / "config.json").read_text())
    assert about["description"]
    card = (folder / "README.md").read_text()
    assert f"preset:{name}" in card and "icence" in card


def test_it_scores_the_bundled_text_as_its_card_says(tmp_path):
    folder = pathlib.Path(run_files.folder("preset:kjv_2x128"))
    found = trained_model.read("preset:kjv_2x128")
    cache = gbw.open_data(
        kjv.path(), str(tmp_path / "cache"), vocabulary=found.vocabulary
    )
    test = cache.sets["test"]
    stop = test.starts[_SENTENCES]
    some = Sentences(np.array(test.ids[:stop]), np.array(test.starts[: _SENTENCES + 1]))
    perplexity = evaluate.evaluate(found.model, some).perplexity
    card = (folder / "README.md").read_text()
    told = re.search(r"first 60 sentences of .*?: ([0-9.]+)\.", " ".join(card.split()))
    assert told and f"{perplexity:.2f}" == told[1]


def test_it_samples_and_tells_its_layers(capsys):
    words = ["--nsample=12", "--temperature=0", "--prompt", "And God said"]
    assert main.main(["sample", "preset:kjv_2x128", *words]) == 0
    text = capsys.readouterr().out
    assert text.startswith("And God said")
    assert len(text.split()) >= 10
    assert main.main(["info", "preset:kjv_2x128"]) == 0
    assert "lstm_2: 128 -> 128" in capsys.readouterr().out


def test_a_run_becomes_a_preset(tmp_path, monkeypatch):
    text = write_text(tmp_path / "text")
    run, made = tmp_path / "run", tmp_path / "presets" / "mine"
    assert train(text, run, *SMALL, "--maxepoch=1") == 0
    made.parent.mkdir()
    make_preset.make(str(run), str(made), "a small one")
    monkeypatch.setattr(run_files, "_PRESETS", made.parent)
    assert run_files.presets() == ["mine"]
    before, after = trained_model.read(str(run)), trained_model.read("preset:mine")
    assert after.about["description"] == "a small one"
    assert "data" not in after.about
    for name, weight in before.model.named_weights().items():
        found = after.model.named_weights()[name]
        np.testing.assert_allclose(found, weight, 1e-3, 1e-6)
    stored = made / "weights" / "best" / "output.linearity.npy"
    assert np.load(stored).dtype == np.float16
    with pytest.raises(InputError, match="is there already"):
        make_preset.make(str(run), str(made), "again")
