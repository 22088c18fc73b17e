"""The data of a language model, from wherever it lies: text, a Torch set, a cache."""

import os

from seqzoo.datasets import gbw_build, gbw_cache, gbw_torch
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_cache import Cache
from seqzoo.datasets.gbw_vocabulary import Vocabulary


def open_data(
    folder: str,
    cache: str | None = None,
    *,
    subset: str | None = None,
    min_count: int = 3,
    vocabulary: Vocabulary | None = None,
    vocabulary_of: str = "the model",
    processes: int = 1,
    progress: bool | None = None,
) -> Cache:
    """Opens the sets of a folder; makes their cache first where there is none.

    Args:
        folder: of statmt's shards, of any text with one sentence a line (see
            `gbw_sources.find`), of Torch's .th7 files, or a cache.
        cache: where the cache is, or is to be made; None only if `folder` is one.
        subset: "tiny" is Torch's small training set.
        min_count: for text, how often a word must come to be in the vocabulary.
        vocabulary: the ids to use, say those of a model. Text gets them; a Torch set
            and a cache must have them already.
        vocabulary_of: names whose vocabulary it is, in errors.
        processes: that read text at the same time; see `gbw_build.build`.
        progress: whether a bar is shown; None: on a terminal.

    Raises:
        InputError: about the data; where, what was found and what is taken.
    """
    if subset not in (None, "tiny"):
        raise InputError(f'no subset {subset!r} of the data; there is "tiny".')
    if gbw_cache.is_cache(folder):
        if subset:
            raise InputError(
                f"{folder}: is a cache; only a Torch set has {gbw_torch.TINY}."
            )
        found = gbw_cache.load(folder)
        if found.characters:
            raise InputError(
                f"{folder}: is a cache of characters, and words are to be read; give "
                "the folder of the text, or --tokens characters."
            )
    elif cache is None:
        raise InputError(f"{folder}: no cache; give the folder where to make it.")
    elif gbw_torch.is_torch_set(folder):
        train = gbw_torch.TINY if subset else gbw_torch.TRAIN
        found = gbw_torch.build(folder, cache, train)
    elif subset:
        raise InputError(f"{folder}: only a Torch set has {gbw_torch.TINY}.")
    else:
        found = gbw_build.build(
            folder,
            cache,
            min_count=min_count,
            vocabulary=vocabulary,
            processes=processes,
            progress=progress,
        )
    if vocabulary is not None:
        where = os.path.join(found.folder, gbw_cache.VOCABULARY)
        found.vocabulary.check_same(vocabulary, where, vocabulary_of)
    return found
