"""SimpleSentenceAveraging: the mean of an utterance on each of its frames."""

import keras
import tensorflow as tf

from seqzoo.layers.component import Component
from seqzoo.layers.scaled_gradient import scaled_gradient
from seqzoo.layers.utterance_sum import utterance_sum


@keras.saving.register_keras_serializable(package="seqzoo")
class SimpleSentenceAveraging(Component):
    """Replaces each frame by `sum_t x[t] / (frames + shrinkage)` of its utterance.

    Args:
        gradient_boost: what nnet1 multiplies the gradient to the input with, to make
            up for the averaging.
        shrinkage: frames of zeros that are counted in.
        only_summing: leaves the sum undivided.
        kaldi_gradients: True applies `gradient_boost`; False has the true gradient.

    Input shape: `(batch, time, dim)`, or `(frames, dim)` of one utterance.
    Output shape: the same.
    Mask: `(batch, time)`, True on real frames; padding is neither summed nor counted,
        and gets the mean as well. Passed on as is.

    Raises:
        ValueError: if `shrinkage` is negative.

    Source: Kaldi nnet1 `<SimpleSentenceAveragingComponent>`,
    src/nnet/nnet-sentence-averaging-component.h.
    """

    def __init__(
        self,
        gradient_boost: float = 100.0,
        shrinkage: float = 0.0,
        only_summing: bool = False,
        kaldi_gradients: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.check_least(0, shrinkage=shrinkage)
        self.gradient_boost = gradient_boost
        self.shrinkage = shrinkage
        self.only_summing = only_summing
        self.kaldi_gradients = kaldi_gradients

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs, mask=None):
        # The sum of a long utterance is beyond float16.
        frames = tf.cast(inputs, tf.float32)
        if self.kaldi_gradients:
            frames = scaled_gradient(frames, self.gradient_boost)
        outputs, count = utterance_sum(frames, mask)
        if not self.only_summing:
            # An utterance of padding alone has no frame to divide by.
            outputs /= tf.maximum(count, 1) + self.shrinkage
        return tf.broadcast_to(tf.cast(outputs, inputs.dtype), tf.shape(inputs))

    def get_config(self):
        return {
            **super().get_config(),
            "gradient_boost": self.gradient_boost,
            "shrinkage": self.shrinkage,
            "only_summing": self.only_summing,
            "kaldi_gradients": self.kaldi_gradients,
        }
