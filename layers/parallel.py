"""Parallel: networks side by side, each on its own columns."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo.layers.nested import Nested


@keras.saving.register_keras_serializable(package="seqzoo")
class Parallel(Nested):
    """Cuts a frame into the inputs of several networks and joins their outputs.

    Args:
        nets: the networks, lists of layers.
        input_dims: width of each network's input, in order.
        kaldi_gradients: nnet1's gradients in the layers within, once it is set on the
            layer that was made; this layer's own is the true one.

    Input shape: `(..., sum(input_dims))`.
    Output shape: `(..., sum of the networks' outputs)`.
    Mask: goes to all layers within that take one; passed on as is.

    Raises:
        ValueError: if there is not one width for each network, or they do not add up to
            the input's.

    Source: Kaldi nnet1 `<ParallelComponent>`, src/nnet/nnet-parallel-component.h.
    """

    def __init__(
        self,
        nets: Sequence[Sequence[keras.layers.Layer]],
        input_dims: Sequence[int],
        kaldi_gradients: bool = False,
        **kwargs,
    ):
        super().__init__(nets, kaldi_gradients, **kwargs)
        self.input_dims = tuple(int(dim) for dim in input_dims)
        if len(self.input_dims) != len(nets):
            raise ValueError(
                f"{self.name}: input_dims {self.input_dims} are not one width for each "
                f"of {len(nets)} networks."
            )

    def build(self, input_shape):
        if sum(self.input_dims) != input_shape[-1]:
            raise ValueError(
                f"{self.name}: input_dims {self.input_dims} add up to "
                f"{sum(self.input_dims)}, but the input is {input_shape[-1]} wide."
            )
        self._width = sum(
            self.build_net(net, dim)
            for net, dim in zip(self.nets, self.input_dims, strict=True)
        )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self._width)

    def call(self, inputs, mask=None):
        parts = tf.split(inputs, list(self.input_dims), axis=-1)
        return tf.concat(
            [
                self.run_net(net, part, mask)
                for net, part in zip(self.nets, parts, strict=True)
            ],
            axis=-1,
        )

    def get_config(self):
        return {**super().get_config(), "input_dims": self.input_dims}
