"""SentenceAveraging: each frame behind the mean of a network over its utterance."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo.layers.nested import Nested
from seqzoo.layers.utterance_sum import utterance_sum


@keras.saving.register_keras_serializable(package="seqzoo")
class SentenceAveraging(Nested):
    """`concat(mean_t net(x)[t], x[t])`, the mean over the utterance.

    Args:
        nets: a list of one network, itself a list of layers.
        learn_rate_factor: times the learn-rate coefficients in the network, whose
            gradient the mean makes small.
        kaldi_gradients: True leaves the gradient to the input out that comes through
            the network, as nnet1 does; False has the true one.

    Input shape: `(batch, time, dim)`, or `(frames, dim)` of one utterance.
    Output shape: the same with the width of the network's output added.
    Mask: `(batch, time)`, True on real frames; padding is neither summed nor counted.
        Passed on as is.

    Raises:
        ValueError: if `nets` does not hold one network.

    Source: Kaldi nnet1 `<SentenceAveragingComponent>`,
    src/nnet/nnet-sentence-averaging-component.h.
    """

    def __init__(
        self,
        nets: Sequence[Sequence[keras.layers.Layer]],
        learn_rate_factor: float = 100.0,
        kaldi_gradients: bool = False,
        **kwargs,
    ):
        super().__init__(nets, kaldi_gradients, **kwargs)
        if len(nets) != 1:
            raise ValueError(f"{self.name}: one network is taken, not {len(nets)}.")
        self.learn_rate_factor = learn_rate_factor

    def build(self, input_shape):
        self._width = self.build_net(
            self.nets[0], input_shape[-1], self.learn_rate_factor
        )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self._width + input_shape[-1])

    def call(self, inputs, mask=None):
        seen = tf.stop_gradient(inputs) if self.kaldi_gradients else inputs
        outputs = tf.cast(self.run_net(self.nets[0], seen, mask), tf.float32)
        sums, count = utterance_sum(outputs, mask)
        # An utterance of padding alone has no frame to divide by.
        means = tf.cast(sums / tf.maximum(count, 1), inputs.dtype)
        means = tf.broadcast_to(means, tf.shape(outputs))
        return tf.concat([means, inputs], axis=-1)

    def get_config(self):
        return {**super().get_config(), "learn_rate_factor": self.learn_rate_factor}
