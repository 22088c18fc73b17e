"""What layers that hold whole networks have in common."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent


class Nested(UpdatableComponent):
    """A layer around networks, each a list of layers that run one behind the other.

    The layers' weights count as this layer's, and are saved with it. A mask goes to
    all that take one. Subclasses call `build_net` in `build`, and `run_net`.

    Args:
        nets: lists of layers, new or built.
        kaldi_gradients: nnet1's gradients in this layer; each layer within has its
            own. Set later, the attribute sets that of all layers within too.

    Raises:
        ValueError: if there is no network.
    """

    def __init__(
        self,
        nets: Sequence[Sequence[keras.layers.Layer]],
        kaldi_gradients: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if not nets:
            raise ValueError(f"{self.name}: nets must hold at least one network.")
        # One list, which Keras tracks and saves in every version.
        self.sublayers = [layer for net in nets for layer in net]
        self._depths = tuple(len(net) for net in nets)
        self._kaldi_gradients = bool(kaldi_gradients)

    @property
    def nets(self) -> list[list[Any]]:
        """The networks, in order."""
        layers = iter(self.sublayers)
        return [[next(layers) for _ in range(depth)] for depth in self._depths]

    @property
    def kaldi_gradients(self) -> bool:
        return self._kaldi_gradients

    @kaldi_gradients.setter
    def kaldi_gradients(self, value: bool) -> None:
        self._kaldi_gradients = bool(value)
        for layer in self.sublayers:
            if hasattr(layer, "kaldi_gradients"):
                layer.kaldi_gradients = value

    def build_net(
        self, net: Sequence[Any], dim: int, learn_rate_factor: float = 1.0
    ) -> int:
        """Builds what is not built of a network, and notes each layer's `dims`.

        Args:
            net: one of `nets`.
            dim: width of its input.
            learn_rate_factor: times the learn-rate coefficients of all its weights.

        Returns:
            The width of its output.
        """
        for layer in net:
            if not layer.built:
                layer.build((None, None, dim))
            out = int(layer.compute_output_shape((None, None, dim))[-1])
            layer.dims = (dim, out)
            dim = out
            if learn_rate_factor != 1:
                for weight in layer.weights:
                    weight.learn_rate_coef = learn_rate_factor * getattr(
                        weight, "learn_rate_coef", 1.0
                    )
                    weight.penalty_coef = learn_rate_factor * getattr(
                        weight, "penalty_coef", 0.0
                    )
        return dim

    def run_net(self, net: Sequence[Any], inputs: tf.Tensor, mask=None) -> tf.Tensor:
        """The output of a network, in this layer's type."""
        x = inputs
        for layer in net:
            # Keras's softmax would take a mask of frames for one of columns.
            columns = isinstance(layer, keras.layers.Softmax)
            if mask is None or columns or not layer._call_has_mask_arg:
                x = layer(x)
            else:
                x = layer(x, mask=mask)
        return tf.cast(x, self.compute_dtype)

    def get_config(self):
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "nets": [[serialize(layer) for layer in net] for net in self.nets],
            "kaldi_gradients": self.kaldi_gradients,
        }

    @classmethod
    def from_config(cls, config):
        deserialize = keras.saving.deserialize_keras_object
        nets = [[deserialize(layer) for layer in net] for net in config["nets"]]
        return cls(**{**config, "nets": nets})
