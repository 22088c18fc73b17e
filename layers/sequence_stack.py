"""SequenceStack: recurrent layers one on the other, and dropout between them."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo.layers.sequence_layer import SequenceLayer


@keras.saving.register_keras_serializable(package="seqzoo")
class SequenceStack(keras.layers.Layer):
    """Layers such as `SeqLSTM`, each followed by dropout, as one.

    A state is a tuple of the layers' states. Dropout acts on outputs, never on the
    way from step to step.

    Args:
        layers: from the inputs on; all with the same `time_major`.
        dropout: share of the outputs of each layer that is dropped in training; 0 has
            no dropout.
        seed: of the dropout; None draws anew.

    Input, output and mask are those of the layers; all are given the same mask.

    Raises:
        ValueError: if there is no layer, their order of axes differs or the dropout is
            outside [0, 1).

    Source: Element-Research/rnn, examples/noise-contrastive-estimate.lua.
    """

    def __init__(
        self,
        layers: Sequence[SequenceLayer],
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        layers = [
            keras.layers.deserialize(layer) if isinstance(layer, dict) else layer
            for layer in layers
        ]
        if not layers:
            raise ValueError(f"{self.name}: layers must name at least one layer.")
        if len({layer.time_major for layer in layers}) > 1:
            raise ValueError(
                f"{self.name}: some layers take time first and some the batch; give "
                "all the same time_major."
            )
        if not 0 <= dropout < 1:
            raise ValueError(
                f"{self.name}: dropout is {dropout}; it is taken in [0, 1)."
            )
        self.layers = layers
        self.dropout = dropout
        self.seed = seed
        self.supports_masking = True
        self.drops = []
        if dropout:
            self.drops = [
                keras.layers.Dropout(
                    dropout,
                    seed=None if seed is None else seed + place,
                    dtype=self.dtype_policy,
                )
                for place in range(len(layers))
            ]

    def zero_state(self, batch) -> tuple[tuple[tf.Tensor, ...], ...]:
        """The state before the first step, by layer."""
        return tuple(layer.zero_state(batch) for layer in self.layers)

    def build(self, input_shape):
        for layer in self.layers:
            if not layer.built:
                layer.build(input_shape)
                layer.built = True
            input_shape = layer.compute_output_shape(input_shape)

    def run(self, inputs, state, mask=None, training=False):
        """Runs on from a state; as the layers' `run`, but of `state` by layer."""
        x, after = inputs, []
        for place, (layer, part) in enumerate(zip(self.layers, state, strict=True)):
            x, left = layer.run(x, part, mask)
            after.append(left)
            if self.drops:
                x = self.drops[place](x, training=training)
        return x, tuple(after)

    def call(self, inputs, mask=None, training=False):
        batch = tf.shape(inputs)[1 if self.layers[0].time_major else 0]
        return self.run(inputs, self.zero_state(batch), mask, training)[0]

    def compute_output_shape(self, input_shape):
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def get_config(self):
        return {
            **super().get_config(),
            "layers": [keras.layers.serialize(layer) for layer in self.layers],
            "dropout": self.dropout,
            "seed": self.seed,
        }
