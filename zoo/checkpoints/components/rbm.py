"""`<Rbm>`: a restricted Boltzmann machine."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components import nested
from seqzoo.zoo.checkpoints.components.activations import sigmoid
from seqzoo.zoo.checkpoints.components.component import (
    Component,
    ComponentError,
    check_shape,
    gauss,
    no_numbers,
    register,
    uniform,
)
from seqzoo.zoo.checkpoints.components.per_dimension import AddShift

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet1 import Nnet
    from seqzoo.zoo.checkpoints.nnet_proto import Options

_TYPES = ("bern", "gauss")
_NAMES = {"bern": "bern", "bernoulli": "bern", "gauss": "gauss", "gaussian": "gauss"}


@register("<Rbm>")
@dataclasses.dataclass(eq=False)
class Rbm(Component):
    """`y = f(W x + hidden_bias)`, f the sigmoid (`bern`) or the identity (`gauss`)."""

    visible_type: str = "bern"
    """`bern` or `gauss`."""
    hidden_type: str = "bern"
    linearity: np.ndarray = dataclasses.field(default_factory=lambda: no_numbers(0, 0))
    """W, `(output_dim, input_dim)`: hidden times visible units."""
    visible_bias: np.ndarray = dataclasses.field(default_factory=no_numbers)
    """`(input_dim,)`."""
    hidden_bias: np.ndarray = dataclasses.field(default_factory=no_numbers)
    """`(output_dim,)`."""

    def parameters(self) -> dict[str, np.ndarray]:
        """The arrays under their names; nnet-info does not count them."""
        return {
            "linearity": self.linearity,
            "visible_bias": self.visible_bias,
            "hidden_bias": self.hidden_bias,
        }

    def read_data(self, reader: ObjectReader) -> None:
        self.visible_type = reader.expect_token(*_TYPES)
        self.hidden_type = reader.expect_token(*_TYPES)
        self.linearity = reader.read_matrix()
        self.visible_bias = reader.read_vector()
        self.hidden_bias = reader.read_vector()

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_token(self.visible_type)
        writer.write_token(self.hidden_type)
        writer.write_matrix(self.linearity)
        writer.write_vector(self.visible_bias)
        writer.write_vector(self.hidden_bias)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.visible_type = self._type(options, "VisibleType")
        self.hidden_type = self._type(options, "HiddenType")
        means, widths = (
            {
                side: options.number(f"{side}Bias{what}", 0.0)
                for side in ("Visible", "Hidden")
            }
            for what in ("Mean", "Range")
        )
        stddev = options.number("ParamStddev", 0.1)
        self.linearity = gauss(rng, stddev, self.output_dim, self.input_dim)
        self.hidden_bias = uniform(
            rng, means["Hidden"], widths["Hidden"], self.output_dim
        )
        path = options.word("VisibleBiasCmvnFilename", "")
        if path:
            self.visible_bias = _logits(nested.load_net(options, path), path)
        else:
            self.visible_bias = uniform(
                rng, means["Visible"], widths["Visible"], self.input_dim
            )

    def _type(self, options: Options, name: str) -> str:
        word = options.word(name)
        try:
            return _NAMES[word.lower()]
        except KeyError:
            raise ComponentError(
                f"<{name}> is {word!r}; bern and gauss are taken"
            ) from None

    def check(self) -> None:
        check_shape(self, "linearity", self.output_dim, self.input_dim)
        check_shape(self, "visible_bias", self.input_dim)
        check_shape(self, "hidden_bias", self.output_dim)

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        values = feats @ self.linearity.T + self.hidden_bias
        return sigmoid(values) if self.hidden_type == "bern" else values


def _logits(cmvn: Nnet, path: str) -> np.ndarray:
    """Biases that make units as active as the means which `cmvn` takes away."""
    shift = cmvn.components[0]
    if not isinstance(shift, AddShift):
        raise ComponentError(
            f"<VisibleBiasCmvnFilename> {path} starts with {shift.marker}; a network "
            "made of CMVN statistics is taken, whose first component is <AddShift>"
        )
    active = (-shift.data).clip(np.float32(0.0001), np.float32(0.9999))
    return np.log(active) - np.log(1 - active)
