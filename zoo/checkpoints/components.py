"""The components of Kaldi nnet1 networks, and the register of them.

A component is a dataclass that knows its data in a model file, its options in a
prototype, its nnet-info text and its forward pass. `register` makes it known to
all readers and writers; docs/adding_a_component.md adds one in 15 lines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


class ComponentError(ValueError):
    """A component's data do not fit together; callers add file and place."""


@dataclasses.dataclass(eq=False)
class Component:
    """A building block without parameters.

    Subclasses override what they need; `check` is called after their data came.
    """

    input_dim: int
    output_dim: int

    marker: ClassVar[str] = ""
    """The name in files, `<Sigmoid>`; set by `register`."""

    def read_data(self, reader: ObjectReader) -> None:
        """Reads what stands between the dimensions and the end mark."""

    def write_data(self, writer: ObjectWriter) -> None:
        """Writes the same."""

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        """Takes the options of a prototype's line, and new weights from `rng`."""

    def check(self) -> None:
        """Raises ComponentError where data and dimensions do not fit."""

    def info(self) -> str:
        """What nnet-info adds after `output-dim N, `."""
        return ""

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        """Maps the frames of one utterance, `(frames, input_dim)` float32."""
        raise NotImplementedError(f"{self.marker} has no forward pass in NumPy.")

    def num_parameters(self) -> int:
        """How many trainable numbers it holds."""
        return 0


class UpdatableComponent(Component):
    """A building block with trainable parameters."""

    def parameters(self) -> dict[str, np.ndarray]:
        """The parameters under the names nnet-info gives them."""
        raise NotImplementedError

    def num_parameters(self) -> int:
        return sum(array.size for array in self.parameters().values())

    def set_learn_rates(self, coef: float, bias_coef: float) -> None:
        """Sets the learn rate of the weights, and of biases relative to it."""
        if hasattr(self, "learn_rate_coef"):
            self.learn_rate_coef = _float32(coef)
        if hasattr(self, "bias_learn_rate_coef"):
            self.bias_learn_rate_coef = _float32(coef * bias_coef)


_REGISTER: dict[str, type[Component]] = {}
_C = TypeVar("_C", bound=type[Component])


def register(marker: str, *aliases: str) -> Callable[[_C], _C]:
    """Makes a component known under `marker`, and under `aliases` when read."""

    def add(kind: _C) -> _C:
        names = [name.lower() for name in (marker, *aliases)]
        taken = [name for name in names if name in _REGISTER]
        if taken:
            raise ValueError(f"{', '.join(taken)} is registered already.")
        kind.marker = marker
        _REGISTER.update(dict.fromkeys(names, kind))
        return kind

    return add


def lookup(marker: str) -> type[Component]:
    """The component of a marker in any case; KeyError if there is none."""
    return _REGISTER[marker.lower()]


def supported() -> list[str]:
    """The markers that can be read and written."""
    return sorted({kind.marker for kind in _REGISTER.values()})


def supported_text() -> str:
    return f"supported: {', '.join(supported())}"


def _float32(value: float) -> float:
    """Rounds as a file would, so that a written network equals the one in memory."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def read_options(
    reader: ObjectReader, component: Component, names: Mapping[str, str]
) -> None:
    """Reads `<Token> number` pairs in any order into attributes.

    Args:
        reader: stands before the first token; stops at what is none of `names`.
        component: whose attributes are set.
        names: token -> attribute.
    """
    while (token := reader.peek_token()) in names:
        reader.read_token()
        setattr(component, names[token], _float32(reader.read_float()))


def write_options(
    writer: ObjectWriter, component: Component, names: Mapping[str, str]
) -> None:
    """Writes them all, in the order of `names`."""
    for token, attribute in names.items():
        writer.write_token(token)
        writer.write_float(getattr(component, attribute))


def check_same_dims(component: Component) -> None:
    if component.input_dim != component.output_dim:
        raise ComponentError(
            f"{component.marker} has input dimension {component.input_dim} and output "
            f"dimension {component.output_dim}, which must be equal"
        )


def check_shape(component: Component, name: str, *shape: int) -> None:
    found = getattr(component, name).shape
    if found != shape:
        raise ComponentError(
            f"{component.marker} holds {name} of shape {_shape(found)}, but its "
            f"dimensions ask for {_shape(shape)}"
        )


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _none(*shape: int) -> np.ndarray:
    """Stands for parameters that are still to come."""
    return np.zeros(shape or (0,), np.float32)


@register("<AffineTransform>")
@dataclasses.dataclass(eq=False)
class AffineTransform(UpdatableComponent):
    """`y = W x + b`."""

    linearity: np.ndarray = dataclasses.field(default_factory=lambda: _none(0, 0))
    """W, `(output_dim, input_dim)`."""
    bias: np.ndarray = dataclasses.field(default_factory=_none)
    learn_rate_coef: float = 1.0
    bias_learn_rate_coef: float = 1.0
    max_norm: float = 0.0
    """Limit on the norm of a row of W; 0 is none."""

    _OPTIONS = {
        "<LearnRateCoef>": "learn_rate_coef",
        "<BiasLearnRateCoef>": "bias_learn_rate_coef",
        "<MaxNorm>": "max_norm",
    }

    def parameters(self) -> dict[str, np.ndarray]:
        return {"linearity": self.linearity, "bias": self.bias}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.linearity = reader.read_matrix()
        self.bias = reader.read_vector()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_newline()
        writer.write_matrix(self.linearity)
        writer.write_vector(self.bias)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        stddev = options.number("ParamStddev", 0.1)
        mean = options.number("BiasMean", -2.0)
        width = options.number("BiasRange", 2.0)
        self.learn_rate_coef = _float32(options.number("LearnRateCoef", 1.0))
        self.bias_learn_rate_coef = _float32(options.number("BiasLearnRateCoef", 1.0))
        self.max_norm = _float32(options.number("MaxNorm", 0.0))
        self.linearity = _gauss(rng, stddev, self.output_dim, self.input_dim)
        drawn = rng.uniform(self.output_dim).astype(np.float64) - 0.5
        self.bias = (mean + drawn * width).astype(np.float32)

    def check(self) -> None:
        check_shape(self, "linearity", self.output_dim, self.input_dim)
        check_shape(self, "bias", self.output_dim)

    def info(self) -> str:
        return (
            f"\n  linearity {nnet_info.stddev_moments(self.linearity)} , "
            f"lr-coef {self.learn_rate_coef:g}, max-norm {self.max_norm:g}"
            f"\n  bias {nnet_info.stddev_moments(self.bias)} , "
            f"lr-coef {self.bias_learn_rate_coef:g}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats @ self.linearity.T + self.bias


def _gauss(rng: Draws, stddev: float, *shape: int) -> np.ndarray:
    if math.prod(shape) >= 2**31:
        raise ComponentError(f"a matrix of {_shape(shape)} is too large")
    weights = rng.gauss(*shape)
    weights *= np.float32(stddev)
    return weights


@register("<LinearTransform>")
@dataclasses.dataclass(eq=False)
class LinearTransform(UpdatableComponent):
    """`y = W x`."""

    linearity: np.ndarray = dataclasses.field(default_factory=lambda: _none(0, 0))
    """W, `(output_dim, input_dim)`."""
    learn_rate_coef: float = 1.0

    _OPTIONS = {"<LearnRateCoef>": "learn_rate_coef"}

    def parameters(self) -> dict[str, np.ndarray]:
        return {"linearity": self.linearity}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.linearity = reader.read_matrix()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_newline()
        writer.write_matrix(self.linearity)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.learn_rate_coef = _float32(options.number("LearnRateCoef", 1.0))
        stddev = options.number("ParamStddev", 0.1)
        if options.has("ReadMatrix"):
            from seqzoo.datasets import tables  # not needed to read or write a model

            path = " ".join(options.words("ReadMatrix"))
            if "|" in path:
                raise ComponentError(
                    f"<ReadMatrix> {path} is a command; a file is taken"
                )
            self.linearity = np.asarray(tables.read_object(path, "matrix"), np.float32)
        else:
            self.linearity = _gauss(rng, stddev, self.output_dim, self.input_dim)

    def check(self) -> None:
        check_shape(self, "linearity", self.output_dim, self.input_dim)

    def info(self) -> str:
        return (
            f"\n  linearity {nnet_info.stddev_moments(self.linearity)} , "
            f"lr-coef {self.learn_rate_coef:g}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats @ self.linearity.T


@dataclasses.dataclass(eq=False)
class _PerDimension(UpdatableComponent):
    """One number for each dimension."""

    data: np.ndarray = dataclasses.field(default_factory=_none)
    """`(input_dim,)`."""
    learn_rate_coef: float = 1.0

    _NAME: ClassVar[str]
    _OPTIONS = {"<LearnRateCoef>": "learn_rate_coef"}

    def parameters(self) -> dict[str, np.ndarray]:
        return {self._NAME: self.data}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)
        self.data = reader.read_vector()

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_vector(self.data)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.learn_rate_coef = _float32(options.number("LearnRateCoef", 1.0))
        value = options.number("InitParam", 0.0)
        self.data = np.full(self.output_dim, value, np.float32)

    def check(self) -> None:
        check_same_dims(self)
        check_shape(self, "data", self.output_dim)

    def info(self) -> str:
        return (
            f"\n  {self._NAME} {nnet_info.stddev_moments(self.data)} , "
            f"lr-coef {self.learn_rate_coef:g}"
        )


@register("<AddShift>")
class AddShift(_PerDimension):
    """`y = x + data`."""

    _NAME = "shift_data"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats + self.data


@register("<Rescale>")
class Rescale(_PerDimension):
    """`y = x * data`; a prototype without `<InitParam>` makes it all 0."""

    _NAME = "scale_data"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats * self.data


@register("<Splice>")
@dataclasses.dataclass(eq=False)
class Splice(Component):
    """Lays neighbouring frames side by side; the utterance's ends are repeated."""

    offsets: list[int] = dataclasses.field(default_factory=list)
    """In frames, relative to the current one."""

    def read_data(self, reader: ObjectReader) -> None:
        self.offsets = [int(offset) for offset in reader.read_int32_vector()]

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_int32_vector(self.offsets)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.offsets = options.offsets()

    def check(self) -> None:
        expected = len(self.offsets) * self.input_dim
        if self.output_dim != expected:
            raise ComponentError(
                f"{self.marker} has {len(self.offsets)} offsets and input dimension "
                f"{self.input_dim}, so its output dimension must be {expected}, not "
                f"{self.output_dim}"
            )

    def info(self) -> str:
        return f"\n  frame_offsets [ {' '.join(map(str, self.offsets))} ]"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        frames = np.arange(len(feats))[:, None] + np.array(self.offsets)
        spliced = feats[frames.clip(0, max(len(feats) - 1, 0))]
        return spliced.reshape(len(feats), self.output_dim)


@register("<Sigmoid>")
class Sigmoid(Component):
    """`y = 1 / (1 + exp(-x))`."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        small = np.exp(-np.abs(feats))
        return np.where(feats < 0, small, np.float32(1)) / (1 + small)


@register("<Tanh>")
class Tanh(Component):
    """`y = tanh(x)`."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return np.tanh(feats)


@register("<Softmax>")
class Softmax(Component):
    """`y_i = exp(x_i) / sum_j exp(x_j)`."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        grown = np.exp(feats - feats.max(axis=1, keepdims=True))
        return grown / grown.sum(axis=1, keepdims=True)


@register("<Dropout>")
@dataclasses.dataclass(eq=False)
class Dropout(Component):
    """Sets a share of the units to 0 in training; the identity otherwise."""

    dropout_rate: float = 0.5
    """The share of units set to 0."""

    def read_data(self, reader: ObjectReader) -> None:
        while (token := reader.peek_token()) in ("<DropoutRate>", "<DropoutRetention>"):
            reader.read_token()
            value = _float32(reader.read_float())
            # Old files hold the share that stays.
            kept = token == "<DropoutRetention>"
            self.dropout_rate = _float32(1 - value) if kept else value

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_token("<DropoutRate>")
        writer.write_float(self.dropout_rate)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.dropout_rate = _float32(options.number("DropoutRate", 0.5))

    def check(self) -> None:
        check_same_dims(self)
        if not 0 <= self.dropout_rate < 1:
            raise ComponentError(
                f"{self.marker} has rate {self.dropout_rate:g}; 0 to below 1 is taken"
            )

    def info(self) -> str:
        return f"<DropoutRate> {self.dropout_rate:g}"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return feats
