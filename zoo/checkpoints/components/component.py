"""The components of Kaldi nnet1 networks, and the register of them.

A component is a dataclass that knows its data in a model file, its options in a
prototype, its nnet-info text and its forward pass. `register` makes it known to
all readers and writers; docs/adding_a_component.md adds one in 15 lines.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

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
            self.learn_rate_coef = float32(coef)
        if hasattr(self, "bias_learn_rate_coef"):
            self.bias_learn_rate_coef = float32(coef * bias_coef)


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


# Components of the LSTM code from which Kaldi took its own.
_OLD = {
    "<timeshift>": "a <Splice> of the one offset that is its <Shift> does the same",
    "<transmit>": "it changes nothing, so leave it out",
}


def unknown_text(marker: str, cutoff: float) -> str:
    """Why there is no component `marker`, and which one may be meant.

    Args:
        marker: as it was found.
        cutoff: how like another marker it must be to be taken for that, 0 to 1.
    """
    if marker.lower() in _OLD:
        return (
            f"is not supported: it is older than nnet1's LSTM in Kaldi; "
            f"{_OLD[marker.lower()]}"
        )
    near = difflib.get_close_matches(marker, supported(), 1, cutoff)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"is not supported; {hint}{supported_text()}"


def float32(value: float) -> float:
    """Rounds as a file would, so that a written network equals the one in memory."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def read_options(
    reader: ObjectReader, component: Component, names: Mapping[str, str]
) -> None:
    """Reads `<Token> value` pairs in any order into attributes.

    Args:
        reader: stands before the first token; stops at what is none of `names`.
        component: whose attributes are set; a value is read as the type that the
            attribute has: bool, int or float.
        names: token -> attribute.
    """
    while (token := reader.peek_token()) in names:
        reader.read_token()
        attribute = names[token]
        kind = type(getattr(component, attribute))
        value: float
        if kind is bool:
            value = reader.read_bool()
        elif kind is int:
            value = reader.read_int32()
        else:
            value = float32(reader.read_float())
        setattr(component, attribute, value)


def write_options(
    writer: ObjectWriter, component: Component, names: Mapping[str, str]
) -> None:
    """Writes them all, in the order of `names`."""
    for token, attribute in names.items():
        writer.write_token(token)
        value = getattr(component, attribute)
        if isinstance(value, bool):
            writer.write_bool(value)
        elif isinstance(value, int):
            writer.write_int32(value)
        else:
            writer.write_float(value)


def check_same_dims(component: Component) -> None:
    if component.input_dim != component.output_dim:
        raise ComponentError(
            f"{component.marker} has input dimension {component.input_dim} and output "
            f"dimension {component.output_dim}, which must be equal"
        )


def check_at_least(component: Component, least: int, **values: int) -> None:
    """Checks numbers of the component, by the names that its options have."""
    for name, value in values.items():
        if value < least:
            raise ComponentError(
                f"{component.marker} has {name} {value}; {least} is the least"
            )


def check_shape(component: Component, name: str, *shape: int) -> None:
    found = getattr(component, name).shape
    if found != shape:
        raise ComponentError(
            f"{component.marker} holds {name} of shape {shape_text(found)}, but its "
            f"dimensions ask for {shape_text(shape)}"
        )


def shape_text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def softmax(x: np.ndarray) -> np.ndarray:
    """`exp(x_i) / sum_j exp(x_j)` of each row."""
    grown = np.exp(x - x.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)


def no_numbers(*shape: int) -> np.ndarray:
    """Stands for parameters that are still to come."""
    return np.zeros(shape or (0,), np.float32)


def gauss(rng: Draws, stddev: float, *shape: int) -> np.ndarray:
    """New weights from the normal distribution of mean 0."""
    check_size(shape)
    weights = rng.gauss(*shape)
    weights *= np.float32(stddev)
    return weights


def uniform(rng: Draws, mean: float, width: float, *shape: int) -> np.ndarray:
    """New weights spread evenly over `mean - width / 2` to `mean + width / 2`."""
    check_size(shape)
    # Rounded at each step as nnet-initialize does, so that every digit is the same.
    weights = rng.uniform(*shape)
    weights *= np.float32(width)
    weights += np.float32(float32(mean) - float32(width) / 2)
    return weights


def check_size(shape: tuple[int, ...]) -> None:
    """ComponentError for more numbers than are made anew."""
    if math.prod(shape) >= 2**31:
        raise ComponentError(f"a matrix of {shape_text(shape)} is too large")
