"""Evaluates a language model: perplexity by the full softmax."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.sentences import Sentences
from seqzoo.zoo.language.language_model import LanguageModel

BATCH_SIZE = 128
POSITIONS = 1 << 13
"""Words computed at a time: of many sentences, or a part of a few long ones."""

_PART_IDS = 1 << 18  # Of a set: what is sorted by length at a time.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evaluation:
    """What a model makes of a text. Logarithms are natural."""

    sentences: int
    words: int
    """All there is to predict: the words, `<UNK>` for those that the vocabulary lacks,
    and the end of each sentence."""

    log_prob: float
    """Sum over all words of log p."""

    unknown: int = 0
    """Words that are `<UNK>`."""

    unknown_log_prob: float = 0.0
    """Their part of `log_prob`."""

    @property
    def nats(self) -> float:
        """The mean of -log p."""
        return -self.log_prob / self.words

    @property
    def bits(self) -> float:
        """The same to base 2."""
        return self.nats / math.log(2)

    @property
    def perplexity(self) -> float:
        """exp of the mean of -log p."""
        return _exp(self.nats)

    @property
    def known_perplexity(self) -> float:
        """The same over the words that are not `<UNK>`; nan if all are."""
        known = self.words - self.unknown
        if not known:
            return math.nan
        return _exp((self.unknown_log_prob - self.log_prob) / known)


class NotFinite(ValueError):
    """A log-probability is no number: the weights are of no use."""


Each = Callable[[np.ndarray, np.ndarray], Any]
"""Gets, of some sentences in the order of the text, the words and the log p of each."""


def evaluate(
    model: LanguageModel,
    sentences: Sentences | Iterable[Sentences],
    unknown: int | None = None,
    *,
    batch_size: int = BATCH_SIZE,
    positions: int = POSITIONS,
    dtype: str | None = None,
    each: Each | None = None,
) -> Evaluation:
    """Evaluates on sentences, each from a zero state.

    Args:
        model: with its weights.
        sentences: of its vocabulary; a set, or parts of one.
        unknown: the id of `<UNK>`; None counts none.
        batch_size, positions, dtype: see `WordScorer`. They change the result by
            rounding only.
        each: is called again and again, as the sentences are done.

    Raises:
        InputError: if there is no sentence, or an id is none of the model's.
        NotFinite: if a log-probability is no number.
    """
    scorer = WordScorer(model, batch_size, positions, dtype)
    return evaluate_with(scorer, sentences, unknown, each)


def evaluate_with(
    scorer: "WordScorer",
    sentences: Sentences | Iterable[Sentences],
    unknown: int | None = None,
    each: Each | None = None,
) -> Evaluation:
    """`evaluate` by a scorer that may have been in use before, and is ready."""
    parts = _parts(sentences) if isinstance(sentences, Sentences) else sentences
    done = words = unknown_words = 0
    log_prob = unknown_log_prob = 0.0
    for part in parts:
        if not len(part):
            continue
        logs = scorer.log_probs(part)
        lengths = np.diff(part.starts) - 1
        sums = np.add.reduceat(logs, np.cumsum([0, *lengths[:-1]]))
        if not np.isfinite(sums).all():
            number = done + 1 + int(np.argmin(np.isfinite(sums)))
            raise NotFinite(
                f"the log-probability of sentence {number} is "
                f"{sums[number - done - 1]}; the model's weights have run away, take "
                "an earlier one."
            )
        if each is not None:
            each(lengths, sums)
        if unknown is not None:
            theirs = logs[_targets(part) == unknown]
            unknown_words += len(theirs)
            unknown_log_prob += float(theirs.sum())
        done += len(part)
        words += len(logs)
        log_prob += float(sums.sum())
    if not words:
        raise InputError("no sentence to evaluate on.")
    return Evaluation(
        sentences=done,
        words=words,
        log_prob=log_prob,
        unknown=unknown_words,
        unknown_log_prob=unknown_log_prob,
    )


class WordScorer:
    """Gives each word of sentences the logarithm of its probability.

    Sentences of like lengths go through the model side by side; those that are longer
    than the positions allow, a part after the other, with the state carried on.

    Args:
        model: with its weights.
        batch_size: sentences at a time.
        positions: words at a time, which bounds the memory; but each sentence of a
            batch has one at least.
        dtype: of the softmax's products, say "bfloat16"; None takes the model's.
    """

    def __init__(
        self,
        model: LanguageModel,
        batch_size: int = BATCH_SIZE,
        positions: int = POSITIONS,
        dtype: str | None = None,
    ):
        if batch_size < 1 or positions < 1:
            raise ValueError(
                f"batch_size is {batch_size} and positions {positions}; both are 1 "
                "or more."
            )
        self._model = model
        self._batch_size = batch_size
        self._positions = positions
        ids = tf.TensorSpec([None, None], tf.int32)
        state = tf.nest.map_structure(
            lambda part: tf.TensorSpec([None, part.shape[1]], part.dtype),
            model.zero_state(1),
        )

        # Of any length and number of rows, so it is traced once.
        @tf.function(input_signature=[ids, ids, state], autograph=False)
        def step(words, targets, state):
            rows = tf.shape(words)[1]
            state = tf.nest.map_structure(lambda part: part[:rows], state)
            return model.log_probs(words, targets, state, dtype)

        self._step = step

    @property
    def traces(self) -> int:
        """How often the computation was laid out."""
        return self._step.experimental_get_tracing_count()

    def log_probs(self, sentences: Sentences) -> np.ndarray:
        """`(targets,)` float64, of all words but the first of each sentence, in order.

        Raises:
            InputError: an id is none of the model's.
        """
        ids = np.asarray(sentences.ids)
        if not len(sentences):
            return np.zeros(0)
        self._check(ids)
        begins = np.asarray(sentences.starts[:-1])
        lengths = np.diff(sentences.starts) - 1
        places = begins - np.arange(len(begins))
        logs = np.empty(sentences.targets)
        order = np.argsort(-lengths, kind="stable")
        for first in range(0, len(order), self._batch_size):
            rows = order[first : first + self._batch_size]
            state = self._model.zero_state(len(rows))
            longest, done = int(lengths[rows[0]]), 0
            while done < longest:
                rows = rows[lengths[rows] > done]  # The longest are in front.
                steps = min(max(self._positions // len(rows), 1), longest - done)
                time = done + np.arange(steps)[:, np.newaxis]
                real = time < lengths[rows]
                at = np.where(real, begins[rows] + time, 0)
                found, state = self._step(
                    np.where(real, ids[at], 0), np.where(real, ids[at + 1], 0), state
                )
                logs[(places[rows] + time)[real]] = found.numpy()[real]
                done += steps
        return logs

    def _check(self, ids: np.ndarray) -> None:
        low, high = int(ids.min()), int(ids.max())
        if low < 1 or high > self._model.words:
            raise InputError(
                f"word ids {low} to {high}, but the model has 1 to "
                f"{self._model.words}; the text is of another vocabulary."
            )


def _targets(sentences: Sentences) -> np.ndarray:
    return np.delete(np.asarray(sentences.ids), np.asarray(sentences.starts[:-1]))


def _parts(sentences: Sentences) -> Iterator[Sentences]:
    """A set, some sentences at a time; at least one."""
    starts, first = sentences.starts, 0
    while first < len(sentences):
        stop = np.searchsorted(starts, starts[first] + _PART_IDS, "right") - 1
        stop = min(max(int(stop), first + 1), len(sentences))
        begin = starts[first]
        yield Sentences(
            np.asarray(sentences.ids[begin : starts[stop]]),
            np.asarray(starts[first : stop + 1]) - begin,
        )
        first = stop


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf
