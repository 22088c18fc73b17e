"""The Python examples in the documents run as they stand."""

import os
import pathlib
import re

import pytest

from seqzoo.datasets import prompts
from seqzoo.zoo.commands import main

_DOCS = pathlib.Path(__file__).parents[1] / "docs"
_FENCE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
_PAGES = (
    "fine_tuning.md",
    "kaldi.md",
    "keras.md",
    "language_models.md",
    "torch.md",
    "training.md",
)
_UTTERANCES = 40


def _examples():
    for page in _PAGES:
        text = (_DOCS / page).read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            heading = re.findall(r"^#+ (.*)", text[: match.start()], re.M)[-1]
            line = text[: match.start()].count("\n") + 1
            # So many lines in front that an error names the line of the page.
            code = "\n" * line + match[1]
            yield pytest.param(page, code, id=f"{page}:{line} {heading}")


@pytest.fixture(scope="module")
def exp(tmp_path_factory):
    """What the pages say is there: some of the bundled prompts, and a run on them."""
    folder = tmp_path_factory.mktemp("docs")
    before = os.getcwd()
    os.chdir(folder)
    try:
        english = pathlib.Path(prompts.copy_to("exp/prompts")) / "en"
        for name in ("train", "cv"):
            scp = english / name / "feats.scp"
            lines = scp.read_text(encoding="utf-8").splitlines(keepends=True)
            scp.write_text("".join(lines[:_UTTERANCES]), encoding="utf-8")
        sets = [f"{english}/{name}" for name in ("train", "cv", "", "train", "cv")]
        flags = ["--hid-layers=2", "--hid-dim=32", "--max-iters=1", "--verbose=-1"]
        cmvn = "--cmvn-opts=--norm-means=true --norm-vars=true"
        assert main.main(["train", "acoustic/dnn", *flags, cmvn, *sets, "exp/dnn"]) == 0
    finally:
        os.chdir(before)
    return folder / "exp"


@pytest.mark.parametrize("page, code", list(_examples()))
def test_an_example_runs(exp, tmp_path, monkeypatch, capsys, page, code):
    (tmp_path / "exp").symlink_to(exp)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(_DOCS / page), "exec"), {"__name__": "example"})
    printed = capsys.readouterr().out
    assert printed
    assert "nan" not in printed.split()
