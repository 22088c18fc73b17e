"""MultiBasis: networks mixed by the posteriors of a selector."""

from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo.layers.nested import Nested
from seqzoo.layers.utterance_sum import utterance_sum

# What a basis is given of an utterance, in frames, to be used at all.
_LEAST_OCCUPANCY = 0.1


@keras.saving.register_keras_serializable(package="seqzoo")
class MultiBasis(Nested):
    """`sum_i p_i(s) basis_i(x)`, where the frame is `concat(x, s)`.

    The selector maps `s` to one posterior `p_i` for each basis. A basis whose
    posteriors add up to 0.1 or less over an utterance is left out of it.

    Args:
        nets: the selector, then the bases; lists of layers.
        selector_dim: width of the selector's input, the last columns.
        selector_learn_rate_coef: times the learn-rate coefficients in the selector.
        kaldi_gradients: nnet1's gradients in the layers within, once it is set on the
            layer that was made; this layer's own is the true one.

    Input shape: `(batch, time, dim)`, or `(frames, dim)`, taken for one utterance.
    Output shape: the same with the width of the bases' outputs.
    Mask: `(batch, time)`, True on real frames; goes to all layers within that take one;
        posteriors of padding are not summed. Passed on as is.

    Raises:
        ValueError: if there is no basis, the selector has not one output for each, or
            the bases differ in width.

    Source: Kaldi nnet1 `<MultiBasisComponent>`, src/nnet/nnet-multibasis-component.h.
    """

    def __init__(
        self,
        nets: Sequence[Sequence[keras.layers.Layer]],
        selector_dim: int,
        selector_learn_rate_coef: float = 1.0,
        kaldi_gradients: bool = False,
        **kwargs,
    ):
        super().__init__(nets, kaldi_gradients, **kwargs)
        if len(nets) < 2:
            raise ValueError(f"{self.name}: nets are a selector and at least a basis.")
        self.selector_dim = selector_dim
        self.selector_learn_rate_coef = selector_learn_rate_coef

    def build(self, input_shape):
        selector, *bases = self.nets
        dim = input_shape[-1] - self.selector_dim
        posteriors = self.build_net(
            selector, self.selector_dim, self.selector_learn_rate_coef
        )
        widths = [self.build_net(basis, dim) for basis in bases]
        if posteriors != len(bases) or len(set(widths)) > 1:
            raise ValueError(
                f"{self.name}: the selector has {posteriors} outputs and the bases are "
                f"{widths} wide; one output for each basis and one width are taken."
            )
        self._width = widths[0]

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self._width)

    def call(self, inputs, mask=None):
        selector, *bases = self.nets
        dim = inputs.shape[-1] - self.selector_dim
        posteriors = self.run_net(selector, inputs[..., dim:], mask)
        occupancy, _ = utterance_sum(tf.cast(posteriors, tf.float32), mask)
        posteriors = tf.where(occupancy > _LEAST_OCCUPANCY, posteriors, 0)
        outputs = [
            posteriors[..., i : i + 1] * self.run_net(basis, inputs[..., :dim], mask)
            for i, basis in enumerate(bases)
        ]
        return tf.add_n(outputs)

    def get_config(self):
        return {
            **super().get_config(),
            "selector_dim": self.selector_dim,
            "selector_learn_rate_coef": self.selector_learn_rate_coef,
        }
