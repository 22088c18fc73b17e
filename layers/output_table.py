"""What the output layers of large vocabularies share: a row and a bias a word."""

import abc
import math

import keras
import tensorflow as tf

from seqzoo.layers import full_softmax
from seqzoo.layers.row_table import UniformTable, mark_rows


class OutputTable(keras.layers.Layer, abc.ABC):
    """Scores `linearity @ h + bias` over a vocabulary that is seldom scored whole.

    Called with `(hidden, targets)` or `(hidden, targets, mask)` it puts out a loss for
    each position: in training what the subclass says; in evaluation the same, or with
    `normalized` the exact `-log p(target)`, whose mean is the logarithm of the
    perplexity. Called with `hidden` alone it puts out all words' probabilities.

    Rows start uniform in +-1/sqrt(dim) and the bias at `-log(words)`, so that all
    words together start with probability 1 where `Z` is 1.

    Args:
        words: classes; ids are 0 to `words - 1`.
        normalized: evaluate by the full softmax, in pieces of bounded memory.
        logsoftmax: put out logarithms where all words are asked for.
        budget: numbers of scores held at a time in evaluation.
        seed: of the initial values and of what training draws; None draws anew.

    Input shape: `hidden` `(..., dim)`; `targets` and `mask` `(...)`. The mask, True
        where there is a target, says what counts; it is never read off the targets.
        Without one, the Keras mask of `hidden` is taken. A target under the mask
        need not be a word.
    Output shape: `(...)`, 0 where masked, in the type of the weights; `(..., words)`
        for `hidden` alone.
    Mask: that of the targets, so that Keras's mean is over real positions.

    Raises:
        ValueError: if `words` or `budget` is below 1 or the inputs do not fit.
    """

    def __init__(
        self,
        words: int,
        normalized: bool = False,
        logsoftmax: bool = False,
        budget: int = full_softmax.BUDGET,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        for option, value in (("words", words), ("budget", budget)):
            if value < 1:
                raise ValueError(
                    f"{self.name}: {option} must be at least 1, not {value}."
                )
        self.words = words
        self.normalized = normalized
        self.logsoftmax = logsoftmax
        self.budget = budget
        self.seed = seed
        self.supports_masking = True

    @abc.abstractmethod
    def losses(self, hidden, targets, **noise) -> tf.Tensor:
        """The training losses, `(...)`, of targets that are all words."""

    def build(self, input_shape):
        if isinstance(input_shape[0], (tuple, list)):
            input_shape = input_shape[0]
        dim = input_shape[-1]
        reach = 1 / math.sqrt(dim)
        # Autocast would make a half-precision copy of the table for each call.
        self.linearity = mark_rows(
            self.add_weight(
                name="linearity",
                shape=(self.words, dim),
                initializer=UniformTable(-reach, reach, self.seed),
                autocast=False,
            )
        )
        self.bias = mark_rows(
            self.add_weight(
                name="bias",
                shape=(self.words,),
                initializer=keras.initializers.Constant(-math.log(self.words)),
                autocast=False,
            )
        )

    def call(self, inputs, mask=None, training=None, **noise):
        if not isinstance(inputs, (tuple, list)):
            return self.probs(inputs)
        hidden, targets, mask = self._unpack(inputs, mask)
        if mask is not None:
            targets = tf.where(mask, targets, tf.zeros_like(targets))
        if self.normalized and not training:
            losses = -self.log_probs(hidden, targets)
        else:
            losses = self.losses(hidden, targets, **noise)
        losses = tf.cast(losses, self.variable_dtype)
        return losses if mask is None else tf.where(mask, losses, 0)

    def log_probs(self, hidden, targets, dtype=None) -> tf.Tensor:
        """Exact log-probabilities of the targets, `(...)`; no scores are kept.

        Args:
            hidden: (..., dim).
            targets: (...), ids from 0.
            dtype: of the products, for example "bfloat16"; None takes the layer's.
        """
        hidden = tf.cast(hidden, self.compute_dtype)
        flat = full_softmax.target_log_probs(
            tf.reshape(hidden, (-1, self.linearity.shape[1])),
            self.linearity.value,
            self.bias.value,
            tf.reshape(targets, (-1,)),
            self.budget,
            dtype,
        )
        return tf.reshape(flat, tf.shape(targets))

    def probs(self, hidden) -> tf.Tensor:
        """All words' probabilities, `(..., words)`, or their logarithms."""
        scores = self.all_scores(hidden)
        return tf.nn.log_softmax(scores) if self.logsoftmax else tf.nn.softmax(scores)

    def all_scores(self, hidden) -> tf.Tensor:
        """All words' scores, `(..., words)`, in the type of the weights."""
        hidden = tf.cast(hidden, self.compute_dtype)
        rows = tf.cast(tf.convert_to_tensor(self.linearity.value), hidden.dtype)
        scores = tf.tensordot(hidden, rows, [[-1], [1]])
        return tf.cast(scores, self.variable_dtype) + self.bias.value

    def compute_mask(self, inputs, mask=None):
        if not isinstance(inputs, (tuple, list)):
            return mask
        if len(inputs) == 3:
            return inputs[2]
        return mask[0] if isinstance(mask, (tuple, list)) else mask

    def compute_output_shape(self, input_shape):
        if isinstance(input_shape[0], (tuple, list)):
            return tuple(input_shape[1])
        return (*input_shape[:-1], self.words)

    def compute_output_spec(self, inputs, *args, **kwargs):
        shapes = keras.tree.map_structure(lambda tensor: tensor.shape, inputs)
        shape = self.compute_output_shape(shapes)
        return keras.KerasTensor(shape, dtype=self.variable_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "words": self.words,
            "normalized": self.normalized,
            "logsoftmax": self.logsoftmax,
            "budget": self.budget,
            "seed": self.seed,
        }

    def _unpack(self, inputs, mask):
        if len(inputs) not in (2, 3):
            raise ValueError(
                f"{self.name}: {len(inputs)} inputs came; hidden alone, (hidden, "
                "targets) or (hidden, targets, mask) are taken."
            )
        hidden, targets = (tf.convert_to_tensor(part) for part in inputs[:2])
        if not targets.dtype.is_integer:
            raise ValueError(
                f"{self.name}: targets are {targets.dtype.name}; word ids (int32 or "
                "int64) are taken."
            )
        if hidden.shape.rank != targets.shape.rank + 1:
            raise ValueError(
                f"{self.name}: hidden has shape {hidden.shape} and targets "
                f"{targets.shape}; (..., dim) and (...) are taken."
            )
        found = self.compute_mask(inputs, mask)
        return hidden, targets, None if found is None else tf.cast(found, tf.bool)


@keras.saving.register_keras_serializable(package="seqzoo")
class FullSoftmax(OutputTable):
    """Cross-entropy by the full softmax, whose scores are never held whole.

    Trained so, a network can be compared with one trained by `NCE`; the weights are
    the same. A step costs in proportion to `words`. See `OutputTable`.
    """

    def losses(self, hidden, targets, **noise):
        flat = full_softmax.full_softmax_losses(
            tf.reshape(hidden, (-1, self.linearity.shape[1])),
            self.linearity.value,
            self.bias.value,
            tf.reshape(targets, (-1,)),
            self.budget,
        )
        return tf.reshape(flat, tf.shape(targets))


@keras.saving.register_keras_serializable(package="seqzoo")
def given_losses(targets, losses):
    """For `compile(loss=...)`: the losses that the model itself puts out."""
    return losses


def sum_of_step_means(losses, mask=None, time_axis: int = 1) -> tf.Tensor:
    """dpnn's criterion: per time step the mean over real rows, summed over steps.

    Args:
        losses: (batch, time), 0 where masked.
        mask: the same shape, True on real positions; None takes all.
        time_axis: 0 where losses are (time, batch).

    Returns:
        A scalar. A step without a real row adds 0.
    """
    rows = 1 - time_axis
    if mask is None:
        return tf.reduce_sum(tf.reduce_mean(losses, axis=rows))
    real = tf.reduce_sum(tf.cast(mask, losses.dtype), axis=rows)
    return tf.reduce_sum(tf.reduce_sum(losses, axis=rows) / tf.maximum(real, 1))
