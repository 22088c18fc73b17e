"""A language model goes on with another vocabulary: rows are carried over by word."""

import dataclasses
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.language.trained_model import TrainedLanguageModel
from seqzoo.zoo.training import weight_files

TABLES = {"embedding/embeddings": 1, "output/linearity": 0, "output/bias": 0}
"""Weights with a row a word; the row of word id 1. Row 0 of the embedding is none's."""

_OPTIONAL = ("seed/", "output/z")  # There only with dropout, noise, NCE.
_SAME_SETTINGS = "give it the old one's settings: only the vocabulary may differ."
_PIECE = 1 << 25  # Bytes held at a time.
_SHOWN = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """What became of the words."""

    kept: Sequence[str]
    """In both vocabularies, by their ids in the new one."""

    new: Sequence[str]
    """In the new one only, the most frequent first."""

    dropped: Sequence[str]
    """In the old one only, by their ids there."""

    share: float
    """Of the new training text, the part that kept words are; in [0, 1]."""

    def text(self) -> str:
        """A few lines for people to read."""
        lines = [
            f"words: {len(self.kept)} kept, {len(self.new)} new, "
            f"{len(self.dropped)} dropped",
            f"kept words are {100 * self.share:.2f} % of the new training text",
        ]
        if self.new:
            lines.append(f"new, most frequent first: {_some(self.new)}")
        if self.dropped:
            lines.append(f"dropped: {_some(self.dropped)}")
        return "\n".join(lines)

    def save(self, path: str) -> None:
        """Writes `text`, and below it a line for every new and every dropped word."""
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(f"{self.text()}\n")
            for state, words in (("new", self.new), ("dropped", self.dropped)):
                file.writelines(f"{state} {_plain(word)}\n" for word in words)


def carry_over(
    old: TrainedLanguageModel,
    vocabulary: Vocabulary,
    model: LanguageModel,
    old_slots: Mapping[str, Any] | str | None = None,
    new_slots: Mapping[str, Any] | None = None,
) -> Report:
    """Gives a new model what an old one knows of the words that both have.

    Word vectors, output rows and biases go by word, `<UNK>`, `<S>` and `</S>` too, and
    all other weights as they are; NCE's `z` too, if the setting `Z` is the same. New
    words keep what the new model started with: random rows, and the bias
    `-ln(len(vocabulary))` of NCE's start. Noise is drawn by the new counts from then
    on.

    A score is the logarithm of `Z` times a probability, and NCE's loss accounts for
    the noise by itself. So kept words keep their biases though their counts and the
    noise change: they are right for the old text, and training moves them. With new
    words the probabilities come to more than 1 in all, with dropped ones to less,
    until training has settled that; the full softmax divides by their sum anyway.

    Args:
        old: is not changed. It is read some rows at a time from its weights' files;
            one without such a folder, from its `model`.
        vocabulary: of the new text.
        model: built with the settings of the old one, except `words`, which is
            `len(vocabulary)`; with its initial weights.
        old_slots: an optimizer's variables or arrays, under the names of
            `model.named_weights()` that they belong to; maybe more, say "iterations",
            which go over as they are. Or the folder where `weight_files` wrote them.
        new_slots: the new optimizer's, with their initial values, which those of new
            words keep. A name that only one of both has is left alone.

    Raises:
        InputError: if the models differ in more than their words; nothing has been
            changed then.
        ValueError: if `model` has not as many words as `vocabulary`.
    """
    if model.words != len(vocabulary):
        raise ValueError(
            f"the model has {model.words} words, the vocabulary {len(vocabulary)}."
        )
    places = np.fromiter(
        map(old.vocabulary.ids.get, vocabulary.words, itertools.repeat(0)),
        np.int64,
        len(vocabulary),
    )
    to = np.flatnonzero(places)
    rows = _Rows(old=places[to] - 1, new=to)

    pairs = list(_weights(old, model))
    if isinstance(old_slots, str):
        old_slots = _stored(old_slots)
    if old_slots is not None and new_slots is not None:
        shared = [name for name in new_slots if name in old_slots]
        pairs += [(name, old_slots[name], new_slots[name]) for name in shared]
    for name, before, after in pairs:
        _check(old, name, before, after)
    for name, before, after in pairs:
        _carry(name, before, after, rows)
    model.set_counts(vocabulary.counts)
    return _report(old.vocabulary, vocabulary, places)


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Kept words' rows, from 0, in the old and in the new tables."""

    old: np.ndarray
    new: np.ndarray


def _weights(
    old: TrainedLanguageModel, model: LanguageModel
) -> Iterator[tuple[str, Any, Any]]:
    there: Mapping[str, Any]
    if os.path.isdir(old.weights):
        there = _stored(old.weights)
    else:
        there = old.model.named_weights()
    kept = getattr(old.config, "Z", None) == getattr(model.output_layer, "initial_z", 1)
    for name, weight in model.named_weights().items():
        # Seeds are the new run's own.
        if name.startswith("seed/") or (name == "output/z" and not kept):
            continue
        if name in there:
            yield name, there[name], weight
        elif not name.startswith(_OPTIONAL):
            raise InputError(
                f"{old.path}: has no {name}, but the new model does; {_SAME_SETTINGS}"
            )


def _stored(folder: str) -> dict[str, np.ndarray]:
    """Weights in a folder, mapped to memory."""
    names = weight_files.names(folder)
    return {name: weight_files.read(folder, name) for name in names}


def _check(old: TrainedLanguageModel, name: str, before: Any, after: Any) -> None:
    found, wanted = tuple(before.shape), tuple(after.shape)
    first = TABLES.get(name)
    if first is None:
        fits = found == wanted
    else:
        fits = found == (first + len(old.vocabulary), *wanted[1:])
    if not fits:
        raise InputError(
            f"{old.path}: {name} has shape {found}, the new model's {wanted}; "
            f"{_SAME_SETTINGS}"
        )


def _carry(name: str, before: Any, after: Any, rows: _Rows) -> None:
    before, after = _bare(before), _bare(after)
    if name not in TABLES:
        whole = before if isinstance(before, np.ndarray) else before.numpy()
        weight_files.assign(after, whole)
        return
    first = TABLES[name]
    # A table that is read or assigned whole is copied whole.
    width = int(np.prod(after.shape[1:], dtype=np.int64))
    step = max(1, _PIECE // (max(1, width) * after.dtype.size))
    for start in range(0, len(rows.new), step):
        piece = slice(start, start + step)
        values = _take(before, first + rows.old[piece])
        values = values.astype(after.dtype.as_numpy_dtype, copy=False)
        after.scatter_update(tf.IndexedSlices(values, first + rows.new[piece]))


def _bare(value: Any) -> Any:
    return value.value if isinstance(value, keras.Variable) else value


def _take(table: Any, rows: np.ndarray) -> np.ndarray:
    if isinstance(table, np.ndarray):
        return table[rows]
    return tf.gather(table, rows).numpy()


def _report(old: Vocabulary, new: Vocabulary, places: np.ndarray) -> Report:
    kept = places > 0
    counts = np.asarray(new.counts)
    fresh = np.flatnonzero(~kept)
    fresh = fresh[np.argsort(-counts[fresh], kind="stable")]
    gone = np.ones(len(old), bool)
    gone[places[kept] - 1] = False
    return Report(
        kept=[new.words[i] for i in np.flatnonzero(kept).tolist()],
        new=[new.words[i] for i in fresh.tolist()],
        dropped=[old.words[i] for i in np.flatnonzero(gone).tolist()],
        share=float(counts[kept].sum() / max(1, counts.sum())),
    )


def _some(words: Sequence[str]) -> str:
    more = len(words) - _SHOWN
    told = " ".join(map(_plain, words[:_SHOWN]))
    return told if more <= 0 else f"{told} and {more} more"


def _plain(word: str) -> str:
    """Bytes that were no UTF-8, as imported words may have, in ASCII; so are blanks."""
    if word.isspace():
        return ascii(word)
    return word.encode("utf-8", "backslashreplace").decode("utf-8")
