"""Sentences as word ids on disk, mapped to memory.

A cache is a folder: `vocabulary.txt` (`word count` a line, the word of id `i` on line
`i`), and of each set `SET.ids` (int32) and `SET.starts` (int64), little-endian, as in
`Sentences`; `manifest.json` tells their sizes and checksums, and what they are made of.
It takes its name when it is whole.
"""

import contextlib
import dataclasses
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from seqzoo.datasets import gbw_pieces
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_pieces import Range
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences

_FORMAT = "seqzoo sentences 1"
_MANIFEST, _VOCABULARY = "manifest.json", "vocabulary.txt"


@dataclasses.dataclass(frozen=True)
class Cache:
    """A cache that is open.

    Attributes:
        folder: where it is.
        vocabulary: of all sets.
        sets: "train", "valid" and mostly "test" -> sentences, mapped to memory.
        manifest: what was read and counted on the way.
    """

    folder: str
    vocabulary: Vocabulary
    sets: Mapping[str, Sentences]
    manifest: Mapping[str, Any]


def write(cache: str, vocabulary: Vocabulary, sets: Mapping[str, Sentences]) -> Cache:
    """Makes a cache of sentences that are numbers already, as those of a Torch set.

    Args:
        cache: the folder to make; it must not be there.
        vocabulary: the words of the ids.
        sets: "train", "valid" and mostly "test".

    Raises:
        InputError: if the folder is there, or an id is not in the vocabulary.
    """
    if os.path.lexists(cache):
        raise InputError(f"{cache}: is there already; remove it, or give another name.")
    for name, sentences in sets.items():
        ids = sentences.ids
        if not len(ids):
            raise InputError(f"{cache}: there is no sentence for the set {name}.")
        low, high = int(ids.min()), int(ids.max())
        if low < 1 or high > len(vocabulary):
            raise InputError(
                f"{cache}: ids {low} to {high} in the set {name}, but the vocabulary "
                f"has 1 to {len(vocabulary)}; they do not belong together."
            )
    work = f"{cache}.partial"
    shutil.rmtree(work, ignore_errors=True)
    try:
        os.makedirs(work)
        with made(work, cache) as folder:
            entries = {}
            for name, sentences in sets.items():
                with Writer(folder, name) as writer:
                    writer.add(sentences.ids, sentences.starts[:-1])
                entries[name] = {**writer.entry(), "skipped": sentences.skipped}
            finish(folder, vocabulary, {"sets": entries})
        shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise InputError(
            f"{cache}: cannot make it: {error.strerror or error}."
        ) from None
    return load(cache)


def is_cache(folder: str) -> bool:
    """Whether `folder` is what `build` and `write` make."""
    try:
        return manifest(folder)["format"] == _FORMAT
    except (OSError, ValueError, LookupError, TypeError):
        return False


def manifest(folder: str) -> dict[str, Any]:
    """What a cache tells of itself."""
    with open(os.path.join(folder, _MANIFEST), encoding="utf-8") as file:
        return json.load(file)


def load(folder: str, verify: bool = False) -> Cache:
    """Opens a cache; sizes are checked, and checksums where `verify` is True.

    Raises:
        InputError: if it is none, or a file is missing, cut off or changed.
    """
    if not is_cache(folder):
        raise InputError(
            f"{folder}: not a cache of sentences (no {_MANIFEST} of ours); "
            "make one of the folder of text."
        )
    told = manifest(folder)
    for name, entry in told["files"].items():
        path = os.path.join(folder, name)
        size = os.path.getsize(path) if os.path.exists(path) else None
        if size != entry["bytes"]:
            found = "is missing" if size is None else f"has {size} bytes"
            raise InputError(
                f"{path}: {found}, {entry['bytes']} belong there; remove {folder} and "
                "make it again."
            )
        if verify and _file_crc32(path) != entry["crc32"]:
            raise InputError(f"{path}: was changed; remove {folder} and make it again.")
    vocabulary = Vocabulary.load(os.path.join(folder, _VOCABULARY))
    sets = {
        name: Sentences(
            np.memmap(os.path.join(folder, f"{name}.ids"), "<i4", "r"),
            np.memmap(os.path.join(folder, f"{name}.starts"), "<i8", "r"),
            entry.get("skipped", 0),
        )
        for name, entry in told["sets"].items()
    }
    return Cache(folder, vocabulary, sets, told)


@contextlib.contextmanager
def made(work: str, cache: str) -> Iterator[str]:
    """A folder that takes the name `cache` at the end, in place of one there."""
    made, old = os.path.join(work, "cache"), os.path.join(work, "old")
    for path in (made, old):
        shutil.rmtree(path, ignore_errors=True)
    os.mkdir(made)
    yield made
    if os.path.isdir(cache):
        os.rename(cache, old)
    os.rename(made, cache)


class Writer:
    """Writes the two files of a set, piece by piece, and counts."""

    def __init__(self, folder: str, name: str):
        self._paths = [
            os.path.join(folder, f"{name}.{end}") for end in ("ids", "starts")
        ]
        self._sentences = self._ids = 0

    def __enter__(self) -> "Writer":
        self._files = [open(path, "wb") for path in self._paths]
        return self

    def add(self, ids: np.ndarray, starts: np.ndarray) -> None:
        """Appends sentences; `starts` count from the first of `ids`."""
        self._files[0].write(np.ascontiguousarray(ids, "<i4").data)
        self._files[1].write(np.asarray(starts + self._ids, "<i8").data)
        self._ids += len(ids)
        self._sentences += len(starts)

    def __exit__(self, *error: object) -> None:
        self._files[1].write(np.array([self._ids], "<i8").data)
        for file in self._files:
            file.close()

    def entry(self) -> dict[str, int]:
        """What the manifest tells of the set."""
        return {"sentences": self._sentences, "ids": self._ids}


def finish(folder: str, vocabulary: Vocabulary, about: dict[str, Any]) -> None:
    vocabulary.save(os.path.join(folder, _VOCABULARY))
    files = {
        name: {
            "bytes": os.path.getsize(os.path.join(folder, name)),
            "crc32": _file_crc32(os.path.join(folder, name)),
        }
        for name in sorted(os.listdir(folder))
    }
    about = {"format": _FORMAT, "words": len(vocabulary), "files": files, **about}
    with open(os.path.join(folder, _MANIFEST), "w", encoding="utf-8") as file:
        json.dump(about, file, indent=1)


def _file_crc32(path: str) -> int:
    return gbw_pieces.crc32(Range(path, 0, os.path.getsize(path)))
