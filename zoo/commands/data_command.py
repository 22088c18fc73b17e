"""`seqzoo data`: the corpora that come with the package, and one that is fetched."""

import os
from collections.abc import Callable

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line, common

USAGE = """
seqzoo data [NAME [DIR]]

Without a name, lists the corpora. With one, copies that corpus to DIR, or to data/NAME;
scp files of the copy hold DIR, so use them from where you are now, or give a full path.
A copy that is there already is kept. The billion-word benchmark (gbw) is fetched from
statmt.org instead; where that fails, its address, size and files are printed, and a
download that was stopped goes on.
"""

_CORPORA = {
    "prompts": "CC BY-SA 3.0; telephone prompts in English, Spanish and French: "
    "features, alignments, Kaldi nnet1's figures",
    "kjv": "public domain; the King James Bible as text for language models, 883 "
    "thousand words, laid out as the billion-word benchmark",
    "gbw": "to be fetched; the billion-word benchmark of news, about 4 GB unpacked",
}


def define(flag_values: absl.flags.FlagValues) -> None:
    """There are no flags of its own."""


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Lists, copies or fetches."""
    common.check_args(args, 0, 2, "give a corpus and a directory for it")

    from seqzoo.datasets import gbw_fetch, kjv, prompts

    if not args:
        sizes = {
            "prompts": _megabytes(prompts.path()),
            "kjv": _megabytes(kjv.path()),
            "gbw": gbw_fetch.BYTES / 1e6,
        }
        for name, about in _CORPORA.items():
            print(f"{name:7}  {sizes[name]:.1f} MB; {about}")
        return
    name = args[0]
    if name not in _CORPORA:
        near = command_line.nearest(name, _CORPORA)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(_CORPORA)}."
        raise InputError(f"no corpus {name!r}; {hint}")
    directory = args[1] if len(args) > 1 else os.path.join("data", name)
    get: dict[str, Callable[[str], str]] = {
        "prompts": prompts.copy_to,
        "kjv": kjv.copy_to,
        "gbw": _fetch,
    }
    print(get[name](directory))


def _fetch(directory: str) -> str:
    from seqzoo.datasets import gbw_fetch

    try:
        return gbw_fetch.fetch(directory)
    except InputError:
        print(gbw_fetch.instructions(directory))
        raise


def _megabytes(directory: str) -> float:
    return (
        sum(
            os.path.getsize(os.path.join(folder, file))
            for folder, _, files in os.walk(directory)
            for file in files
        )
        / 1e6
    )
