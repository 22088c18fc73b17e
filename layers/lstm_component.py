"""What the LSTM layers share: their options and the weights of a direction."""

from collections.abc import Callable

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent
from seqzoo.layers.lstm_core import LstmClips, LstmWeights
from seqzoo.layers.shadow import source

# In the order of `LstmWeights`.
_WEIGHTS = (
    "w_ifco_x",
    "w_ifco_r",
    "bias",
    "peephole_i_c",
    "peephole_f_c",
    "peephole_o_c",
    "w_r_m",
)


class LstmComponent(UpdatableComponent):
    """An LSTM with peepholes and projection, one direction or two.

    Its arguments are told by `LstmProjected`.
    """

    forget_bias = 0.0
    """Added to the initial bias of the forget gate."""

    def __init__(
        self,
        units: int,
        cell_dim: int,
        param_range: float = 0.1,
        cell_clip: float = 50.0,
        diff_clip: float = 1.0,
        cell_diff_clip: float = 0.0,
        grad_clip: float = 250.0,
        learn_rate_coef: float = 1.0,
        bias_learn_rate_coef: float = 1.0,
        kaldi_gradients: bool = False,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        for option, size in (("units", units), ("cell_dim", cell_dim)):
            if size < 1:
                raise ValueError(
                    f"{self.name}: {option} must be at least 1, not {size}."
                )
        for option, value in (
            ("param_range", param_range),
            ("cell_clip", cell_clip),
            ("diff_clip", diff_clip),
            ("cell_diff_clip", cell_diff_clip),
            ("grad_clip", grad_clip),
        ):
            if value < 0:
                raise ValueError(f"{self.name}: {option} is {value}, below 0.")
        self.units = units
        self.cell_dim = cell_dim
        self.param_range = param_range
        self.cell_clip = cell_clip
        self.diff_clip = diff_clip
        self.cell_diff_clip = cell_diff_clip
        self.grad_clip = grad_clip
        self.learn_rate_coef = learn_rate_coef
        self.bias_learn_rate_coef = bias_learn_rate_coef
        self.kaldi_gradients = kaldi_gradients
        self.seed = seed
        self.input_spec = keras.InputSpec(ndim=3)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "cell_dim": self.cell_dim,
            "param_range": self.param_range,
            "cell_clip": self.cell_clip,
            "diff_clip": self.diff_clip,
            "cell_diff_clip": self.cell_diff_clip,
            "grad_clip": self.grad_clip,
            "learn_rate_coef": self.learn_rate_coef,
            "bias_learn_rate_coef": self.bias_learn_rate_coef,
            "kaldi_gradients": self.kaldi_gradients,
            "seed": self.seed,
        }

    def clips(self, late_neighbours: bool = False) -> LstmClips:
        """Of one direction; see `LstmClips` for `late_neighbours`."""
        return LstmClips(
            cell_clip=self.cell_clip,
            diff_clip=self.diff_clip,
            cell_diff_clip=self.cell_diff_clip,
            through_cell_clip=self.kaldi_gradients,
            late_neighbours=late_neighbours,
        )

    def add_direction(self, prefix: str, dim: int, units: int) -> None:
        """Makes the weights of one direction, as attributes after `prefix`."""
        cells = self.cell_dim
        limit = self.param_range
        uniform = _Seeds(self.seed, prefix).uniform
        matrix, vector = self.learn_rate_coef, self.bias_learn_rate_coef

        def bias(shape, dtype=None):
            forget = [0.0] * cells + [self.forget_bias] * cells + [0.0] * 2 * cells
            return uniform(limit)(shape, dtype) + tf.constant(forget, dtype)

        for name, shape, initializer, rate in zip(
            _WEIGHTS,
            [
                (4 * cells, dim),
                (4 * cells, units),
                (4 * cells,),
                *[(cells,)] * 3,
                (units, cells),
            ],
            [uniform(limit), uniform(limit), bias, *(uniform(limit) for _ in range(4))],
            [matrix, matrix, *[vector] * 4, matrix],
            strict=True,
        ):
            name = prefix + name
            weight = self.add_parameter(
                name,
                shape,
                initializer,
                learn_rate_coef=rate,
                grad_clip=self.grad_clip,
                autocast=False,
            )
            setattr(self, name, weight)

    def direction(self, prefix: str) -> LstmWeights:
        """The weights of one direction, as its graph reads them."""
        weights = (getattr(self, prefix + name) for name in _WEIGHTS)
        return LstmWeights(*(tf.convert_to_tensor(source(w)) for w in weights))


class _Seeds:
    """Uniform initializers that differ from each other, and again from run to run
    only where there is no seed."""

    def __init__(self, seed: int | None, prefix: str):
        self._next = seed if seed is None or prefix != "b_" else seed + 7

    def uniform(self, limit: float) -> Callable:
        made = keras.initializers.RandomUniform(-limit, limit, self._next)
        if self._next is not None:
            self._next += 1
        return made
