"""Caches of characters: of each set its text as one sequence of ids."""

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from seqzoo.datasets import (
    character_text,
    gbw_cache,
    gbw_pieces,
    gbw_sources,
    gbw_torch,
)
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_cache import Cache
from seqzoo.datasets.gbw_pieces import Range
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences


def open_data(
    folder: str,
    cache: str | None = None,
    *,
    vocabulary: Vocabulary | None = None,
    vocabulary_of: str = "the model",
) -> Cache:
    """Opens the sets of a folder as characters; makes their cache if there is none.

    The files of a set stand one behind the other, line ends and blanks as they are.
    The vocabulary is the characters of the training text, the most frequent first; no
    marks are among them.

    Args:
        folder: of text, as `gbw_sources.find` takes it, in UTF-8; or a cache.
        cache: where the cache is, or is to be made; None only if `folder` is one.
        vocabulary: the ids to use, say those of a model; its counts are made anew.
        vocabulary_of: names whose vocabulary it is, in errors.

    Raises:
        InputError: about the data, also for a character that the vocabulary lacks.
    """
    if gbw_cache.is_cache(folder):
        found = gbw_cache.load(folder)
        if not found.characters:
            raise InputError(
                f"{folder}: is a cache of words, and characters are to be read; give "
                "the folder of the text."
            )
    elif cache is None:
        raise InputError(f"{folder}: no cache; give the folder where to make it.")
    elif os.path.isdir(folder) and gbw_torch.is_torch_set(folder):
        raise InputError(
            f"{folder}: is a set of words of Torch, and characters are to be read; "
            "give a folder of text."
        )
    else:
        found = _build(folder, cache.rstrip("/") or cache, vocabulary, vocabulary_of)
    if vocabulary is not None:
        where = os.path.join(found.folder, gbw_cache.VOCABULARY)
        found.vocabulary.check_same(vocabulary, where, vocabulary_of)
    return found


def _build(
    folder: str, cache: str, given: Vocabulary | None, vocabulary_of: str
) -> Cache:
    sources = gbw_sources.find(folder)
    told = _told(folder, sources, given)
    if os.path.lexists(cache):
        gbw_cache.check_ours(cache)
        if _holds(cache, folder, told):
            return gbw_cache.load(cache)
    for entry in _files(told):
        path = os.path.join(folder, entry["file"])
        entry["crc32"] = gbw_pieces.crc32(Range(path, 0, entry["bytes"]))
    vocabulary = character_text.count(
        text for path in sources["train"] for text in _read(path)
    )
    lacks = "the training text does not have"
    if given is not None:
        lacks = f"{vocabulary_of} does not know"
        counts = dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))
        again = [counts.get(character, 0) for character in given.words]
        vocabulary = Vocabulary(given.words, np.array(again, np.int64))
    sets = {name: _parts(paths, vocabulary, lacks) for name, paths in sources.items()}
    return gbw_cache.write(cache, vocabulary, sets, told, characters=True)


def _read(path: str) -> Iterator[str]:
    return character_text.read(path, allow_pipes=False)


def _parts(
    paths: Sequence[str], vocabulary: Vocabulary, lacks: str
) -> Iterator[Sentences]:
    """One sequence in parts: the first begins it, and the others only go on."""
    total = 0
    for path in paths:
        for ids in character_text.encode(vocabulary, _read(path), path, lacks):
            yield Sentences(ids, np.array([len(ids)] if total else [0, len(ids)]))
            total += len(ids)
    if total < 2:
        raise InputError(
            f"{paths[0]}: {total} characters in this set; two or more are taken."
        )


def _told(
    folder: str, sources: Mapping[str, Sequence[str]], given: Vocabulary | None
) -> dict[str, Any]:
    """What a cache depends on, but for the text itself."""
    words = None
    if given is not None:
        text = "\n".join(given.words)
        words = zlib.crc32(text.encode("utf-8", "surrogateescape"))
    files = {
        name: [
            {
                "file": os.path.relpath(path, folder),
                "bytes": os.path.getsize(path),
                "mtime_ns": os.stat(path).st_mtime_ns,
            }
            for path in paths
        ]
        for name, paths in sources.items()
    }
    return {"tokens": "characters", "words_crc32": words, "sources": files}


def _files(told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for entries in told["sources"].values():
        yield from entries


def _holds(cache: str, folder: str, told: Mapping[str, Any]) -> bool:
    """Whether the cache is one of this text."""
    if not gbw_cache.is_cache(cache):
        return False
    before = gbw_cache.manifest(cache).get("made_of")
    if not isinstance(before, dict) or before.get("tokens") != told["tokens"]:
        return False
    if before["words_crc32"] != told["words_crc32"]:
        return False
    if _names(before) != _names(told):
        return False
    for then, now in zip(_files(before), _files(told), strict=True):
        if then["mtime_ns"] != now["mtime_ns"]:
            where = Range(os.path.join(folder, now["file"]), 0, now["bytes"])
            if gbw_pieces.crc32(where) != then["crc32"]:
                return False
    return True


def _names(told: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    return [
        (name, entry["file"], entry["bytes"])
        for name, entries in told["sources"].items()
        for entry in entries
    ]
