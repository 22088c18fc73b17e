"""What NCE and the sampled softmax share: targets scored against drawn words."""

import abc
import math

import keras
import tensorflow as tf

from seqzoo.layers.alias_sampler import AliasSampler
from seqzoo.layers.output_table import OutputTable
from seqzoo.layers.row_table import rows_in_use, spread

SHARING = ("step", "row", "batch")


class SampledOutput(OutputTable):
    """Scores the targets and `k` words drawn as noise, and no others.

    Args:
        words: classes; ids are 0 to `words - 1`.
        k: noise words for each target.
        counts: (words,), how often each was seen: noise is drawn in proportion. None
            draws all alike, until `sampler.set_counts` or loaded weights say more.
        share: who shares the k words. "step": the rows of a batch at a time step, one
            matmul a step (dpnn's batchnoise). "row": nobody (rownoise); the rows that
            are gathered take `positions * k * dim` numbers. "batch": all positions,
            one matmul in all.
        drop_hits: leave out noise that is the target itself.
        time_major: positions are `(time, batch)`, not `(batch, time)`.
        normalized, logsoftmax, budget, seed: see `OutputTable`.

    Raises:
        ValueError: if `k` is below 1, `share` is unknown or the counts do not fit.
    """

    def __init__(
        self,
        words: int,
        k: int = 100,
        counts=None,
        share: str = "step",
        drop_hits: bool = False,
        time_major: bool = False,
        **kwargs,
    ):
        super().__init__(words, **kwargs)
        if k < 1:
            raise ValueError(f"{self.name}: k must be at least 1, not {k}.")
        if share not in SHARING:
            raise ValueError(
                f"{self.name}: share is {share!r}; one of {', '.join(SHARING)} is "
                "taken."
            )
        self.k = k
        self.share = share
        self.drop_hits = drop_hits
        self.time_major = time_major
        self.sampler = AliasSampler(words, counts, name="sampler")
        self.noise_seeds = keras.random.SeedGenerator(self.seed)

    def losses(self, hidden, targets, noise=None):
        """Losses, `(...)`.

        Args:
            hidden: (..., dim).
            targets: (...), ids from 0.
            noise: ids to use instead of drawing: (steps, k), (..., k) or (k,), as
                `share` is "step", "row" or "batch".
        """
        rank = targets.shape.rank
        hidden, back = self._by_step(hidden, rank)
        targets, _ = self._by_step(targets, rank)
        if noise is None:
            noise = self.draw(tf.shape(targets))
        elif self.share == "row":
            noise, _ = self._by_step(tf.convert_to_tensor(noise), rank)
        else:
            noise = tf.reshape(noise, (-1, self.k))
        return back(self.compare(hidden, targets, noise))

    def draw(self, shape) -> tf.Tensor:
        """New noise for targets of `shape` (steps, rows)."""
        seed = self.noise_seeds.next()
        if self.share == "row":
            return self.sampler.sample(tf.concat([shape, [self.k]], 0), seed)
        return self.sampler.sample(tf.stack([shape[0], self.k]), seed)

    @abc.abstractmethod
    def compare(self, hidden, targets, noise) -> tf.Tensor:
        """Losses, (steps, rows), of noise (steps, k) or (steps, rows, k)."""

    def scores(self, hidden, targets, noise):
        """Scores of the targets and of the noise.

        Returns:
            (steps, rows), of the targets; (steps, rows, k), of the noise without its
            bias, in the type of `hidden`; and its bias, to be added to that.
        """
        used, (own, others) = rows_in_use(targets, noise)
        rows, biases = (
            tf.gather(table.value, used) for table in (self.linearity, self.bias)
        )
        of_noise = spread(rows, others, hidden.dtype)
        if self.share == "row":
            noise_scores = tf.linalg.matvec(of_noise, hidden)
        else:
            noise_scores = tf.matmul(hidden, of_noise, transpose_b=True)
        of_targets = spread(rows, own)
        target_scores = tf.reduce_sum(
            tf.cast(hidden, of_targets.dtype) * of_targets, axis=-1
        )
        return (
            target_scores + spread(biases, own),
            noise_scores,
            self.beside_rows(spread(biases, others)),
        )

    def expected(self, ids) -> tf.Tensor:
        """`log(k * Pn(id))`, in the type of the weights."""
        logs = self.sampler.log_probs(ids) + math.log(self.k)
        return tf.cast(logs, self.variable_dtype)

    def beside_rows(self, noise) -> tf.Tensor:
        """What belongs to the noise, shaped to go with its scores."""
        return noise if self.share == "row" else noise[:, None, :]

    def get_config(self):
        return {
            **super().get_config(),
            "k": self.k,
            "share": self.share,
            "drop_hits": self.drop_hits,
            "time_major": self.time_major,
        }

    def _by_step(self, values, rank):
        """The first `rank` axes as (steps, rows), and the way back for these two."""
        tail = values.shape[rank:]
        shape = tf.shape(values)
        if rank == 2 and self.share != "batch":
            if self.time_major:
                return values, lambda losses: losses
            order = [1, 0, *range(2, values.shape.rank)]
            return tf.transpose(values, order), tf.transpose
        rows = tf.reshape(values, (1, -1, *tail))
        return rows, lambda losses: tf.reshape(losses, shape[:rank])

    def call(self, inputs, mask=None, training=None, noise=None):
        if not isinstance(inputs, (tuple, list)):
            return super().call(inputs)
        return super().call(inputs, mask=mask, training=training, noise=noise)
