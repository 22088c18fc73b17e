"""Copy: columns of the input, in another order."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo.layers.component import Component
from seqzoo.layers.scaled_gradient import scaled_gradient


@keras.saving.register_keras_serializable(package="seqzoo")
class Copy(Component):
    """Picks columns of every frame, `y[i] = x[columns[i]]`.

    Args:
        columns: ints from 0, in the order of the output; one may come twice.
        kaldi_gradients: True sends a gradient of 0 to the input, as nnet1 does;
            False the true one.

    Input shape: `(..., dim)`.
    Output shape: `(..., len(columns))`.
    Mask: passed on as is.

    Raises:
        ValueError: if `columns` is empty, or holds one that the input has not.

    Source: Kaldi nnet1 `<Copy>`, src/nnet/nnet-various.h.
    """

    def __init__(self, columns: Sequence[int], kaldi_gradients: bool = False, **kwargs):
        super().__init__(**kwargs)
        columns = tuple(int(column) for column in columns)
        if not columns or min(columns) < 0:
            raise ValueError(
                f"{self.name}: columns are one or more numbers from 0, not {columns}."
            )
        self.columns = columns
        self.kaldi_gradients = kaldi_gradients

    def build(self, input_shape):
        if max(self.columns) >= input_shape[-1]:
            raise ValueError(
                f"{self.name}: column {max(self.columns)} is asked for, but the input "
                f"has {input_shape[-1]}; they count from 0."
            )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], len(self.columns))

    def call(self, inputs):
        if self.kaldi_gradients:
            inputs = scaled_gradient(inputs, 0.0)
        first, last = self.columns[0], self.columns[-1]
        if self.columns == tuple(range(first, last + 1)):
            return inputs[..., first : last + 1]
        return tf.gather(inputs, self.columns, axis=-1)

    def get_config(self):
        return {
            **super().get_config(),
            "columns": self.columns,
            "kaldi_gradients": self.kaldi_gradients,
        }
