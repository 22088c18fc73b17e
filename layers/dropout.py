"""Dropout whose rate may change between steps without tracing them anew."""

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="seqzoo")
class Dropout(keras.layers.Dropout):
    """Keras's `Dropout`, with a rate that graphs read when they run.

    In training an input is kept where a uniform number is over `rate`, and scaled by
    `1 / (1 - rate)`.

    Args:
        rate: share of the inputs set to 0, in [0, 1).
        seed: of the random numbers; None draws anew.

    Raises:
        ValueError: if `rate` is outside [0, 1).

    Source: Kaldi nnet1 `<Dropout>`, src/nnet/nnet-activation.h.
    """

    def __init__(self, rate: float, noise_shape=None, seed=None, **kwargs):
        # Of a rate of 0, which a schedule may start with, Keras makes no generator.
        super().__init__(rate or 0.5, noise_shape=noise_shape, seed=seed, **kwargs)
        self._present = tf.Variable(0.0, trainable=False)
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Drops another share from now on.

        Raises:
            ValueError: if it is outside [0, 1).
        """
        if not 0 <= rate < 1:
            raise ValueError(f"{self.name}: rate is {rate}; it is taken in [0, 1).")
        self.rate = rate
        self._present.assign(rate)

    def call(self, inputs, training=False):
        if not training:
            return inputs
        # Drawn in float32: uniform bfloat16 numbers are multiples of 1/128, and two of
        # those are below 0.01.
        full = inputs.dtype == tf.float32
        kept = tf.nn.experimental.stateless_dropout(
            inputs if full else tf.ones(tf.shape(inputs)),
            rate=self._present.read_value(),
            seed=tf.cast(self.seed_generator.next(), tf.int32),
            noise_shape=self.noise_shape,
        )
        return kept if full else inputs * tf.cast(kept, inputs.dtype)
