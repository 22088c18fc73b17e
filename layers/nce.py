"""NCE: noise-contrastive estimation over a large vocabulary."""

import keras
import tensorflow as tf

from seqzoo.layers.sampled_output import SampledOutput
from seqzoo.layers.softplus_sum import softplus_sum


@keras.saving.register_keras_serializable(package="seqzoo")
class NCE(SampledOutput):
    """Learns to tell the target from k noise words, instead of normalising.

    With `P(w) = exp(linearity[w] . h + bias[w]) / Z` and noise drawn by `Pn`, the loss
    of a target `t` with noise `n_1 .. n_k` is

        -ln(P(t) / (P(t) + k Pn(t))) - sum_j ln(k Pn(n_j) / (P(n_j) + k Pn(n_j)))

    computed from logarithms. The words' probabilities then come to sum to about 1 by
    themselves. A step costs the same whatever the number of words.

    Args:
        words: classes; ids are 0 to `words - 1`.
        k: noise words for each target.
        counts: (words,), how often each was seen, for the noise; see `SampledOutput`.
        share: "step", "row" or "batch": who shares the noise; see `SampledOutput`.
        z: the constant `Z`. 0 or below estimates it in the first call, as `words`
            times the mean of exp(score) over the noise of the first time step (with
            `share="row"` and the targets); it is then kept, in the weight `z`.
        eps: 0 is the exact form. dpnn's 1e-7 puts its constant into the loss and its
            gradient as dpnn has them: at 793,471 words it takes a tenth off the
            gradients.
        drop_hits: leave out noise that is the target. This is another objective, and
            not the one whose `P` are probabilities.
        time_major, normalized, logsoftmax, budget, seed: see `SampledOutput`.

    Inputs, outputs and masks are those of `OutputTable`: called with `(hidden,
    targets)` or `(hidden, targets, mask)` it puts out a loss for each position.

    Raises:
        ValueError: if an option is out of its range or the counts do not fit.

    Source: Element-Research/dpnn, NCEModule.lua and NCECriterion.lua.
    """

    def __init__(
        self,
        words: int,
        k: int = 100,
        counts=None,
        z: float = 1.0,
        eps: float = 0.0,
        **kwargs,
    ):
        super().__init__(words, k, counts, **kwargs)
        if eps < 0:
            raise ValueError(f"{self.name}: eps is {eps}, below 0.")
        self.initial_z = z
        self.eps = eps

    def build(self, input_shape):
        super().build(input_shape)
        # 0 stands for "not estimated yet".
        self.z = self.add_weight(
            name="z",
            shape=(),
            initializer=keras.initializers.Constant(max(self.initial_z, 0)),
            trainable=False,
            autocast=False,
        )

    def compare(self, hidden, targets, noise):
        target_scores, noise_scores, bias = self.scores(hidden, targets, noise)
        log_z = tf.math.log(self._constant(target_scores, noise_scores, bias))
        target_scores -= log_z
        target_noise = self.expected(targets)
        noise_noise = self.beside_rows(self.expected(noise))
        if self.eps == 0:
            own = tf.nn.softplus(target_noise - target_scores)
            bias -= noise_noise + log_z
            if not self.drop_hits:
                return own + softplus_sum(noise_scores, bias)
            odds = tf.cast(noise_scores, bias.dtype) + bias
            odds = tf.where(self._hits(targets, noise), odds.dtype.min, odds)
            return own + softplus_sum(odds, tf.zeros_like(bias))
        scores = tf.cast(noise_scores, bias.dtype) + (bias - log_z)
        losses = _noise_losses(scores, noise_noise, self.eps)
        if self.drop_hits:
            losses = tf.where(self._hits(targets, noise), 0, losses)
        return _target_losses(target_scores, target_noise, self.eps) + tf.reduce_sum(
            losses, axis=-1
        )

    def get_config(self):
        return {**super().get_config(), "z": self.initial_z, "eps": self.eps}

    def _hits(self, targets, noise):
        """Where noise is the target."""
        return self.beside_rows(noise) == tf.cast(targets, noise.dtype)[..., None]

    def _constant(self, target_scores, noise_scores, bias):
        if self.initial_z > 0:
            return self.z.value

        def estimate():
            scores = tf.cast(noise_scores[0], bias.dtype) + bias[0]
            total = tf.reduce_mean(tf.exp(scores))
            if self.share == "row":
                total = (self.k * total + tf.reduce_mean(tf.exp(target_scores[0]))) / (
                    self.k + 1
                )
            self.z.assign(tf.stop_gradient(self.words * total))
            return tf.identity(self.z.value)

        return tf.stop_gradient(
            tf.cond(self.z.value > 0, lambda: tf.identity(self.z.value), estimate)
        )


def _target_losses(scores, expected, eps):
    """dpnn's loss of targets; its gradient has `eps` in other places than its loss."""

    @tf.custom_gradient
    def losses(scores):
        probs, noise = tf.exp(scores), tf.exp(expected)
        total = probs + noise + eps

        def gradient(upstream):
            return -upstream * noise / (total * (probs + eps)) * probs

        return -tf.math.log(probs / total), gradient

    return losses(scores)


def _noise_losses(scores, expected, eps):
    """The same for noise, one by one."""

    @tf.custom_gradient
    def losses(scores):
        probs, noise = tf.exp(scores), tf.exp(expected)
        total = probs + noise + eps

        def gradient(upstream):
            return upstream * probs / (total * (probs + eps)) * probs

        return -tf.math.log(noise / total), gradient

    return losses(scores)
