"""Finds the text of a language model's sets: statmt's shards, or any folder of text."""

import os
import re

from seqzoo.datasets.errors import InputError

SETS = ("train", "valid", "test")
"""What the sets are called, in order."""

TRAINING = "training-monolingual.tokenized.shuffled"
HELDOUT = "heldout-monolingual.tokenized.shuffled"
_TRAIN_SHARD = re.compile(r"news\.en-[0-9]+-of-[0-9]+")
_HELDOUT_SHARD = re.compile(r"news\.en\.heldout-[0-9]+-of-[0-9]+")

# Parts of a name that tell the set, as in ptb.valid.txt or wiki.test.tokens.
_SET_OF = {
    "train": "train",
    "training": "train",
    "valid": "valid",
    "validation": "valid",
    "dev": "valid",
    "heldout": "valid",
    "test": "test",
}
_TAKEN = (
    f"what is taken: {TRAINING}/news.en-000NN-of-00100 with "
    f"{HELDOUT}/news.en.heldout-000NN-of-00050, or text files with train and valid "
    "(and test) in their names or in their folders' names"
)


def find(folder: str) -> dict[str, list[str]]:
    """The text files of each set, in the order they are read.

    Two layouts are known. statmt's benchmark: all shards `news.en-000NN-of-00100`
    of the training folder are `train`; of the held-out shards the first is `test`,
    as in the literature, and the others are `valid`. The shard 00000 of the 100,
    which lies among the held-out ones, is those 50 once more and belongs to no set.
    Any other folder: text files, one sentence a line, whose names, or the names of
    the folders directly below `folder` they lie in, hold the word train, valid (or
    dev, heldout) or test; files that hold none are left alone.

    Args:
        folder: has the files, or is directly above the folder that has them.

    Returns:
        Set name -> paths sorted by name. `test` may be missing.

    Raises:
        InputError: if there is no training or no held-out text, or a file is packed.
    """
    if not os.path.isdir(folder):
        found = "a file" if os.path.exists(folder) else "nothing"
        raise InputError(f"{folder}: a folder of text is taken, {found} is there.")
    for root in (folder, *_folders(folder)):
        if os.path.isdir(os.path.join(root, TRAINING)):
            return _benchmark(root)
    sets: dict[str, list[str]] = {name: [] for name in SETS}
    for path in _files(folder):
        if name := _set_of(os.path.basename(path)):
            sets[name].append(path)
    for inner in _folders(folder):
        if name := _set_of(os.path.basename(inner)):
            sets[name] += _files(inner)
    return _checked(folder, sets)


def _benchmark(root: str) -> dict[str, list[str]]:
    train = _matching(os.path.join(root, TRAINING), _TRAIN_SHARD)
    heldout = _matching(os.path.join(root, HELDOUT), _HELDOUT_SHARD)
    sets = {"train": train, "valid": heldout[1:], "test": heldout[:1]}
    if len(heldout) == 1:
        sets = {"train": train, "valid": heldout, "test": []}
    return _checked(root, sets)


def _checked(folder: str, sets: dict[str, list[str]]) -> dict[str, list[str]]:
    if not sets["train"] and not sets["valid"]:
        raise InputError(f"{folder}: no text of a language model; {_TAKEN}.")
    if not sets["train"]:
        raise InputError(f"{folder}: no training text; {_TAKEN}.")
    if not sets["valid"]:
        raise InputError(f"{folder}: the held-out text is missing; {_TAKEN}.")
    for path in (path for paths in sets.values() for path in paths):
        if path.endswith((".gz", ".bz2", ".xz", ".zip", ".tgz", ".zst")):
            raise InputError(f"{path}: is packed; plain text is taken, so unpack it.")
    return {name: paths for name, paths in sets.items() if paths}


def _matching(folder: str, pattern: re.Pattern[str]) -> list[str]:
    if not os.path.isdir(folder):
        return []
    return [p for p in _files(folder) if pattern.fullmatch(os.path.basename(p))]


def _files(folder: str) -> list[str]:
    return [e.path for e in _entries(folder) if e.is_file()]


def _folders(folder: str) -> list[str]:
    return [e.path for e in _entries(folder) if e.is_dir()]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        shown = [entry for entry in entries if not entry.name.startswith(".")]
    return sorted(shown, key=lambda entry: entry.name)


def _set_of(name: str) -> str | None:
    words = re.split(r"[^a-z]+", name.lower())
    return next((_SET_OF[word] for word in words if word in _SET_OF), None)
