"""Compares a language model's SavedModel, in a process without our code, with it."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import END, START
from seqzoo.export import fresh_process, run_language_signatures
from seqzoo.export.language_signatures import LanguageModel

_LOG = logging.getLogger(__name__)
_LENGTHS = (9, 1, 4)
_BEST = 7
_TOLERANCE = 1e-5

Arrays = dict[str, NDArray]


def check(
    directory: str,
    model: LanguageModel,
    words: Sequence[str],
    characters: bool = False,
    seed: int = 0,
) -> dict[str, float]:
    """Runs all signatures in a fresh process and compares them with `model`.

    The process imports TensorFlow and NumPy only. It takes random sentences in one
    padded batch, with ids that are no words in the padding; the model takes them one by
    one, as they are.

    Args:
        directory: a SavedModel that `language_saved_model.export` wrote of `model`.
        model: the same model, in memory.
        words, characters: what it was exported with.
        seed: of the sentences.

    Returns:
        The largest absolute difference in each signature.

    Raises:
        InputError: if it cannot be loaded or run there, has other signatures, or
            differs by more than 1e-5 of the numbers' size.
    """
    raw = np.array([word.encode("utf-8", "surrogateescape") for word in words], object)
    expected = _Expected(model, raw, characters, seed)
    found = fresh_process.run(
        run_language_signatures.__file__, directory, expected.request
    )
    signatures = {key.partition("/")[0] for key in found}
    if signatures != expected.signatures.keys():
        raise InputError(
            f"the SavedModel's signatures are {', '.join(sorted(signatures))}; "
            f"{', '.join(sorted(expected.signatures))} are expected."
        )
    differences = {}
    for name in expected.signatures:
        prefix = f"{name}/"
        given = {
            key.removeprefix(prefix): value
            for key, value in found.items()
            if key.startswith(prefix)
        }
        differences[name] = expected.compare(name, given)
        _LOG.info("%s: as in the model, within %.2g", name, differences[name])
    return differences


class _Expected:
    """Random sentences, and what the model makes of each by itself.

    Attributes:
        request: of `run_language_signatures`.
        signatures: by name, the outputs.
    """

    def __init__(self, model: LanguageModel, raw: NDArray, characters: bool, seed: int):
        self._model = model
        self._raw = raw
        marks = [START.encode(), END.encode()]
        self._start, self._end = (
            0 if characters else int(np.flatnonzero(raw == mark)[0]) + 1
            for mark in marks
        )
        self._sentences = _sentences(raw, characters, marks, seed)
        self._batch = len(self._sentences)
        self._time = max(map(len, self._sentences))
        batch = np.full((self._batch, self._time), len(raw) + 5, np.int32)
        for row, ids in zip(batch, self._sentences, strict=True):
            row[: len(ids)] = ids
        blank = b"" if characters else b" "
        text = [blank.join(raw[ids - 1]) for ids in self._sentences]
        self.request = {
            "words": batch,
            "lengths": np.array([len(ids) for ids in self._sentences], np.int32),
            "text": np.array(text),
            "n": np.array(_BEST, np.int32),
            "start": np.array(self._start, np.int32),
        }
        score, words = self._score(characters)
        steps, state = self._all_steps()
        # Behind its last word a row of steps is 0.
        count = self.request["lengths"] + bool(self._start)
        last = steps[count - 1, np.arange(self._batch)]
        self.signatures: dict[str, Arrays] = {
            "score": score,
            "serving_default": score,
            "score_text": {**score, "tokens": self._tokens(words)},
            "next_word": {"log_probs": last},
            "next_word_text": {"log_probs": last},
            "step": {"log_probs": steps, **state},
            "step_log_probs": {"log_probs": steps, **state},
        }

    def compare(self, name: str, found: Arrays) -> float:
        """The largest difference in a signature's outputs."""
        expected = self.signatures[name]
        if name.startswith("next_word") or name == "step":
            expected = {**expected, **self._best(expected["log_probs"], found)}
        if found.keys() != expected.keys():
            raise InputError(
                f"the SavedModel's {name} has {', '.join(sorted(found))}; "
                f"{', '.join(sorted(expected))} are expected."
            )
        pairs = [(key, found[key], value) for key, value in expected.items()]
        return max(_difference(f"{name}/{key}", *both) for key, *both in pairs)

    def _best(self, log_probs: NDArray, found: Arrays) -> Arrays:
        """The likeliest words by the log-probabilities of all.

        Words that are equally likely up to rounding may stand in another order, so ids
        are taken as they are found, if they have these log-probabilities.
        """
        n = min(_BEST, len(self._raw))
        best = -np.sort(-log_probs, axis=-1)[..., :n]
        ids = found.get("ids", np.zeros(0, np.int32))
        if ids.shape != best.shape or ids.min() < 0 or ids.max() > len(self._raw):
            raise InputError(f"the SavedModel gives ids {ids.tolist()}.")
        own = np.take_along_axis(log_probs, np.maximum(ids, 1) - 1, -1)
        right = np.abs(own - best) <= _TOLERANCE * np.abs(best).max()
        right &= (ids > 0) == log_probs.any(axis=-1, keepdims=True)
        return {
            "ids": np.where(right, ids, -1),
            "tokens": self._tokens(ids),
            "log_probs": best,
        }

    def _score(self, characters: bool) -> tuple[Arrays, NDArray]:
        width = self._time if characters else self._time + 1
        shape = (self._batch, width)
        log_probs, targets = np.zeros(shape, np.float64), np.zeros(shape, np.int64)
        counts = np.zeros(self._batch, np.int32)
        for row, ids in enumerate(self._sentences):
            if characters:
                inputs, wanted = ids[:-1], ids[1:]
            else:
                inputs, wanted = np.r_[self._start, ids], np.r_[ids, self._end]
            places = slice(int(characters), int(characters) + len(wanted))
            targets[row, places] = wanted
            if characters:
                targets[row, 0] = ids[0]
            counts[row] = len(wanted)
            if len(wanted):
                found, _ = self._model.log_probs(
                    _column(inputs), _column(wanted), self._model.zero_state(1)
                )
                log_probs[row, places] = tf.cast(found, tf.float32)[:, 0]
        sums = log_probs.sum(axis=1)
        made = {"log_probs": log_probs, "sentence_log_probs": sums}
        return {**made, "word_counts": counts}, targets

    def _all_steps(self) -> tuple[NDArray, Arrays]:
        """Of each step the log-probabilities of all words, and the states after."""
        steps = self._time + bool(self._start)
        found = np.zeros((steps, self._batch, len(self._raw)), np.float32)
        names = _state_names(self._model)
        sizes = [part.shape[-1] for part in tf.nest.flatten(self._model.zero_state(1))]
        state = {
            name: np.zeros((steps, self._batch, size), np.float32)
            for name, size in zip(names, sizes, strict=True)
        }
        for row, ids in enumerate(self._sentences):
            inputs = np.r_[self._start, ids] if self._start else ids
            parts = self._model.zero_state(1)
            for place, word in enumerate(inputs):
                logs, parts = self._model.next_log_probs(_column([word]), parts)
                found[place, row] = tf.cast(logs, tf.float32)[0]
                for name, part in zip(names, tf.nest.flatten(parts), strict=True):
                    state[name][place, row] = tf.cast(part, tf.float32)[0]
        return found, state

    def _tokens(self, ids: NDArray) -> NDArray:
        return np.concatenate([[b""], self._raw])[ids].astype(bytes)


def _sentences(
    raw: NDArray, characters: bool, marks: Sequence[bytes], seed: int
) -> list[NDArray[np.int32]]:
    """Random ids of what can stand in a text."""

    def stands(word: bytes) -> bool:
        if characters:
            return word != b"\0"  # NumPy's strings do not end with it.
        return word.split() == [word] and word not in marks and b"\0" not in word

    ids = np.flatnonzero([stands(word) for word in raw]).astype(np.int32) + 1
    random = np.random.default_rng(seed)
    return [random.choice(ids, length) for length in _LENGTHS]


def _state_names(model: Any) -> list[str]:
    return [
        f"state_{layer.name}_{'hc'[place]}"
        for layer in model.recurrent.layers
        for place in range(len(layer.state_sizes))
    ]


def _column(ids: Sequence[int] | NDArray) -> tf.Tensor:
    return tf.constant(np.asarray(ids, np.int32)[:, np.newaxis])


def _difference(name: str, found: NDArray, expected: NDArray) -> float:
    """The largest one; an error where it is too large."""
    if found.shape != expected.shape:
        raise InputError(
            f"the SavedModel's {name} has shape {found.shape}; {expected.shape} is "
            "expected."
        )
    largest = 0.0
    if found.dtype.kind == "f":
        apart = np.abs(found - expected)
        largest = float(apart.max(initial=0))
        # And not `>`: NaN is a difference.
        bad = ~(apart <= _TOLERANCE * np.abs(expected).max(initial=0))
    else:
        bad = found != expected
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"the SavedModel's {name} differs from the model's: at {where} it is "
            f"{found[where]}, not {expected[where]}."
        )
    return largest
