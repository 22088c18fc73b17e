"""Draws text from a language model."""

import math
from collections.abc import Iterable, Iterator

import numpy as np
import tensorflow as tf

from seqzoo.zoo.language.language_model import LanguageModel


class Sampler:
    """Draws words one after another.

    A sentence begins with `<S>` and a state of zero; each word is drawn by the full
    softmax, and goes in to draw the next. After `</S>` the next sentence begins.

    Characters go on for ever from a state of zero. The first of them, that nothing is
    in front of, is any with the same probability.

    Args:
        model: with its weights.
        start, end: the ids of `<S>` and `</S>`; None of a model of characters.

    Source: Element-Research/rnn, examples/evaluate-rnnlm.lua; torch-rnn, sample.lua.
    """

    def __init__(
        self, model: LanguageModel, start: int | None = None, end: int | None = None
    ):
        self._model = model
        self._start = start
        self._end = end

        @tf.function(autograph=False)
        def step(word, state, temperature, excluded, number):
            logs, state = model.next_log_probs(word, state)
            return draw(logs[0], temperature, excluded, number), state

        self._step = step

    @property
    def traces(self) -> int:
        """How often the computation was laid out."""
        return self._step.experimental_get_tracing_count()

    def words(
        self,
        count: int,
        *,
        temperature: float = 1.0,
        seed: int = 1,
        prompt: Iterable[int] = (),
        excluded: int = 0,
    ) -> Iterator[int]:
        """Word ids, as they are drawn.

        Args:
            count: words to draw, with `</S>`, without the prompt.
            temperature: probabilities are `p ** (1 / temperature)`, normalised; 0
                always takes the most likely word.
            seed: of the draws.
            prompt: ids that the text begins with; they come first.
            excluded: an id never to be drawn, say that of `<UNK>`; 0 is none.

        Raises:
            ValueError: if the count or the temperature is below 0, or no number.
        """
        if count < 0 or not temperature >= 0:
            raise ValueError(
                f"count is {count} and temperature {temperature}; both are 0 or more."
            )
        return self._words(count, temperature, seed, list(prompt), excluded)

    def _words(
        self,
        count: int,
        temperature: float,
        seed: int,
        prompt: list[int],
        excluded: int,
    ) -> Iterator[int]:
        numbers = uniform_numbers(seed)
        fixed = tf.constant(temperature, tf.float64), tf.constant(excluded)
        last, state = self._start, self._model.zero_state(1)
        while count or prompt:
            # Where the prompt says the word, no number is used up.
            number = 0.0 if prompt else next(numbers)
            share = tf.constant(number, tf.float64)
            if last is None:
                word = draw(tf.zeros(self._model.words), *fixed, share)
            else:
                word, state = self._step(tf.constant([[last]]), state, *fixed, share)
            if prompt:
                last = prompt.pop(0)
            else:
                last = int(word)
                count -= 1
            yield last
            if last == self._end:
                last, state = self._start, self._model.zero_state(1)


def draw(log_probs, temperature, excluded, number) -> tf.Tensor:
    """The id, from 1, of the first word whose cumulative probability is `number`.

    Torch's multinomial takes the same word for the same number.

    Args:
        log_probs: (words,); a constant may be added to all.
        temperature: float64, they are divided by; 0 takes the first of the largest.
        excluded: an id that has probability 0; 0 is none.
        number: float64 in [0, 1).

    Returns:
        An int32 scalar.
    """
    logs = tf.cast(log_probs, tf.float64)
    ids = tf.range(1, tf.size(logs) + 1)
    logs = tf.where(ids == excluded, tf.constant(-math.inf, tf.float64), logs)
    # A low temperature would take them below any number, were the largest not 0.
    logs -= tf.reduce_max(logs)
    divisor = tf.where(temperature > 0, temperature, tf.ones_like(temperature))
    shares = tf.cumsum(tf.exp(logs / divisor))
    # At 0 exactly, a word of probability 0 in front would be taken. TensorFlow takes
    # anything below the least normal number for 0.
    least = tf.constant(np.finfo(np.float64).tiny, tf.float64)
    wanted = tf.maximum(number * shares[-1], least)
    drawn = 1 + tf.searchsorted(shares, wanted[tf.newaxis])[0]
    best = 1 + tf.argmax(logs, output_type=tf.int32)
    return tf.where(temperature > 0, drawn, best)


def uniform_numbers(seed: int) -> Iterator[float]:
    """The numbers in [0, 1) that `torch.uniform()` gives after `manualSeed(seed)`."""
    random = np.random.RandomState(seed)
    while True:
        for word in random.randint(1 << 32, size=1024, dtype=np.uint32).tolist():
            yield word / 2**32
