"""The page on Torch7 names what Torch's scripts have, and what is here."""

import inspect
import pathlib
import re

import pytest

from seqzoo import layers
from seqzoo.zoo.commands import main

_PAGE = (pathlib.Path(__file__).parents[1] / "docs" / "torch.md").read_text("utf-8")
_FLAGS = (
    "startlr minlr saturate schedule momentum maxnormout cutoff maxepoch earlystop "
    "uniform k Z rownoise seqlen inputsize hiddensize projsize dropout batchsize "
    "trainsize validsize cuda device profile progress silent continue savepath id tiny "
    "dontsave"
).split()
_MODULES = (
    "LookupTableMaskZero SeqLSTM SeqLSTMP SeqGRU FastLSTM LSTM Sequencer Recursor "
    "MaskZero MaskZeroCriterion SequencerCriterion SplitTable ZipTable ParallelTable "
    "Identity Serial mediumSerial NCEModule NCECriterion AliasMultinomial GPU Convert "
    "MultiCudaTensor Dropout Linear SoftMax Concat multicuda optim"
).split()
_SCRIPTS = (
    "noise-contrastive-estimate.lua multigpu-nce-rnnlm.lua evaluate-rnnlm.lua "
    "recurrent-language-model.lua"
).split()
_LOADING = "loadGBW MultiSequence SequenceLoader sub subiter reset randseq".split()
_LOG = "opt dataset vocab model criterion targetmodule trainnceloss valnceloss".split()


def _section(title):
    return _PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def _rows(title):
    """The cells of a section's tables."""
    lines = re.findall(r"^\| (.*) \|$", _section(title), re.M)
    return [line.split(" | ") for line in lines if not line.startswith("--")]


@pytest.mark.parametrize("flag", _FLAGS)
def test_every_flag_of_torch_is_told_of_and_taken(flag):
    assert any(f"`--{flag}`" in row[0] for row in _rows("Flags of training"))
    for model in ("language/lstm", "language/rnn"):
        assert flag in main.load("train", [model])[1]


def test_other_flags_that_are_named_are_taken():
    text = _section("Flags of training").split("Flags that Torch has not:")[1]
    named = re.findall(r"`--(\w+)`", text.split(";")[0])
    assert len(named) > 10
    assert not set(named) - set(main.load("train", ["language/lstm"])[1])


@pytest.mark.parametrize(
    "title, names",
    [
        ("Scripts", _SCRIPTS),
        ("Modules", _MODULES),
        ("Data", _LOADING),
        ("Files", _LOG),
        ("Flags of evaluation", "xplogpath nsample temperature dumpcsv".split()),
    ],
)
def test_every_name_of_torch_is_told_of(title, names):
    cells = " ".join(row[0] for row in _rows(title))
    assert [name for name in names if not re.search(rf"\b{name}\b", cells)] == []


def test_the_layers_that_are_named_are_there():
    cells = " ".join(row[1] for row in _rows("Modules"))
    calls = re.findall(r"`(\w+)(?:\(([^`]*)\))?", cells)
    named = [(name, rest) for name, rest in calls if hasattr(layers, name)]
    assert len({name for name, _ in named}) >= 12
    for name, arguments in named:
        keywords = re.findall(r"(\w+)=", arguments or "")
        found = getattr(layers, name)
        known = (
            {
                argument
                for base in inspect.getmro(found)
                for argument in inspect.signature(base).parameters
            }
            if inspect.isclass(found)
            else set(inspect.signature(found).parameters)
        )
        assert not set(keywords) - known, name


def test_links_lead_somewhere():
    titles = re.findall(r"^##+ (.*)$", _PAGE, re.M)
    slugs = {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}
    for target in re.findall(r"\]\((?!http)([^)]+)\)", _PAGE):
        page, _, anchor = target.partition("#")
        if page:
            assert (pathlib.Path(__file__).parents[1] / "docs" / page).exists()
        else:
            assert anchor in slugs
