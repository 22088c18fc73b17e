"""Makes a cache of a folder of text, in one pass.

It is made in a folder beside it, `CACHE.partial`. The pieces read so far (see
gbw_pieces.py) lie there, so a run that was stopped goes on from them. Meanwhile the
disk holds the ids twice. Memory holds a piece and its words, the vocabulary, and
`gbw_vocabulary.MOST_TYPES` words that are being counted, however long the text is.
"""

import concurrent.futures
import contextlib
import fcntl
import itertools
import json
import logging
import multiprocessing
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tqdm

from seqzoo.datasets import gbw_cache, gbw_pieces, gbw_sources, gbw_vocabulary
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_cache import Cache
from seqzoo.datasets.gbw_pieces import Piece, Range
from seqzoo.datasets.gbw_vocabulary import Vocabulary

_LOG = logging.getLogger(__name__)


def build(
    folder: str,
    cache: str,
    *,
    min_count: int = 3,
    vocabulary: Vocabulary | None = None,
    processes: int = 1,
    progress: bool | None = None,
    piece_bytes: int = gbw_pieces.PIECE_BYTES,
    most_types: int = gbw_vocabulary.MOST_TYPES,
) -> Cache:
    """The cache of a folder of text; one that is there and still holds is opened.

    Args:
        folder: of text, as `gbw_sources.find` takes it.
        cache: the folder to make. A cache there of other text, or of the same text in
            another state, is made anew; anything else there is an error.
        min_count: how often a word must come in the training text; rarer ones are
            `<UNK>`.
        vocabulary: takes the place of the words of the text, say that of a model; its
            counts are made anew.
        processes: that read at the same time. More than one start anew as `spawn`
            does, so a script must guard its start by `if __name__ == "__main__"`.
        progress: whether a bar is shown; None: on a terminal.
        piece_bytes: of text that one process reads at a time.
        most_types: different words to count in memory.

    Raises:
        InputError: about the text (file and line), or if the folder cannot be made.
    """
    cache = cache.rstrip("/") or cache
    sources = gbw_sources.find(folder)
    ranges = {
        name: [gbw_pieces.ranges(path, piece_bytes) for path in paths]
        for name, paths in sources.items()
    }
    told = _told(folder, ranges, min_count, vocabulary)
    if os.path.lexists(cache):
        if _holds(cache, folder, told):
            shutil.rmtree(f"{cache}.partial", ignore_errors=True)
            return gbw_cache.load(cache)
    try:
        with _work_folder(f"{cache}.partial", told) as work:
            _read_pieces(work, ranges, processes, progress)
            _check_sentences(work, ranges)
            words = _vocabulary(
                work, ranges["train"], min_count, vocabulary, most_types
            )
            with gbw_cache.made(work, cache) as made:
                _write_sets(work, made, ranges, words, told, progress)
        shutil.rmtree(f"{cache}.partial", ignore_errors=True)
    except OSError as error:
        raise InputError(
            f"{cache}: cannot make it: {error.strerror or error}."
        ) from None
    return gbw_cache.load(cache)


_Ranges = Mapping[str, list[list[Range]]]  # Set -> files -> pieces.


def _told(
    folder: str, ranges: _Ranges, min_count: int, vocabulary: Vocabulary | None
) -> dict[str, Any]:
    """What a cache depends on, but for the text itself."""
    words = None
    if vocabulary is not None:
        words = zlib.crc32("\n".join(vocabulary.words).encode())
    sources = {
        name: [
            {
                "file": os.path.relpath(pieces[0].path, folder),
                "bytes": pieces[-1].end,
                "mtime_ns": os.stat(pieces[0].path).st_mtime_ns,
                "ends": [piece.end for piece in pieces],
            }
            for pieces in files
        ]
        for name, files in ranges.items()
    }
    return {"min_count": min_count, "words_crc32": words, "sources": sources}


def _holds(cache: str, folder: str, told: dict[str, Any]) -> bool:
    """Whether the cache is one of this text; raises if it is no cache at all."""
    gbw_cache.check_ours(cache)
    if not gbw_cache.is_cache(cache):
        return False
    before = gbw_cache.manifest(cache).get("made_of")
    if not isinstance(before, dict) or before.keys() != told.keys():
        return False
    if any(before[key] != told[key] for key in ("min_count", "words_crc32")):
        return False
    if before["sources"].keys() != told["sources"].keys():
        return False
    for name, now in told["sources"].items():
        then = before["sources"][name]
        if [(f["file"], f["bytes"]) for f in then] != [
            (f["file"], f["bytes"]) for f in now
        ]:
            return False
        for old, new in zip(then, now, strict=True):
            if old["mtime_ns"] != new["mtime_ns"] and not _same_text(folder, old):
                return False
    return True


def _same_text(folder: str, entry: Mapping[str, Any]) -> bool:
    path, start = os.path.join(folder, entry["file"]), 0
    for end, found in zip(entry["ends"], entry["crc32"], strict=True):
        if gbw_pieces.crc32(Range(path, start, end)) != found:
            return False
        start = end
    return True


@contextlib.contextmanager
def _work_folder(work: str, told: dict[str, Any]) -> Iterator[str]:
    """The folder of a run, with what an earlier one of the same text left there."""
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{work}: another process is making this cache; wait for it."
            ) from None
        path = os.path.join(work, "made_of.json")
        text = json.dumps(told)
        if not os.path.exists(path) or _text(path) != text:
            for name in os.listdir(work):
                if name.endswith((".npz", ".part", ".json")):
                    os.remove(os.path.join(work, name))
            with open(f"{path}.part", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(f"{path}.part", path)
        yield work


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _piece_path(work: str, where: Range) -> str:
    name = f"{zlib.crc32(where.path.encode()):08x}-{where.start:015d}.npz"
    return os.path.join(work, name)


def _read_pieces(
    work: str, ranges: _Ranges, processes: int, progress: bool | None
) -> None:
    all_pieces = [p for files in ranges.values() for pieces in files for p in pieces]
    wanted = [p for p in all_pieces if not os.path.exists(_piece_path(work, p))]
    if len(wanted) < len(all_pieces):
        _LOG.info(
            "%s: going on after %d of %d pieces",
            work,
            len(all_pieces) - len(wanted),
            len(all_pieces),
        )
    bar = _bar("reading text", sum(p.end - p.start for p in all_pieces), "B", progress)
    bar.update(bar.total - sum(p.end - p.start for p in wanted))
    with bar:
        for where in _each(work, wanted, processes):
            bar.update(where.end - where.start)


def _each(work: str, wanted: list[Range], processes: int) -> Iterator[Range]:
    if processes <= 1 or len(wanted) <= 1:
        for where in wanted:
            yield _read_piece(work, where)
        return
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(processes, context) as pool:
        try:
            tasks = [pool.submit(_read_piece, work, where) for where in wanted]
            for task in concurrent.futures.as_completed(tasks):
                yield task.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _read_piece(work: str, where: Range) -> Range:
    gbw_pieces.read(where).save(_piece_path(work, where))
    return where


def _check_sentences(work: str, ranges: _Ranges) -> None:
    for pieces in (pieces for files in ranges.values() for pieces in files):
        found = (Piece.load(_piece_path(work, p), with_ids=False) for p in pieces)
        if not any(piece.counts[gbw_pieces.START] for piece in found):
            raise InputError(f"{pieces[0].path}: holds no word, only blank lines.")


def _vocabulary(
    work: str,
    train: list[list[Range]],
    min_count: int,
    given: Vocabulary | None,
    most_types: int,
) -> Vocabulary:
    sentences = 0

    def pieces() -> Iterator[tuple[list[bytes], list[int]]]:
        nonlocal sentences
        for where in (where for files in train for where in files):
            piece = Piece.load(_piece_path(work, where), with_ids=False)
            sentences += int(piece.counts[gbw_pieces.START])
            yield piece.words, piece.counts[gbw_pieces.FIRST_WORD :].tolist()

    counted = gbw_vocabulary.total(pieces(), work, most_types)
    if given is not None:
        return gbw_vocabulary.recount(given, counted, lambda: sentences)
    return gbw_vocabulary.make(counted, lambda: sentences, min_count)


def _write_sets(
    work: str,
    made: str,
    ranges: _Ranges,
    vocabulary: Vocabulary,
    told: dict[str, Any],
    progress: bool | None,
) -> None:
    """Renumbers the pieces by the vocabulary, one after another."""
    ids_of = {word.encode(): number for word, number in vocabulary.ids.items()}
    unknown, marks = vocabulary.unknown, (vocabulary.start, vocabulary.end)
    sets = {}
    total = sum(len(pieces) for files in ranges.values() for pieces in files)
    with _bar("writing ids", total, " pieces", progress) as bar:
        for name, files in ranges.items():
            blank = out_of_vocabulary = 0
            with gbw_cache.Writer(made, name) as writer:
                for pieces, source in zip(files, told["sources"][name], strict=True):
                    source["crc32"] = []
                    for where in pieces:
                        piece = Piece.load(_piece_path(work, where))
                        known = map(ids_of.get, piece.words, itertools.repeat(unknown))
                        table = np.array([*marks, *known], np.int32)
                        out_of_vocabulary += int(piece.counts[table == unknown].sum())
                        starts = np.flatnonzero(piece.ids == gbw_pieces.START)
                        writer.add(table[piece.ids], starts)
                        blank += piece.blank_lines
                        source["crc32"].append(piece.crc32)
                        bar.update()
            sets[name] = {
                **writer.entry(),
                "unknown": out_of_vocabulary,
                "blank_lines": blank,
            }
    gbw_cache.finish(made, vocabulary, {"sets": sets, "made_of": told})


def _bar(name: str, total: int, unit: str, progress: bool | None) -> tqdm.tqdm:
    disable = None if progress is None else not progress
    return tqdm.tqdm(
        total=total, desc=name, unit=unit, unit_scale=True, leave=False, disable=disable
    )
