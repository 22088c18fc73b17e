"""LanguageModel: what all language models of the zoo are."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from seqzoo import layers
from seqzoo.zoo.language.language_config import LanguageConfig

State = tuple[tuple[tf.Tensor, ...], ...]
"""Of each recurrent layer its parts, each `(batch, n)`."""


@keras.saving.register_keras_serializable(package="seqzoo")
class LanguageModel(keras.Model):
    """Tells, of each word, how likely it follows those before it.

    Word ids are 1 to `words`; input id 0 stands between sentences, puts out nothing
    and empties the state; target id 0 is none. Called with `{"words", "targets"}`, both
    `(batch, time)` ids, it puts out `{"losses": (batch, time)}`, 0 where there is no
    target: in training those of the output layer, in evaluation `-log p(target)` by
    the full softmax. `compile(loss={"losses": layers.given_losses})` trains it, with
    the targets once more as labels.

    Args:
        embedding: `(..., ) ids -> (..., dim)`.
        recurrent: layers with `time_major=True`, and the dropout behind each.
        output: over the words, with `time_major=True` and `normalized=True`.
        dropout: behind the embedding.
        seed: of this dropout.
        noise_power: see `set_counts`.

    Source: Element-Research/rnn, examples/noise-contrastive-estimate.lua.
    """

    def __init__(
        self,
        embedding: layers.MaskedEmbedding,
        recurrent: layers.SequenceStack,
        output: layers.NCE | layers.SampledSoftmax | layers.FullSoftmax,
        dropout: float = 0.0,
        seed: int | None = None,
        noise_power: float = 1.0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        parts = (embedding, recurrent, output)
        embedding, recurrent, output = (
            keras.layers.deserialize(part) if isinstance(part, dict) else part
            for part in parts
        )
        self.embedding = embedding
        self.recurrent = recurrent
        self.output_layer = output
        self.dropout = dropout
        self.seed = seed
        self.noise_power = noise_power
        self.drop: keras.layers.Dropout | None = None
        if dropout:
            self.drop = keras.layers.Dropout(
                dropout, seed=seed, dtype=recurrent.dtype_policy, name="dropout"
            )

    @property
    def words(self) -> int:
        """Words of the vocabulary."""
        return self.output_layer.words

    @property
    def parameters(self) -> int:
        """Numbers that are trained."""
        return sum(math.prod(weight.shape) for weight in self.trainable_weights)

    def build(self, input_shape=None):
        """Makes all weights; whatever shape is given, they are the same."""
        if self.built:
            return
        width = self.embedding.dim
        _build(self.embedding, (None, None))
        _build(self.recurrent, (None, None, width))
        shape = self.recurrent.compute_output_shape((None, None, width))
        _build(self.output_layer, shape)
        if self.drop is not None:
            _build(self.drop, (None, None, width))
        self.built = True

    def zero_state(self, batch) -> State:
        """The state before the first word of `batch` rows."""
        return self.recurrent.zero_state(batch)

    def run(self, words, state: State, training: bool = False):
        """The output layer's inputs, going on from a state.

        Args:
            words: `(time, batch)` ids.
            state: of `zero_state` or of the run before.
            training: whether there is dropout.

        Returns:
            `(time, batch, dim)`, and the state after the last word.
        """
        x = self.embedding(words)
        if self.drop is not None:
            x = self.drop(x, training=training)
        return self.recurrent.run(x, state, tf.not_equal(words, 0), training)

    def word_losses(
        self, words, targets, state: State, training: bool = False, noise=None
    ):
        """Training losses, going on from a state.

        Args:
            words, targets: `(time, batch)` ids; no target is 0.
            state: as in `run`.
            training: as in `run`. Losses are the output layer's in any case.
            noise: word ids to take instead of drawing, `(time, k)`, or
                `(time, batch, k)` with `rownoise`.

        Returns:
            Losses `(time, batch)`, 0 where there is no target, and the state after.
        """
        hidden, state = self.run(words, state, training)
        real = tf.not_equal(targets, 0)
        # The output layer counts from 0, and takes any id where there is no target.
        given = {} if noise is None else {"noise": noise - 1}
        found = self.output_layer.losses(hidden, tf.maximum(targets, 1) - 1, **given)
        found = tf.cast(found, self.output_layer.variable_dtype)
        return tf.where(real, found, 0), state

    def log_probs(self, words, targets, state: State, dtype=None):
        """Log-probabilities of the targets by the full softmax, going on from a state.

        Args:
            words, targets, state: as in `word_losses`.
            dtype: of the softmax's products; None takes the output layer's.

        Returns:
            `(time, batch)`, 0 where there is no target, and the state after.
        """
        hidden, state = self.run(words, state)
        real = tf.where(tf.not_equal(targets, 0))
        # Rows without a target would cost a softmax each.
        ids = tf.gather_nd(targets, real) - 1
        found = self.output_layer.log_probs(tf.gather_nd(hidden, real), ids, dtype)
        shape = tf.shape(targets, out_type=tf.int64)
        return tf.scatter_nd(real, found, shape), state

    def next_log_probs(self, words, state: State):
        """Log-probabilities of all words to follow the last one, and the state after.

        Args:
            words: `(time, batch)` ids, one time step at least.
            state: as in `run`.

        Returns:
            `(batch, words)`; column 0 is word id 1.
        """
        hidden, state = self.run(words, state)
        return tf.nn.log_softmax(self.output_layer.all_scores(hidden[-1])), state

    def call(self, inputs: Mapping[str, Any], training: bool = False):
        words = tf.transpose(tf.convert_to_tensor(inputs["words"]))
        targets = tf.transpose(tf.convert_to_tensor(inputs["targets"]))
        state = self.zero_state(tf.shape(words)[1])
        if training:
            found, _ = self.word_losses(words, targets, state, training=True)
        else:
            found, _ = self.log_probs(words, targets, state)
            found = -found
        return {"losses": tf.transpose(found)}

    def compute_output_spec(self, inputs, *args, **kwargs):
        dtype = self.output_layer.variable_dtype
        return {"losses": keras.KerasTensor(inputs["targets"].shape, dtype=dtype)}

    def named_weights(self) -> dict[str, keras.Variable]:
        """All there is to keep of the model: `lstm_1/bias`, ..., `seed/noise`.

        The noise's tables are not among them: `set_counts` makes them.
        """
        parts = [self.embedding, *self.recurrent.layers, self.output_layer]
        found = {
            f"{part.name}/{weight.name}": weight
            for part in parts
            for weight in part.trainable_weights
        }
        if (constant := getattr(self.output_layer, "z", None)) is not None:
            found["output/z"] = constant
        if noise := getattr(self.output_layer, "noise_seeds", None):
            found["seed/noise"] = noise.state
        drops = [self.drop, *self.recurrent.drops] if self.drop else []
        for number, drop in enumerate(drops):
            found[f"seed/dropout_{number}"] = drop.seed_generator.state
        return found

    def set_counts(self, counts) -> None:
        """Draws noise by how often each word was seen from now on.

        Args:
            counts: `(words,)`; they are taken to the power `noise_power`.
        """
        if sampler := getattr(self.output_layer, "sampler", None):
            power = self.noise_power
            sampler.set_counts(counts if power == 1 else np.power(counts, power))

    def start_biases(self, counts) -> None:
        """Sets the output's biases to the logarithms of the words' shares.

        Args:
            counts: `(words,)`; one never seen counts as half a word.
        """
        seen = np.maximum(np.asarray(counts, np.float64), 0.5)
        self.output_layer.bias.assign(np.log(seen / seen.sum()))

    def get_config(self):
        return {
            **super().get_config(),
            "embedding": keras.layers.serialize(self.embedding),
            "recurrent": keras.layers.serialize(self.recurrent),
            "output": keras.layers.serialize(self.output_layer),
            "dropout": self.dropout,
            "seed": self.seed,
            "noise_power": self.noise_power,
        }


def recurrent_options(config: LanguageConfig, number: int) -> dict[str, Any]:
    """Arguments of the recurrent layer `number`, from 1, that all kinds take."""
    return {
        "time_major": True,
        "uniform": config.uniform if config.uniform > 0 else None,
        "seed": 1000 * config.seed + 100 * number,
    }


def assemble(
    config: LanguageConfig, recurrent: Sequence[layers.SequenceLayer], name: str
) -> LanguageModel:
    """The model of some recurrent layers; its weights are there.

    Raises:
        ValueError: if `config.words` is 0.
    """
    if config.words < 1:
        raise ValueError(f"words is {config.words}; give the size of the vocabulary.")
    seed = 1000 * config.seed
    model = LanguageModel(
        layers.MaskedEmbedding(
            config.words,
            config.input_dim,
            uniform=config.uniform if config.uniform > 0 else None,
            seed=seed,
            name="embedding",
        ),
        layers.SequenceStack(recurrent, config.dropout, seed + 1, name="recurrent"),
        _output(config, seed + 2),
        config.dropout,
        seed + 3,
        config.noise_power,
        name=name,
    )
    model.build()
    return model


def _output(config: LanguageConfig, seed: int):
    shared: dict[str, Any] = {"normalized": True, "seed": seed, "name": "output"}
    if config.output == "full_softmax":
        return layers.FullSoftmax(config.words, **shared)
    share = "row" if config.rownoise else "step"
    shared |= {"share": share, "time_major": True}
    if config.output == "sampled_softmax":
        return layers.SampledSoftmax(config.words, config.k, **shared)
    return layers.NCE(config.words, config.k, z=config.Z, eps=config.eps, **shared)


def _build(layer: keras.layers.Layer, shape) -> None:
    if not layer.built:
        layer.build(shape)
        layer.built = True
