"""`seqzoo data`: the corpora that come with the package."""

import os

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line, common

USAGE = """
seqzoo data [NAME [DIR]]

Without a name, lists the corpora that come with the package. With one, copies that
corpus to DIR, or to data/NAME; scp files of the copy hold DIR, so use them from where
you are now, or give a full path. A copy that is there already is kept.
"""

_CORPORA = {
    "prompts": "CC BY-SA 3.0; telephone prompts in English, Spanish and French: "
    "features, alignments, Kaldi nnet1's figures",
}


def define(flag_values: absl.flags.FlagValues) -> None:
    """There are no flags of its own."""


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Lists or copies."""
    common.check_args(args, 0, 2, "give a corpus and a directory for it")

    from seqzoo.datasets import prompts

    if not args:
        size = _megabytes(prompts.path())
        print(f"prompts  {size:.1f} MB; {_CORPORA['prompts']}")
        return
    name = args[0]
    if name not in _CORPORA:
        near = command_line.nearest(name, _CORPORA)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(_CORPORA)}."
        raise InputError(f"no corpus {name!r}; {hint}")
    directory = args[1] if len(args) > 1 else os.path.join("data", name)
    print(prompts.copy_to(directory))


def _megabytes(directory: str) -> float:
    return (
        sum(
            os.path.getsize(os.path.join(folder, file))
            for folder, _, files in os.walk(directory)
            for file in files
        )
        / 1e6
    )
