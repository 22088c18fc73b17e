"""FramePooling: weighted sums of spliced frames, whose weights are learnt."""

from collections.abc import Sequence

import keras
import numpy as np
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent


@keras.saving.register_keras_serializable(package="seqzoo")
class FramePooling(UpdatableComponent):
    """Sums neighbouring frames of a spliced input, pool by pool.

    Pool `p` is `sum_i frame_weights[p][i] * frame(frame_offsets[p] + i)`. All weights
    start as the mean. nnet1 cannot train through this component; here it has its
    true gradient, with nnet1's update: no momentum and no penalties.

    Args:
        feature_dim: width of one frame.
        frame_offsets: the first frame of each pool, counted from 0 at the leftmost
            frame of the splice.
        pool_sizes: frames in each pool.
        learn_rate_coef: times the learning rate; 0 freezes.
        normalize: after each update raises weights below 0 to 0 and divides those of
            a pool by their sum.

    Input shape: `(..., frames * feature_dim)`.
    Output shape: `(..., pools * feature_dim)`.
    Mask: passed on as is.

    Raises:
        ValueError: if there is no pool, a pool is empty or reaches past the input, or
            the input is not whole frames.

    Source: Kaldi nnet1 `<FramePoolingComponent>`,
    src/nnet/nnet-frame-pooling-component.h.
    """

    def __init__(
        self,
        feature_dim: int,
        frame_offsets: Sequence[int],
        pool_sizes: Sequence[int],
        learn_rate_coef: float = 0.01,
        normalize: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.feature_dim = int(feature_dim)
        self.frame_offsets = tuple(int(offset) for offset in frame_offsets)
        self.pool_sizes = tuple(int(size) for size in pool_sizes)
        if not self.pool_sizes or len(self.frame_offsets) != len(self.pool_sizes):
            raise ValueError(
                f"{self.name}: {len(self.frame_offsets)} frame_offsets and "
                f"{len(self.pool_sizes)} pool_sizes are given; one of each is taken "
                "for each pool, and at least one pool."
            )
        if min(self.pool_sizes) < 1 or min(self.frame_offsets) < 0:
            raise ValueError(
                f"{self.name}: pools are of 1 frame or more and start at frame 0 or "
                f"behind; found {self.pool_sizes} and {self.frame_offsets}."
            )
        self.learn_rate_coef = learn_rate_coef
        self.normalize = normalize

    def build(self, input_shape):
        frames, rest = divmod(input_shape[-1], self.feature_dim)
        if rest:
            raise ValueError(
                f"{self.name}: the input is {input_shape[-1]} wide, which is not whole "
                f"frames of {self.feature_dim}."
            )
        ends = np.add(self.frame_offsets, self.pool_sizes)
        if ends.max() > frames:
            raise ValueError(
                f"{self.name}: a pool reaches to frame {ends.max() - 1}, but the input "
                f"has {frames}, counted from 0."
            )
        self._frames = frames
        means = np.concatenate([np.full(n, 1 / n) for n in self.pool_sizes])
        # One behind the other: the pools differ in size.
        self.frame_weights = self.add_parameter(
            "frame_weights",
            means.shape,
            lambda shape, dtype=None: tf.constant(means, dtype),
            learn_rate_coef=self.learn_rate_coef,
            momentum=False,
        )
        if self.normalize:
            self.frame_weights.constraint = _SumsOf1(self.pool_sizes)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], len(self.pool_sizes) * self.feature_dim)

    def call(self, inputs):
        pools = np.repeat(np.arange(len(self.pool_sizes)), self.pool_sizes)
        frames = np.concatenate(
            [
                np.arange(begin, begin + size)
                for begin, size in zip(self.frame_offsets, self.pool_sizes, strict=True)
            ]
        )
        sums = tf.scatter_nd(
            np.stack([pools, frames], axis=1),
            tf.convert_to_tensor(self.frame_weights),
            [len(self.pool_sizes), self._frames],
        )
        spliced = tf.reshape(inputs, [-1, self._frames, self.feature_dim])
        outputs = tf.matmul(sums, spliced)
        width = [len(self.pool_sizes) * self.feature_dim]
        return tf.reshape(outputs, tf.concat([tf.shape(inputs)[:-1], width], axis=0))

    def get_config(self):
        return {
            **super().get_config(),
            "feature_dim": self.feature_dim,
            "frame_offsets": self.frame_offsets,
            "pool_sizes": self.pool_sizes,
            "learn_rate_coef": self.learn_rate_coef,
            "normalize": self.normalize,
        }


class _SumsOf1(keras.constraints.Constraint):
    """No weight below 0, and those of each pool divided by their sum."""

    def __init__(self, sizes: Sequence[int]):
        self._pools = np.repeat(np.arange(len(sizes)), sizes)

    def __call__(self, w):
        w = tf.nn.relu(tf.convert_to_tensor(w))
        return w / tf.gather(tf.math.segment_sum(w, self._pools), self._pools)
