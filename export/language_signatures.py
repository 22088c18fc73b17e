"""The signatures of a language model's SavedModel."""

from collections.abc import Callable
from typing import Any, Protocol

import keras
import tensorflow as tf

from seqzoo.datasets.gbw_vocabulary import END, START
from seqzoo.export.row_parts import in_parts
from seqzoo.export.served_vocabulary import ServedVocabulary
from seqzoo.export.step_signature import PREFIX

STEP, STEP_LOG_PROBS = "step", "step_log_probs"
DEFAULT = "score"

_NUMBERS = 1 << 25
"""Log-probabilities held at a time where only the best are put out: 128 MB."""

Named = dict[str, tf.Tensor]


class LanguageModel(Protocol):
    """What is exported. Ids are 1 to the number of words; time comes first.

    Input id 0 empties a row's state; target id 0 is none.
    """

    recurrent: Any
    """Has `layers`, each with `name` and `state_sizes`, in the order of a state."""

    trainable_weights: Any
    """Keras variables."""

    @property
    def words(self) -> int:
        """Words of the vocabulary."""

    def zero_state(self, batch) -> Any:
        """The state before the first word: a tuple by layer of `(batch, n)`."""

    def run(self, words, state) -> Any:
        """What the output layer takes, and the state after."""

    def log_probs(self, words, targets, state) -> Any:
        """Of `(time, batch)` targets, 0 where there is none; and the state after."""

    def next_log_probs(self, words, state) -> Any:
        """`(batch, words)`, column 0 is id 1; and the state after."""


class LanguageSignatures:
    """The signatures of one model.

    `score` and `score_text` take sentences, `next_word` and `next_word_text` their
    beginnings, `step` and `step_log_probs` a word a row and the state; docs/serving.md
    tells what each gives. Marks of sentences are put in here: a client sends none.

    Args:
        model: what is served; in float32.
        vocabulary: of its words.
    """

    def __init__(self, model: LanguageModel, vocabulary: ServedVocabulary):
        self._model = model
        self._vocabulary = vocabulary
        self._rows = max(1, _NUMBERS // model.words)
        self._weights = model.trainable_weights

    def state(self) -> dict[str, tf.TensorSpec]:
        """The parts of a state, in their order: `state_lstm_1_h`, ..."""
        return {
            f"{PREFIX}{layer.name}_{part}": tf.TensorSpec((None, size), tf.float32)
            for layer in self._model.recurrent.layers
            for part, size in zip("hc", layer.state_sizes, strict=False)
        }

    def inputs(self) -> dict[str, dict[str, tf.TensorSpec]]:
        """What each signature takes, by its name."""
        ids = {
            "words": tf.TensorSpec((None, None), tf.int32),
            "lengths": tf.TensorSpec((None,), tf.int32),
        }
        text = {"text": tf.TensorSpec((None,), tf.string)}
        # Of any shape: a batching server wants a number in each row.
        n = {"n": tf.TensorSpec(None, tf.int32)}
        word = {"words": tf.TensorSpec((None,), tf.int32), **self.state()}
        return {
            "score": ids,
            "score_text": text,
            "next_word": {**ids, **n},
            "next_word_text": {**text, **n},
            STEP: {**word, **n},
            STEP_LOG_PROBS: word,
            "serving_default": ids,
        }

    def functions(self) -> dict[str, Any]:
        """All signatures by name, traced."""
        made: dict[str, Callable[..., Named]] = {
            "score": self._score,
            "score_text": self._score_text,
            "next_word": self._next_word,
            "next_word_text": self._next_word_text,
            STEP: self._step,
            STEP_LOG_PROBS: self._step_log_probs,
        }
        inputs = self.inputs()
        traced = {name: self._traced(made[name], inputs[name]) for name in made}
        return {**traced, "serving_default": traced[DEFAULT]}

    def _traced(
        self, function: Callable[..., Named], specs: dict[str, tf.TensorSpec]
    ) -> Any:
        def signature(**inputs: tf.Tensor) -> Named:
            # A variable of which rows were read is copied whenever it is read whole:
            # of 793,471 words by 250 numbers 0.8 GB for each step. So the graph reads
            # only whole ones, which costs nothing, and takes the rows of these.
            pairs = [(w, tf.convert_to_tensor(w.value)) for w in self._weights]
            with keras.StatelessScope(state_mapping=pairs):
                return function(**inputs)

        named = {
            name: tf.TensorSpec(spec.shape, spec.dtype, name)
            for name, spec in specs.items()
        }
        # Nothing here is Python's own `if` or `for` on tensors, which takes a minute.
        return tf.function(signature, autograph=False).get_concrete_function(**named)

    def _score(self, words: tf.Tensor, lengths: tf.Tensor) -> Named:
        words, lengths = self._sentences(words, lengths)
        batch, time = tf.unstack(tf.shape(words))
        inputs = self._started(words)
        if self._vocabulary.characters:
            # The first one follows nothing that could tell of it.
            targets = tf.pad(words[:, 1:], [[0, 0], [tf.minimum(1, time), 1]])
            counts, width = tf.maximum(lengths - 1, 0), time
        else:
            ends = tf.one_hot(lengths, time + 1, dtype=tf.int32) * self._vocabulary.end
            targets = tf.pad(words, [[0, 0], [0, 1]]) + ends
            counts, width = lengths + 1, time + 1
        found, _ = self._model.log_probs(
            tf.transpose(inputs), tf.transpose(targets), self._model.zero_state(batch)
        )
        found = tf.cast(tf.transpose(found), tf.float32)[:, :width]
        return {
            "log_probs": found,
            "sentence_log_probs": tf.reduce_sum(found, axis=1),
            "word_counts": counts,
        }

    def _score_text(self, text: tf.Tensor) -> Named:
        words, lengths = self._vocabulary.split(text)
        made = self._score(words, lengths)
        if not self._vocabulary.characters:
            time = tf.shape(words)[1]
            ends = tf.one_hot(lengths, time + 1, dtype=tf.int32) * self._vocabulary.end
            words = tf.pad(words, [[0, 0], [0, 1]]) + ends
        return {**made, "tokens": self._vocabulary.tokens(words)}

    def _next_word(self, words: tf.Tensor, lengths: tf.Tensor, n: tf.Tensor) -> Named:
        words, lengths = self._sentences(words, lengths)
        if self._vocabulary.characters:
            lengths = _checked(
                lengths, {"a character must be there to follow": lengths > 0}
            )
        words = self._started(words)
        batch, time = tf.unstack(tf.shape(words))
        # All end in the last column. The 0s in front leave the state as it is, empty.
        places = tf.range(time) - (time - 1 - lengths)[:, tf.newaxis]
        moved = tf.gather(words, tf.maximum(places, 0), batch_dims=1)
        words = tf.where(places >= 0, moved, 0)
        found, _ = self._best(words, self._flat(self._model.zero_state(batch)), n)
        return found

    def _next_word_text(self, text: tf.Tensor, n: tf.Tensor) -> Named:
        return self._next_word(*self._vocabulary.split(text), n)

    def _step(self, words: tf.Tensor, n: tf.Tensor, **state: tf.Tensor) -> Named:
        words = self._stepping(words, state)
        parts = [state[name] for name in self.state()]
        found, parts = self._best(words[:, tf.newaxis], parts, n)
        real = (words != 0)[:, tf.newaxis]
        made = {
            "ids": tf.where(real, found["ids"], 0),
            "tokens": tf.where(real, found["tokens"], ""),
            "log_probs": tf.where(real, found["log_probs"], 0.0),
        }
        return made | self._after(real, parts)

    def _step_log_probs(self, words: tf.Tensor, **state: tf.Tensor) -> Named:
        words = self._stepping(words, state)
        parts = [state[name] for name in self.state()]
        found, after = self._model.next_log_probs(
            words[tf.newaxis], self._packed(parts)
        )
        real = (words != 0)[:, tf.newaxis]
        log_probs = tf.where(real, tf.cast(found, tf.float32), 0.0)
        return {"log_probs": log_probs, **self._after(real, self._flat(after))}

    def _after(self, real: tf.Tensor, parts: list[tf.Tensor]) -> Named:
        pairs = zip(self.state(), parts, strict=True)
        return {name: tf.where(real, part, 0.0) for name, part in pairs}

    def _best(
        self, words: tf.Tensor, state: list[tf.Tensor], n: tf.Tensor
    ) -> tuple[Named, list[tf.Tensor]]:
        """The `n` likeliest words after rows of words, `(batch, time)`, and the state.

        All words' scores are held for some rows only.
        """
        n = tf.reshape(n, [-1])
        n = _checked(n, {"n must be 1 or more": n >= 1})
        # Of several numbers the largest: what each row asks for is then there.
        most = tf.minimum(tf.reduce_max(tf.concat([n, [1]], 0)), self._model.words)

        def part(words, *state):
            found, after = self._model.next_log_probs(
                tf.transpose(words), self._packed(list(state))
            )
            best, places = tf.math.top_k(tf.cast(found, tf.float32), most)
            return [best, places, *self._flat(after)]

        two = (tf.TensorSpec((None, None), dtype) for dtype in (tf.float32, tf.int32))
        outputs = [*two, *self.state().values()]
        best, places, *after = in_parts(part, [words, *state], self._rows, outputs)
        ids = places + 1
        tokens = self._vocabulary.tokens(ids)
        return {"ids": ids, "tokens": tokens, "log_probs": best}, after

    def _flat(self, state: Any) -> list[tf.Tensor]:
        return [tf.cast(part, tf.float32) for part in tf.nest.flatten(state)]

    def _packed(self, parts: list[tf.Tensor]) -> Any:
        left = iter(parts)
        return tuple(
            tuple(next(left) for _ in layer.state_sizes)
            for layer in self._model.recurrent.layers
        )

    def _started(self, words: tf.Tensor) -> tf.Tensor:
        """Rows of words behind `<S>`; behind 0 where there is no such mark."""
        return tf.pad(words, [[0, 0], [1, 0]], constant_values=self._vocabulary.start)

    def _sentences(
        self, words: tf.Tensor, lengths: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Both, checked, with 0 behind a sentence whatever stood there."""
        batch, time = tf.unstack(tf.shape(words))
        lengths = _checked(
            lengths,
            {
                "lengths must be one number for each row of words": tf.size(lengths)
                == batch,
                "lengths must be 0 or more": lengths >= 0,
                "lengths must be at most the ids in a row of words": lengths <= time,
            },
        )
        real = tf.sequence_mask(lengths, time)
        most = self._model.words
        checks = {f"words must be ids of 1 to {most}": (words > 0) & (words <= most)}
        for name, mark in (
            (START, self._vocabulary.start),
            (END, self._vocabulary.end),
        ):
            if mark:
                told = f"a sentence must be without {name}, id {mark}, which is put in"
                checks[told] = words != mark
        right = {told: held | ~real for told, held in checks.items()}
        return tf.where(real, _checked(words, right), 0), lengths

    def _stepping(self, words: tf.Tensor, state: Named) -> tf.Tensor:
        most = self._model.words
        checks = {f"words must be ids of 0 to {most}": (words >= 0) & (words <= most)}
        for name, part in state.items():
            told = f"{name} must have a row for each of words"
            checks[told] = tf.shape(part)[0] == tf.size(words)
        return _checked(words, checks)


def _checked(values: tf.Tensor, checks: dict[str, tf.Tensor]) -> tf.Tensor:
    """`values`; the graph fails, and shows what is wrong, where a check is false."""
    made = []
    for told, right in checks.items():
        shown: list[Any] = [f"{told}; found"]
        if right.shape.rank and right.shape.rank == values.shape.rank:
            shown.append(tf.boolean_mask(values, ~right))
        else:
            shown.append(tf.shape(values))
        made.append(tf.debugging.Assert(tf.reduce_all(right), shown, summarize=3))
    with tf.control_dependencies(made):  # Before anything else fails of it.
        return tf.identity(values)
