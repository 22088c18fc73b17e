"""KlHmm: how far a frame of posteriors is from the distribution of each state."""

import keras
import tensorflow as tf

from seqzoo.layers.component import Component

# Kaldi's guard inside every logarithm.
_TINY = 1e-20


@keras.saving.register_keras_serializable(package="seqzoo")
class KlHmm(Component):
    """Minus the Kullback-Leibler divergence of a frame from each state.

    Output `j` is `-sum_d p_d (log p_d - log q_jd)`, where `p` is the frame and `q_j`
    row `j` of `states` divided by its sum. The statistics `states` are given, not
    learnt by gradients. nnet1 cannot send a gradient back through this component;
    here the frame gets the true one.

    Args:
        num_states: rows of the statistics.

    Input shape: `(..., dim)`, each frame a distribution.
    Output shape: `(..., num_states)`.
    Mask: passed on as is.

    Raises:
        ValueError: if `num_states` is below 1.

    Source: Kaldi nnet1 `<KlHmm>`, src/nnet/nnet-kl-hmm.h.
    """

    def __init__(self, num_states: int, **kwargs):
        super().__init__(**kwargs)
        self.check_least(1, num_states=num_states)
        self.num_states = num_states

    def build(self, input_shape):
        # Sums over a corpus, kept as the file has them.
        self.states = self.add_weight(
            name="states",
            shape=(self.num_states, input_shape[-1]),
            initializer="ones",
            dtype="float64",
            trainable=False,
            autocast=False,
        )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.num_states)

    def call(self, inputs):
        # Half precision has no numbers as small as the floor.
        frames = tf.cast(inputs, tf.float32)
        states = tf.convert_to_tensor(self.states)
        states = states / tf.reduce_sum(states, axis=1, keepdims=True)
        log_states = tf.math.log(tf.maximum(tf.cast(states, tf.float32), _TINY))
        log_frames = tf.math.log(tf.maximum(frames, _TINY))
        entropy = tf.reduce_sum(frames * log_frames, axis=-1, keepdims=True)
        outputs = tf.tensordot(frames, log_states, [[-1], [1]]) - entropy
        return tf.cast(outputs, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "num_states": self.num_states}
