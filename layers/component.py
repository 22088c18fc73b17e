"""The two kinds of building block that an nnet1 network is a list of."""

from collections.abc import Mapping

import keras


class Component(keras.layers.Layer):
    """A building block without trainable parameters.

    A subclass writes `call(inputs)`; Keras differentiates it. Frames are the
    last axis but one, so `(frames, dim)` and `(batch, time, dim)` both do.

    Source: Kaldi nnet1 `Component`, src/nnet/nnet-component.h.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def check_least(self, least: int, **options: float) -> None:
        """ValueError for an option below `least`, by the names that they have."""
        for option, value in options.items():
            if value < least:
                raise ValueError(f"{self.name}: {option} is {value}, below {least}.")


class UpdatableComponent(Component):
    """A building block with trainable parameters and their learn-rate coefficients.

    Each weight carries what `KaldiSGD` multiplies the learning rate with, and which
    parts of the update rule touch it, as `add_parameter` sets them.

    Source: Kaldi nnet1 `UpdatableComponent`, src/nnet/nnet-component.h.
    """

    def add_parameter(
        self,
        name: str,
        shape,
        initializer,
        *,
        learn_rate_coef: float = 1.0,
        momentum: bool = True,
        penalty_coef: float = 0.0,
        max_norm: float = 0.0,
        grad_clip: float = 0.0,
        autocast: bool = True,
    ) -> keras.Variable:
        """A weight that carries its update options.

        Args:
            name: as the file formats call it.
            shape: of the weight.
            initializer: Keras initializer.
            learn_rate_coef: times the global learning rate; 0 freezes.
            momentum: whether the optimizer's momentum applies.
            penalty_coef: times the global learning rate in its L1 and L2
                penalties; 0 is none.
            max_norm: largest L2 norm of the weights into one unit (a row);
                0 is no limit.
            grad_clip: largest absolute value of an element of the gradient, with
                the momentum in it; 0 is no limit.
            autocast: whether `call` sees it in the type that the layer computes in.
        """
        weight = self.add_weight(
            name=name,
            shape=shape,
            initializer=initializer,
            trainable=learn_rate_coef != 0,
            autocast=autocast,
        )
        weight.learn_rate_coef = learn_rate_coef
        weight.momentum = momentum
        weight.penalty_coef = penalty_coef
        weight.max_norm = max_norm
        weight.grad_clip = grad_clip
        return weight

    def parameters(self) -> Mapping[str, keras.Variable]:
        """The weights by the names `info` prints."""
        return {weight.name: weight for weight in self.weights}
