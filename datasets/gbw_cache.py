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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from seqzoo.datasets import gbw_pieces
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_pieces import Range
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences

_FORMAT = "seqzoo sentences 1"
_MANIFEST, VOCABULARY = "manifest.json", "vocabulary.txt"


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

    @property
    def characters(self) -> bool:
        """Whether the ids are those of characters, and each set is one sequence."""
        return _has_characters(self.manifest)


def write(
    cache: str,
    vocabulary: Vocabulary,
    sets: Mapping[str, Iterable[Sentences]],
    made_of: Any = None,
    characters: bool = False,
) -> Cache:
    """Makes a cache of sentences that are numbers already.

    Args:
        cache: the folder to make; a cache that is there is replaced.
        vocabulary: the words of the ids.
        sets: "train", "valid" and mostly "test" -> the parts of the set, in order. A
            part whose first sentence does not begin at 0 goes on with the last one.
        made_of: what the manifest tells of the sources.
        characters: whether the words are characters.

    Raises:
        InputError: if something else is there, a set is empty, or an id is not in the
            vocabulary.
    """
    if os.path.lexists(cache):
        check_ours(cache)
    work = f"{cache}.partial"
    try:
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        with made(work, cache) as folder:
            entries = {}
            for name, parts in sets.items():
                with Writer(folder, name) as writer:
                    skipped = 0
                    for part in parts:
                        _check_ids(cache, name, part.ids, vocabulary)
                        writer.add(part.ids, part.starts[:-1])
                        skipped += part.skipped
                entries[name] = {**writer.entry(), "skipped": skipped}
                if not entries[name]["ids"]:
                    raise InputError(f"{cache}: no sentence for the set {name}.")
            tokens = {"tokens": "characters"} if characters else {}
            about = {"sets": entries, **tokens, "made_of": made_of}
            finish(folder, vocabulary, about)
        shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise InputError(
            f"{cache}: cannot make it: {error.strerror or error}."
        ) from None
    return load(cache)


def _check_ids(cache: str, name: str, ids: np.ndarray, vocabulary: Vocabulary) -> None:
    if not len(ids):
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 1 or high > len(vocabulary):
        raise InputError(
            f"{cache}: ids {low} to {high} in the set {name}, but the vocabulary has "
            f"1 to {len(vocabulary)}; they do not belong together."
        )


def check_ours(folder: str) -> None:
    """Raises an InputError if the folder holds something else than a cache."""
    if is_cache(folder) or (os.path.isdir(folder) and not os.listdir(folder)):
        return
    raise InputError(
        f"{folder}: there is something else than a cache; give another folder."
    )


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
    vocabulary = Vocabulary.load(
        os.path.join(folder, VOCABULARY), _has_characters(told)
    )
    sets = {
        name: Sentences(
            np.memmap(os.path.join(folder, f"{name}.ids"), "<i4", "r"),
            np.memmap(os.path.join(folder, f"{name}.starts"), "<i8", "r"),
            entry.get("skipped", 0),
        )
        for name, entry in told["sets"].items()
    }
    return Cache(folder, vocabulary, sets, told)


def _has_characters(told: Mapping[str, Any]) -> bool:
    return told.get("tokens") == "characters"


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
    vocabulary.save(os.path.join(folder, VOCABULARY))
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
