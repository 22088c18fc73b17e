"""Torch's own billion-word set (`dl.loadGBW`): .th7 files into our cache.

`word_map.th7` is the table of words, `word_freq.th7` their counts, and each of
`train_data.th7` (or `train_tiny.th7`), `valid_data.th7` and `test_data.th7` an
IntTensor of two columns, a row a word: the row, from 1, at which its sentence begins,
and the id of the word. Sentences end with `</S>`; `<S>` is put before each, as Torch
does on loading.
"""

import os
from collections.abc import Iterator

import numpy as np

from seqzoo.datasets import gbw_cache, torch_file
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_cache import Cache
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences

TRAIN, TINY = "train_data.th7", "train_tiny.th7"
_BLOCK_ROWS = 1 << 22


def is_torch_set(folder: str) -> bool:
    """Whether `folder` has the files of such a set."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (TRAIN, TINY))


def build(
    folder: str, cache: str, train: str = TRAIN, block_rows: int = _BLOCK_ROWS
) -> Cache:
    """The cache of a Torch set; one that is there and still holds is opened.

    Args:
        folder: has the files.
        cache: the folder to make; see `gbw_cache.write`.
        train: the file of the training set.
        block_rows: rows to hold in memory at a time.

    Raises:
        InputError: if a file is missing, damaged, or not as expected.
    """
    paths = {
        name: os.path.join(folder, file)
        for name, file in {
            "train": train,
            "valid": "valid_data.th7",
            "test": "test_data.th7",
            "word_map": "word_map.th7",
            "word_freq": "word_freq.th7",
        }.items()
    }
    for path in paths.values():
        if not os.path.exists(path):
            raise InputError(f"{path}: is missing; a Torch set has it.")
    made_of = {
        name: [os.path.basename(path), os.path.getsize(path), os.stat(path).st_mtime_ns]
        for name, path in paths.items()
    }
    if gbw_cache.is_cache(cache):
        if gbw_cache.manifest(cache).get("made_of") == made_of:
            return gbw_cache.load(cache)
    vocabulary = _vocabulary(paths["word_map"], paths["word_freq"])
    sets = {
        name: sentences(paths[name], vocabulary.start, block_rows)
        for name in ("train", "valid", "test")
    }
    return gbw_cache.write(cache, vocabulary, sets, made_of)


def sentences(
    path: str, start: int, block_rows: int = _BLOCK_ROWS
) -> Iterator[Sentences]:
    """The sentences of a file, some at a time.

    Args:
        path: of the tensor.
        start: the id of `<S>`.
        block_rows: rows of the tensor to hold in memory at a time, about.

    Raises:
        InputError: if it is no such tensor.
    """
    pairs = torch_file.read(path, functions=False)
    if not isinstance(pairs, np.ndarray) or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"{path}: a tensor of two columns is taken.")
    done = 0
    while done < len(pairs):
        block = np.asarray(pairs[done : done + block_rows], np.int64)
        begins = block[:, 0] == np.arange(done + 1, done + 1 + len(block))
        follows = np.diff(block[:, 0], prepend=-1) == 0
        wrong = np.flatnonzero(~(begins | follows))
        if len(wrong):
            raise InputError(
                f"{path}: row {done + 1 + wrong[0]} says that its sentence begins at "
                f"row {block[wrong[0], 0]}, which is another one."
            )
        places = np.flatnonzero(begins)
        if done + len(block) < len(pairs):
            if len(places) < 2:
                raise InputError(
                    f"{path}: a sentence of more than {block_rows} words from row "
                    f"{done + 1}."
                )
            block, places = block[: places[-1]], places[:-1]
        ids = np.insert(block[:, 1].astype(np.int32), places, np.int32(start))
        yield Sentences.cut(ids, places + np.arange(len(places)))
        done += len(block)


def _vocabulary(map_path: str, freq_path: str) -> Vocabulary:
    words = torch_file.read(map_path, functions=False)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{map_path}: a table of words, ids from 1, is taken.")
    counts = torch_file.read(freq_path, functions=False)
    if not isinstance(counts, np.ndarray) or counts.shape != (len(words),):
        raise InputError(
            f"{freq_path}: a tensor of {len(words)} counts is taken, one for each "
            f"word of {map_path}."
        )
    for word in words:
        if not word or set(word) & set(" \n"):
            raise InputError(f"{map_path}: {word!r} is no word; it holds a blank.")
    return Vocabulary(words, counts.astype(np.int64)).checked(map_path)
