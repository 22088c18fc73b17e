"""The example of docs/language_layers.md runs as it stands."""

import pathlib
import re

from seqzoo import layers

_PAGE = pathlib.Path(__file__).parents[1] / "docs" / "language_layers.md"


def test_the_example_runs(capsys):
    (code,) = re.findall(
        r"^```python\n(.*?)^```", _PAGE.read_text("utf-8"), re.M | re.S
    )
    exec(compile(code, str(_PAGE), "exec"), {"__name__": "example"})
    printed = capsys.readouterr().out
    (perplexity,) = re.findall(r"softmax: ([\d.]+)", printed)
    # 5,000 at the start; below 1,000 it has learned which words are frequent.
    assert 1 < float(perplexity) < 1000


def test_the_page_names_what_there_is():
    table = _PAGE.read_text("utf-8").split("\n## ")[0]
    names = set(re.findall(r"`(\w+)[(`]", table.replace("`k`", "")))
    assert {"NCE", "RowSGD", "given_losses", "full_softmax_losses"} <= names
    assert [name for name in names - {"compile"} if not hasattr(layers, name)] == []
