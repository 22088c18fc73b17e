"""FrequencyAveragePooling: means of neighbouring patches."""

import keras
import tensorflow as tf

from seqzoo.layers.frequency_pooling import FrequencyPooling
from seqzoo.layers.scaled_gradient import scaled_gradient


@keras.saving.register_keras_serializable(package="seqzoo")
class FrequencyAveragePooling(FrequencyPooling):
    """The mean of `pool_size` patches: `y[q, f] = mean_r x[q * pool_step + r, f]`.

    Args:
        pool_size, pool_step, pool_stride: as of `FrequencyPooling`.
        kaldi_gradients: True divides the gradient of each patch by the number of
            pools that it belongs to, as nnet1 does; False has the true one. They
            differ where pools overlap.

    Input shape: `(..., patches * pool_stride)`.
    Output shape: `(..., pools * pool_stride)`, where `pools` is
        `1 + (patches - pool_size) // pool_step`.
    Mask: passed on as is.

    Source: Kaldi nnet1 `<AveragePoolingComponent>`,
    src/nnet/nnet-average-pooling-component.h.
    """

    def pool(self, patches):
        if self.kaldi_gradients and self.pool_step < self.pool_size:
            patches = scaled_gradient(patches, self.shares(patches.shape[1]))
        return tf.nn.avg_pool1d(patches, self.pool_size, self.pool_step, "VALID")
