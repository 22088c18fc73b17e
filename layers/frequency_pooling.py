"""What pooling along frequency has in common, whatever it makes of a pool."""

import numpy as np
import tensorflow as tf

from seqzoo.layers.component import Component


class FrequencyPooling(Component):
    """Pools neighbouring patches, as `FrequencyConvolution` lays them out.

    The input is patches of `pool_stride` numbers. Pool `q` takes `pool_size` patches
    from patch `q * pool_step` on, and has one output for each of the numbers. Patches
    behind the last whole pool are dropped. A subclass writes `pool`.

    Args:
        pool_size: patches in a pool.
        pool_step: patches between the starts of two pools.
        pool_stride: width of a patch: the filters of the convolution.
        kaldi_gradients: whether to have nnet1's gradient, as the subclass tells.

    Raises:
        ValueError: if a size is below 1, or the input is not whole patches, or fewer
            than a pool takes.
    """

    def __init__(
        self,
        pool_size: int,
        pool_step: int,
        pool_stride: int,
        kaldi_gradients: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.check_least(
            1, pool_size=pool_size, pool_step=pool_step, pool_stride=pool_stride
        )
        self.pool_size = pool_size
        self.pool_step = pool_step
        self.pool_stride = pool_stride
        self.kaldi_gradients = kaldi_gradients

    def pool(self, patches: tf.Tensor) -> tf.Tensor:
        """`(frames, patches, pool_stride)` to `(frames, pools, pool_stride)`."""
        raise NotImplementedError

    def pools(self, patches: int) -> int:
        """How many pools there are of so many patches."""
        return 1 + (patches - self.pool_size) // self.pool_step

    def shares(self, patches: int) -> np.ndarray:
        """`(patches, 1)`: 1 over the number of pools that a patch belongs to.

        By these nnet1 scales the gradient of a patch.
        """
        counts = np.zeros((patches, 1), np.float32)
        for pool in range(self.pools(patches)):
            begin = pool * self.pool_step
            counts[begin : begin + self.pool_size] += 1
        return 1 / np.maximum(counts, 1)

    def build(self, input_shape):
        patches, rest = divmod(input_shape[-1], self.pool_stride)
        if rest or patches < self.pool_size:
            raise ValueError(
                f"{self.name}: the input is {input_shape[-1]} wide, which is not "
                f"{self.pool_size} or more whole patches of {self.pool_stride}."
            )

    def compute_output_shape(self, input_shape):
        pools = self.pools(input_shape[-1] // self.pool_stride)
        return (*input_shape[:-1], pools * self.pool_stride)

    def call(self, inputs):
        patches = inputs.shape[-1] // self.pool_stride
        outputs = self.pool(tf.reshape(inputs, [-1, patches, self.pool_stride]))
        width = [self.pools(patches) * self.pool_stride]
        return tf.reshape(outputs, tf.concat([tf.shape(inputs)[:-1], width], axis=0))

    def get_config(self):
        return {
            **super().get_config(),
            "pool_size": self.pool_size,
            "pool_step": self.pool_step,
            "pool_stride": self.pool_stride,
            "kaldi_gradients": self.kaldi_gradients,
        }
