"""Finds the text that a language model is evaluated on."""

import dataclasses
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from seqzoo.datasets import (
    character_text,
    gbw_cache,
    gbw_sources,
    gbw_torch,
    torch_file,
)
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences
from seqzoo.datasets.text_sentences import text_sentences
from seqzoo.zoo.language.encoding import encode_characters

_LOG = logging.getLogger(__name__)
_WORD_MAP = "word_map.th7"


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvaluationData:
    """A set that is not read yet: a text, or sentences that are ids already."""

    where: str
    """Names it in errors."""

    name: str | None = None
    """`test`, `valid` or `train`; None of a text that is no part of a corpus."""

    texts: Sequence[str] = ()
    """What `files.open_input` takes, of a text."""

    encoded: Callable[[Vocabulary, str], Sentences | Iterable[Sentences]] | None = None
    """Gives the sentences, if they have the ids of a vocabulary; the second argument
    names whose that is. Raises InputError."""

    def sentences(
        self, vocabulary: Vocabulary, characters: bool, whose: str
    ) -> Sentences | Iterable[Sentences]:
        """Reads them: a set, or parts of one.

        Args:
            vocabulary: of the model.
            characters: whether its words are characters; a text is then one sentence.
            whose: names the model in errors.

        Raises:
            InputError: about the data, or if it is of another vocabulary.
        """
        if self.encoded is not None:
            return self.encoded(vocabulary, whose)
        if characters:
            return _characters(self.texts, vocabulary)
        return text_sentences(self.texts, vocabulary)


def find(data: str, wanted: str | None = None) -> EvaluationData:
    """What is there; only the set asked for will be read.

    Args:
        data: a cache, a folder of Torch's .th7 files or one such file, a folder of text
            as `gbw_sources.find` takes it, or a text: a file, `-` or `command |`.
        wanted: the set; None is test, or valid where there is no test.

    Raises:
        InputError: there is no such thing, or no such set in it.
    """
    if not os.path.isdir(data):
        if wanted is not None:
            raise InputError(
                f"{data}: --set={wanted} chooses among the sets of a folder, and this "
                "is none; leave --set out to take a text as it is."
            )
        if data.endswith(".th7"):
            return _torch(data, None)
        where = "standard input" if data == "-" else data
        return EvaluationData(where=where, texts=[data])
    if gbw_cache.is_cache(data):
        return _cached(data, _choose(data, gbw_cache.manifest(data)["sets"], wanted))
    if sets := _torch_sets(data):
        name = _choose(data, sets, wanted)
        return _torch(sets[name], name)
    texts = gbw_sources.find(data)
    name = _choose(data, texts, wanted)
    return EvaluationData(where=data, name=name, texts=texts[name])


def find_of_run(
    path: str, about: Mapping[str, Any], wanted: str | None = None
) -> EvaluationData:
    """The same in the cache that a run was trained on.

    Args:
        path: of the run.
        about: its `config.json`.
        wanted: as in `find`.

    Raises:
        InputError: it tells of none, or that is gone.
    """
    told = about.get("data")
    cache = told.get("cache") if isinstance(told, dict) else None
    if not isinstance(cache, str):
        raise InputError(
            f"{path}: does not tell where its data is; give DATA behind it."
        )
    cache = os.path.join(path, cache)  # Relative where it lies inside.
    if not gbw_cache.is_cache(cache):
        raise InputError(
            f"{path}: was trained on the cache {cache}, which is not there; give DATA "
            "behind it."
        )
    return find(cache, wanted)


def _choose(data: str, there: Collection[str], wanted: str | None) -> str:
    if wanted is None:
        if "test" in there:
            return "test"
        if "valid" in there:
            _LOG.warning("%s: has no test set; its validation set is taken.", data)
            return "valid"
    elif wanted in there:
        return wanted
    raise InputError(
        f"{data}: has no {wanted or 'test'} set; there is {', '.join(there)}."
    )


def _cached(folder: str, name: str) -> EvaluationData:
    def encoded(ours: Vocabulary, whose: str) -> Sentences:
        cache = gbw_cache.load(folder)
        where = os.path.join(folder, gbw_cache.VOCABULARY)
        cache.vocabulary.check_same(ours, where, whose)
        return cache.sets[name]

    return EvaluationData(where=folder, name=name, encoded=encoded)


def _torch_sets(folder: str) -> dict[str, str]:
    paths = {
        name: os.path.join(folder, f"{name}_data.th7") for name in gbw_sources.SETS
    }
    return {name: path for name, path in paths.items() if os.path.exists(path)}


def _torch(path: str, name: str | None) -> EvaluationData:
    def encoded(ours: Vocabulary, whose: str) -> Iterable[Sentences]:
        word_map = os.path.join(os.path.dirname(path), _WORD_MAP)
        for one in (path, word_map):
            if not os.path.exists(one):
                raise InputError(f"{one}: is missing; a Torch set has it.")
        words = torch_file.read(word_map, functions=False)
        if not isinstance(words, list):
            raise InputError(f"{word_map}: a table of words, ids from 1, is taken.")
        theirs = Vocabulary(words, np.zeros(len(words), np.int64))
        theirs.check_same(ours, word_map, whose)
        return gbw_torch.sentences(path, ours.start)

    return EvaluationData(where=path, name=name, encoded=encoded)


def _characters(texts: Sequence[str], vocabulary: Vocabulary) -> Iterator[Sentences]:
    for source in texts:
        pieces = character_text.read(source)
        name = "standard input" if source == "-" else source
        yield encode_characters(vocabulary, pieces, name)
