"""Draws words from their counts, whatever their number, at the same cost a draw."""

import array
import dataclasses

import keras
import numpy as np
import tensorflow as tf


@dataclasses.dataclass(frozen=True)
class AliasTable:
    """A distribution cut into as many equal columns as it has words.

    Column `i` gives word `i` with probability `keep[i]`, else `other[i]`.
    """

    keep: np.ndarray
    """(words,), in [0, 1]."""

    other: np.ndarray
    """(words,), ids from 0; where `keep` is 1, any."""

    def draw(self, random: np.random.RandomState, shape) -> np.ndarray:
        """Ids from 0, int64, as torch.AliasMultinomial:batchdraw gives them.

        Torch and NumPy's RandomState turn a seed into the same 32-bit words. The
        first half of those taken here are the columns, the second half choose.
        """
        size = int(np.prod(shape, dtype=np.int64))
        words = random.randint(0, 2**32, 2 * size, dtype=np.uint32).astype(np.int64)
        column = words[:size] % len(self.keep)
        kept = words[size:] / 2.0**32 <= self.keep[column]
        return np.where(kept, column, self.other[column]).reshape(shape)


def alias_table(probs: np.ndarray) -> AliasTable:
    """The table of Walker's alias method, equal to torch.AliasMultinomial's.

    A column of less than average probability is filled up from the last one above
    it; what is left of that one goes back on its pile. In single precision it rounds
    where Torch does, which puts rare words off by up to a seventh where there are
    800,000.

    Args:
        probs: (words,), with sum 1, float32 or float64.
    """
    probs = np.asarray(probs)
    scaled = (probs.astype(np.float64) * len(probs)).astype(probs.dtype)
    single = probs.dtype == np.float32
    rounded = array.array("f", [0.0])
    # Each step depends on the one before it, so it is done number by number. Lists
    # would take five times the memory.
    keep = array.array("d", scaled.astype(np.float64).tobytes())
    other = array.array("i", [-1]) * len(keep)
    small, large = (
        array.array("q", np.flatnonzero(piles).tobytes())
        for piles in (scaled < 1, scaled >= 1)
    )
    while small and large:
        rich = large.pop()
        left = keep[rich]
        while left >= 1 and small:
            poor = small.pop()
            other[poor] = rich
            left -= 1.0 - keep[poor]
            if single:
                rounded[0] = left
                left = rounded[0]
        keep[rich] = left
        (small if left < 1 else large).append(rich)
    table = np.frombuffer(keep).astype(probs.dtype)
    if table.size and table.max() > 1:
        table /= table.max()
    others = np.frombuffer(other, np.intc).astype(np.int64)
    table[others < 0] = 1
    return AliasTable(table, np.maximum(others, 0))


def word_probs(counts, words: int, name: str = "counts") -> np.ndarray:
    """Counts over their sum, float64.

    Raises:
        ValueError: if there are not `words` of them, or one is negative or no number,
            or all are 0.
    """
    counts = np.asarray(counts)
    if counts.shape != (words,):
        raise ValueError(
            f"{name}: counts have shape {counts.shape}; ({words},) is taken, "
            "one for each word."
        )
    if not np.isfinite(counts).all() or (counts < 0).any():
        word = int(np.argmax(~np.isfinite(counts) | (counts < 0)))
        raise ValueError(
            f"{name}: the count of word {word} is {counts[word]}; from 0 up is taken."
        )
    total = counts.sum(dtype=np.float64)
    if total <= 0:
        raise ValueError(f"{name}: all {words} counts are 0; one word must be seen.")
    return counts / total


@keras.saving.register_keras_serializable(package="seqzoo")
class AliasSampler(keras.layers.Layer):
    """Draws word ids in the graph, each in a fixed number of operations.

    The tables are weights that are not trained, 12 bytes a word: they are saved and
    loaded with the model, so its config does not hold the counts.

    Args:
        words: their number; ids are 0 to `words - 1`, in any order.
        counts: (words,), how often each was seen; None draws them all alike.

    Raises:
        ValueError: if `counts` do not fit (see `word_probs`).

    Source: torchx, AliasMultinomial.lua.
    """

    def __init__(self, words: int, counts=None, **kwargs):
        super().__init__(trainable=False, **{**kwargs, "autocast": False})
        if words < 1:
            raise ValueError(f"{self.name}: words must be at least 1, not {words}.")
        self.words = words
        make = dict(shape=(words,), trainable=False, autocast=False)
        self.probs = self.add_weight(
            name="probs",
            dtype="float32",
            initializer=keras.initializers.Constant(1 / words),
            **make,
        )
        self.keep = self.add_weight(
            name="keep", dtype="float32", initializer="ones", **make
        )
        self.other = self.add_weight(
            name="other", dtype="int32", initializer="zeros", **make
        )
        self.built = True
        if counts is not None:
            self.set_counts(counts)

    def set_counts(self, counts) -> None:
        """Draws by these from now on."""
        probs = word_probs(counts, self.words, self.name)
        table = alias_table(probs)
        self.probs.assign(probs)
        self.keep.assign(table.keep)
        self.other.assign(table.other)

    def sample(self, shape, seed) -> tf.Tensor:
        """Ids, int32, of `shape`, drawn with replacement.

        Args:
            shape: ints or an int tensor.
            seed: two ints, or an int tensor (2,): the same ids for the same seed.
        """
        seeds = tf.random.split(tf.cast(seed, tf.int32), 2)
        # Of 64 bits the remainder favours no word; of 32 it would by up to 2e-4.
        column = tf.cast(
            tf.random.stateless_uniform(
                shape, seeds[0], minval=0, maxval=self.words, dtype=tf.int64
            ),
            tf.int32,
        )
        kept = tf.random.stateless_uniform(shape, seeds[1]) < tf.gather(
            self.keep.value, column
        )
        return tf.where(kept, column, tf.gather(self.other.value, column))

    def log_probs(self, ids) -> tf.Tensor:
        """The log-probability that a draw is that word, float32, shaped as `ids`."""
        # The floor is far below a single sighting; it keeps words never seen finite.
        return tf.math.log(tf.maximum(tf.gather(self.probs.value, ids), 1e-30))

    def get_config(self):
        return {**super().get_config(), "words": self.words}
