"""BlockSoftmax: several softmaxes side by side, and nnet1's gradient of them."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo.layers.component import Component


@keras.saving.register_keras_serializable(package="seqzoo")
class BlockSoftmax(Component):
    """A softmax over each block of columns, as for the languages of one network.

    Args:
        block_dims: widths of the blocks, from the first column on.
        kaldi_gradients: True passes the gradient through as nnet1 does, which
            expects that of a cross-entropy to its logits: see `kaldi_block_diff`.
            False has the true one.

    Input shape: `(..., sum(block_dims))`.
    Output shape: the same.
    Mask: passed on as is.

    Raises:
        ValueError: if `block_dims` is empty, holds a width below 1, or does not add
            up to the input's.

    Source: Kaldi nnet1 `<BlockSoftmax>`, src/nnet/nnet-activation.h.
    """

    def __init__(
        self, block_dims: Sequence[int], kaldi_gradients: bool = False, **kwargs
    ):
        super().__init__(**kwargs)
        block_dims = tuple(int(dim) for dim in block_dims)
        if not block_dims or min(block_dims) < 1:
            raise ValueError(
                f"{self.name}: block_dims are widths of 1 or more, not {block_dims}."
            )
        self.block_dims = block_dims
        self.kaldi_gradients = kaldi_gradients

    def build(self, input_shape):
        if sum(self.block_dims) != input_shape[-1]:
            raise ValueError(
                f"{self.name}: block_dims {self.block_dims} add up to "
                f"{sum(self.block_dims)}, but the input is {input_shape[-1]} wide."
            )

    def compute_output_shape(self, input_shape):
        return input_shape

    def call(self, inputs):
        if not self.kaldi_gradients:
            return block_softmax(inputs, self.block_dims)

        @tf.custom_gradient
        def with_kaldi_gradient(logits):
            outputs = block_softmax(logits, self.block_dims)
            return outputs, lambda diff: kaldi_block_diff(diff, self.block_dims)

        return with_kaldi_gradient(inputs)

    def get_config(self):
        return {
            **super().get_config(),
            "block_dims": self.block_dims,
            "kaldi_gradients": self.kaldi_gradients,
        }


def block_softmax(logits: tf.Tensor, dims: Sequence[int]) -> tf.Tensor:
    """The softmax of each block of `dims` columns, `(..., sum(dims))`."""
    blocks = tf.split(logits, list(dims), axis=-1)
    return tf.concat([tf.nn.softmax(block) for block in blocks], axis=-1)


def kaldi_block_diff(diff: tf.Tensor, dims: Sequence[int]) -> tf.Tensor:
    """What nnet1 makes of a cross-entropy's `(y - t) w` before the logits get it.

    In each frame, a block of the gradient is scaled by 1 less its sum. The sum of
    `y - t` is 0 in a block that holds the target, which stays as it is, and 1 in
    one that holds none, which is masked. With a frame weight of `w` the sum there
    is `w`, so that the block keeps `w (1 - w)` of its `y`.

    Args:
        diff: `(..., sum(dims))`.
        dims: widths of the blocks.

    Source: Kaldi nnet1 BlockSoftmax, src/nnet/nnet-activation.h.
    """
    blocks = tf.split(diff, list(dims), axis=-1)
    return tf.concat(
        [
            block * (1 - tf.reduce_sum(block, axis=-1, keepdims=True))
            for block in blocks
        ],
        axis=-1,
    )
