"""SampledSoftmax: cross-entropy among the target and drawn words."""

import keras
import tensorflow as tf

from seqzoo.layers.sampled_output import SampledOutput


@keras.saving.register_keras_serializable(package="seqzoo")
class SampledSoftmax(SampledOutput):
    """The softmax over the target and k noise words, corrected for how these came.

    With scores `s` and noise drawn by `Pn`, the loss of a target `t` is the
    cross-entropy of `t` in the softmax of `s[w] - ln(k Pn(w))` over `t` and the noise.
    Its gradient tends to the full softmax's as k grows. The loss itself is no
    perplexity: evaluate with `normalized`.

    Args:
        words: classes; ids are 0 to `words - 1`.
        k: noise words for each target.
        counts: (words,), how often each was seen, for the noise; see `SampledOutput`.
        share: "step", "row" or "batch": who shares the noise; see `SampledOutput`.
        drop_hits: leave out noise that is the target, which would else count twice.
        time_major, normalized, logsoftmax, budget, seed: see `SampledOutput`.

    Inputs, outputs and masks are those of `OutputTable`.

    Raises:
        ValueError: if an option is out of its range or the counts do not fit.
    """

    def __init__(
        self,
        words: int,
        k: int = 100,
        counts=None,
        share: str = "step",
        drop_hits: bool = True,
        **kwargs,
    ):
        super().__init__(words, k, counts, share, drop_hits, **kwargs)

    def compare(self, hidden, targets, noise):
        own, others, bias = self.scores(hidden, targets, noise)
        own -= self.expected(targets)
        expected = self.beside_rows(self.expected(noise))
        others = tf.cast(others, bias.dtype) + (bias - expected)
        if self.drop_hits:
            hits = self.beside_rows(noise) == tf.cast(targets, noise.dtype)[..., None]
            others = tf.where(hits, others.dtype.min, others)
        return _cross_entropy(own, others)


@tf.custom_gradient
def _cross_entropy(own, others):
    """`ln(exp(own) + sum(exp(others))) - own`, others along the last axis."""
    top = tf.maximum(own, tf.reduce_max(others, axis=-1))
    shares = tf.exp(others - top[..., None])
    mine = tf.exp(own - top)
    total = mine + tf.reduce_sum(shares, axis=-1)

    def gradient(upstream):
        return (
            upstream * (mine / total - 1),
            (upstream / total)[..., None] * shares,
        )

    return top + tf.math.log(total) - own, gradient
