"""Every `seqzoo` command line that the documents show is one that works."""

import pathlib
import re
import shlex

import pytest

from seqzoo.zoo import registry
from seqzoo.zoo.commands import command_line, main

_ROOT = pathlib.Path(__file__).parents[1]
_FENCE = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.M | re.S)
_INLINE = re.compile(r"(?<!`)`(seqzoo [^`]+)`(?!`)")
_ENDS = {"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "&>"}


def _commands(text):
    """The words after each `seqzoo` of a fenced block, or of a `seqzoo ...` in text."""
    for line in _INLINE.findall(_FENCE.sub("", text)):
        yield from _of_line(line)
    for block in _FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if "seqzoo" in line and not line.lstrip().startswith("#"):
                yield from _of_line(line)


def _of_line(line):
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # Not a command line: a quote that never ends.
        return
    while words:
        end = next((i for i, word in enumerate(words) if word in _ENDS), len(words))
        command, words = words[:end], words[end + 1 :]
        while command and (command[0] == "$" or re.match(r"\w+=", command[0])):
            command = command[1:]
        if command and command[0].rsplit("/", 1)[-1] == "seqzoo":
            yield command[1:]


def _documented():
    for path in [_ROOT / "README.md", *sorted((_ROOT / "docs").glob("**/*.md"))]:
        for words in _commands(path.read_text(encoding="utf-8")):
            yield pytest.param(words, id=f"{path.name}: {shlex.join(words)}")


def _check(words):
    """Raises unless the words after `seqzoo` name a command and flags it has."""
    if words[:1] in (["--help"], ["--version"], ["help"]):
        return
    name, *rest = words
    if name in ("COMMAND", "CMD", "...", "…"):
        return
    assert name in main.COMMANDS, f"there is no command {name}"
    _, flags = main.load(name, rest)
    args = command_line.parse(rest, flags)
    if name == "train" and args and args[0] != "MODEL":
        registry.config(args[0], flags.set)


@pytest.mark.parametrize("words", list(_documented()))
def test_it_is_a_command_with_its_flags(words):
    _check(words)


def test_commands_are_found_in_a_document():
    text = """
Say `seqzoo info x`.

```sh
# seqzoo comment
$ seqzoo info a | head
cd x && A=1 .venv/bin/seqzoo copy --binary=false a \\
  - > b; seqzoo data "two words"
pip install seqzoo
```
"""
    assert list(_commands(text)) == [
        ["info", "x"],
        ["info", "a"],
        ["copy", "--binary=false", "a", "-"],
        ["data", "two words"],
    ]


@pytest.mark.parametrize("line", ["inf a", "copy --binry=false a b", "info --nce x"])
def test_a_command_that_does_not_exist_is_found(line):
    with pytest.raises((AssertionError, ValueError)):
        _check(line.split())
