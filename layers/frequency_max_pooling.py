"""FrequencyMaxPooling: the largest of neighbouring patches."""

import keras
import tensorflow as tf

from seqzoo.layers.frequency_pooling import FrequencyPooling
from seqzoo.layers.scaled_gradient import scaled_gradient


@keras.saving.register_keras_serializable(package="seqzoo")
class FrequencyMaxPooling(FrequencyPooling):
    """The largest of `pool_size` patches: `y[q, f] = max_r x[q * pool_step + r, f]`.

    Args:
        pool_size, pool_step, pool_stride: as of `FrequencyPooling`.
        kaldi_gradients: True sends a pool's gradient to all patches that have its
            maximum, and divides that of each patch by the number of pools that it
            belongs to, as nnet1 does. False sends it to the first of them, undivided.
            They differ in ties and where pools overlap.

    Input shape: `(..., patches * pool_stride)`.
    Output shape: `(..., pools * pool_stride)`, where `pools` is
        `1 + (patches - pool_size) // pool_step`.
    Mask: passed on as is.

    Source: Kaldi nnet1 `<MaxPoolingComponent>`,
    src/nnet/nnet-max-pooling-component.h.
    """

    def pool(self, patches):
        if not self.kaldi_gradients:
            return self._largest(patches)
        if self.pool_step < self.pool_size:
            patches = scaled_gradient(patches, self.shares(patches.shape[1]))
        return tf.custom_gradient(self._with_ties)(patches)

    def _largest(self, patches):
        return tf.nn.max_pool1d(patches, self.pool_size, self.pool_step, "VALID")

    def _with_ties(self, patches):
        largest = self._largest(patches)
        count, pools = patches.shape[1], self.pools(patches.shape[1])
        if self.pool_step == self.pool_size == count / pools:
            # Each patch is in one pool: all of them at once.
            grouped = [-1, pools, self.pool_size, self.pool_stride]

            def all_at_once(diff):
                x = tf.reshape(patches, grouped)
                found = x == largest[:, :, tf.newaxis]
                spread = tf.where(found, diff[:, :, tf.newaxis], 0)
                return tf.reshape(spread, [-1, count, self.pool_stride])

            return largest, all_at_once

        def patch_by_patch(diff):
            sums = [tf.zeros_like(diff[:, 0]) for _ in range(count)]
            for pool in range(pools):
                begin = pool * self.pool_step
                for patch in range(begin, begin + self.pool_size):
                    found = patches[:, patch] == largest[:, pool]
                    sums[patch] += tf.where(found, diff[:, pool], 0)
            return tf.stack(sums, axis=1)

        return largest, patch_by_patch
