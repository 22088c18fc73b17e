"""The layers of Torch's language models, taken out of the modules that hold them.

Weights stay as Torch has them: `SeqLSTM` multiplies `(inputs, recurrent) @ weight`,
and its columns are those of the gates i, f, o and of the candidate g.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.torch_values import TorchFunction, TorchObject, as_list

_MOST_LAYERS = 1000


@dataclasses.dataclass(eq=False, kw_only=True)
class LookupTable:
    """`nn.LookupTable`, `nn.LookupTableMaskZero`: a vector for each word."""

    weight: np.ndarray
    """(words, dim); the row of word 1 is the first. The row that
    LookupTableMaskZero keeps for id 0 is left out: it is all zero."""

    mask_zero: bool
    """Whether id 0 is taken, and gives zeros."""


@dataclasses.dataclass(eq=False, kw_only=True)
class Dropout:
    """`nn.Dropout`."""

    rate: float
    """The share of values that is dropped."""


@dataclasses.dataclass(eq=False, kw_only=True)
class SeqLstm:
    """`nn.SeqLSTM`, `nn.SeqLSTMP` and torch-rnn's `nn.LSTM`."""

    weight: np.ndarray
    """(inputs + outputs, 4 * cells): the gates i, f, o, g side by side."""

    bias: np.ndarray
    """(4 * cells,)"""

    projection: np.ndarray | None
    """(cells, outputs) of SeqLSTMP; None if the outputs are those of the cells."""

    mask_zero: bool
    """Whether the state is set to zero where the input is all zero."""

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.bias.size // 4

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return self.cells if self.projection is None else self.projection.shape[1]

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self.weight.shape[0] - self.outputs


@dataclasses.dataclass(eq=False, kw_only=True)
class Nce:
    """`nn.NCEModule`: the output layer, and the noise it is trained against."""

    weight: np.ndarray
    """(words, dim)"""

    bias: np.ndarray
    """(words,)"""

    unigrams: np.ndarray
    """(words,): the noise's probabilities; their sum is 1."""

    k: int
    """Noise words for each word (or each time step, if shared)."""

    z: float
    """What stands for the sum over all words; 0 or less: not estimated so far."""

    batch_noise: bool
    """Whether the noise words are shared by the sequences of a batch."""


@dataclasses.dataclass(eq=False, kw_only=True)
class Linear:
    """`nn.Linear`: the output layer of a full softmax."""

    weight: np.ndarray
    """(words, dim)"""

    bias: np.ndarray
    """(words,)"""


Layer = LookupTable | Dropout | SeqLstm | Nce | Linear

# Modules that hold others, which act one after the other,
_CHAINS = ("nn.Serial", "nn.Sequential", "nn.GPU", "nn.ParallelTable")
# that act on each time step as the module inside does,
_WRAPPERS = ("nn.Sequencer", "nn.Recursor", "nn.MaskZero")
# and that only arrange values.
_PLAIN = (
    "nn.Identity",
    "nn.ZipTable",
    "nn.SplitTable",
    "nn.JoinTable",
    "nn.Convert",
    "nn.View",
    "nn.LogSoftMax",
    "nn.SoftMax",
)


class ModuleReader:
    """Reads layers from objects of Torch.

    Args:
        name: what errors call the file.
    """

    def __init__(self, name: str):
        self._name = name

    def fail(self, where: str, message: str) -> InputError:
        """An error about the object at `where`."""
        return InputError(f"{self._name}: {where}: {message}")

    def layers(self, module: Any, where: str) -> list[Layer]:
        """The layers of a module, in the order in which they act.

        Args:
            module: the module, as `torch_file.read` gives it.
            where: what errors call it.

        Raises:
            InputError: if there is a module that is not known, or a damaged one.
        """
        found: list[Layer] = []
        todo = [(where, module)]
        for _ in range(_MOST_LAYERS):
            if not todo:
                self._check(found, where)
                return found
            place, module = todo.pop()
            if not isinstance(module, TorchObject):
                raise self.fail(place, f"{kind(module)}, but a module of nn is due.")
            name = module.class_name
            if name in _CHAINS:
                todo += reversed(self._inside(module, place))
            elif name in _WRAPPERS:
                inner = module.get("module")
                first = self._inside(module, place)[:1] if inner is None else []
                todo += first or [(f"{place}.module", inner)]
            elif name not in _PLAIN:
                found.append(self._layer(module, place))
        raise self.fail(where, f"more than {_MOST_LAYERS} modules in one another.")

    def _inside(self, module: TorchObject, where: str) -> list[tuple[str, Any]]:
        modules = as_list(module.get("modules"))
        if modules is None:
            raise self.fail(where, f"{module.class_name} without its modules.")
        return [(f"{where}.modules[{i}]", m) for i, m in enumerate(modules, 1)]

    def _layer(self, module: TorchObject, where: str) -> Layer:
        name = module.class_name
        if name == "nn.Concat":
            return self._joined(module, where)
        if name == "nn.LookupTable":
            return LookupTable(
                weight=self.array(module, "weight", where, 2), mask_zero=False
            )
        if name == "nn.LookupTableMaskZero":
            weight = self.array(module, "weight", where, 2)
            return LookupTable(weight=weight[1:], mask_zero=True)
        if name == "nn.Dropout":
            rate = self.number(module, "p", where)
            if rate > 0 and module.get("v2") is not True:
                raise self.fail(
                    where,
                    "nn.Dropout of a version before 2, which scales values after "
                    "training, not while it goes on; that is not taken.",
                )
            return Dropout(rate=rate)
        if name in ("nn.SeqLSTM", "nn.SeqLSTMP", "nn.LSTM"):
            return self._lstm(module, where)
        if name == "nn.Linear":
            weight, bias = self._weight_and_bias(module, where)
            return Linear(weight=weight, bias=bias)
        if name == "nn.NCEModule":
            weight, bias = self._weight_and_bias(module, where)
            unigrams = self.array(module, "unigrams", where, 1)
            if unigrams.size != bias.size:
                raise self.fail(
                    where, f"{unigrams.size} unigrams for {bias.size} words."
                )
            z = self.array(module, "Z", where, 1)
            return Nce(
                weight=weight,
                bias=bias,
                unigrams=unigrams,
                k=int(self.number(module, "k", where)),
                z=float(z[0]) if z.size else -1.0,
                batch_noise=module.get("batchnoise", True) is True,
            )
        raise self.fail(
            where,
            f"the module {name[:80]} is not known here; known are LookupTable, "
            "LookupTableMaskZero, SeqLSTM, SeqLSTMP, Dropout, Linear and NCEModule, in "
            "Sequential, ParallelTable, Concat, GPU, Sequencer and MaskZero.",
        )

    def _joined(self, module: TorchObject, where: str) -> LookupTable:
        """The table whose columns stand in several tables."""
        tables = []
        for place, inner in self._inside(module, where):
            layers = self.layers(inner, place)
            if len(layers) != 1 or not isinstance(layers[0], LookupTable):
                raise self.fail(place, "nn.Concat is known only of lookup tables.")
            tables.append(layers[0])
        rows = {(table.weight.shape[0], table.mask_zero) for table in tables}
        if len(rows) != 1:
            raise self.fail(where, "nn.Concat of tables with different words.")
        weight = np.concatenate([table.weight for table in tables], 1)
        return LookupTable(weight=weight, mask_zero=tables[0].mask_zero)

    def _lstm(self, module: TorchObject, where: str) -> SeqLstm:
        weight = self.array(module, "weight", where, 2)
        bias = self.array(module, "bias", where, 1)
        projection = None
        if module.class_name == "nn.SeqLSTMP":
            projection = self.array(module, "weightO", where, 2)
        layer = SeqLstm(
            weight=weight,
            bias=bias,
            projection=projection,
            mask_zero=module.get("maskzero") is True,
        )
        cells = layer.cells
        if (
            weight.shape[1] != 4 * cells
            or bias.size != 4 * cells
            or layer.inputs <= 0
            or (projection is not None and projection.shape[0] != cells)
        ):
            shapes = [a.shape for a in (weight, bias, projection) if a is not None]
            raise self.fail(
                where,
                f"{module.class_name} with shapes {', '.join(map(str, shapes))}; its "
                "weight has 4 columns and its bias 4 values for each cell.",
            )
        return layer

    def _weight_and_bias(
        self, module: TorchObject, where: str
    ) -> tuple[np.ndarray, np.ndarray]:
        weight = self.array(module, "weight", where, 2)
        bias = self.array(module, "bias", where, 1)
        if weight.shape[0] != bias.size:
            raise self.fail(
                where,
                f"a weight of {weight.shape[0]} rows and a bias of {bias.size} values.",
            )
        return weight, bias

    def array(
        self, module: TorchObject, field: str, where: str, dimensions: int
    ) -> np.ndarray:
        """A copy of a tensor of floats."""
        value = module.get(field)
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
            raise self.fail(f"{where}.{field}", f"{kind(value)}, no tensor of floats.")
        if value.ndim != dimensions:
            raise self.fail(
                f"{where}.{field}",
                f"a tensor of {value.ndim} dimensions, not {dimensions}.",
            )
        if _overlaps(value):
            raise self.fail(f"{where}.{field}", "a tensor larger than its storage.")
        return np.array(value)

    def number(self, fields: Any, field: str, where: str) -> float:
        """A number."""
        value = fields.get(field)
        if not isinstance(value, float):
            raise self.fail(f"{where}.{field}", f"{kind(value)}, no number.")
        if not np.isfinite(value):
            raise self.fail(f"{where}.{field}", f"{value}, no finite number.")
        return value

    def _check(self, layers: Sequence[Layer], where: str) -> None:
        """Checks that each layer takes what the one before gives."""
        dim = None
        for layer in layers:
            if isinstance(layer, Dropout):
                continue
            if isinstance(layer, LookupTable):
                takes, gives = None, layer.weight.shape[1]
            elif isinstance(layer, SeqLstm):
                takes, gives = layer.inputs, layer.outputs
            else:
                takes, gives = layer.weight.shape[1], layer.weight.shape[0]
            if dim is not None and takes != dim:
                name = type(layer).__name__
                raise self.fail(
                    where, f"a {name} takes {takes} values, but gets {dim}."
                )
            dim = gives


def language_model(layers: Sequence[Layer]) -> str | None:
    """What is missing for a model of words; None if nothing is.

    That is a lookup table, recurrent layers and an output layer for as many words.
    """
    rest = [layer for layer in layers if not isinstance(layer, Dropout)]
    if not rest or not isinstance(rest[0], LookupTable):
        return "it does not begin with a lookup table"
    if not isinstance(rest[-1], Nce | Linear):
        return "it does not end with an NCEModule or a Linear"
    if not rest[1:-1] or not all(isinstance(layer, SeqLstm) for layer in rest[1:-1]):
        return "there are not LSTMs, and only those, between table and output"
    words = rest[0].weight.shape[0], rest[-1].bias.size
    if words[0] != words[1]:
        return f"its table has {words[0]} words and its output {words[1]}"
    return None


def _overlaps(value: np.ndarray) -> bool:
    """Whether a view has more elements than the memory that it reaches over."""
    steps = zip(value.shape, value.strides, strict=True)
    return value.size > 1 + sum((n - 1) * abs(s) for n, s in steps) // value.itemsize


def kind(value: Any) -> str:
    """What a value of `torch_file.read` is, in words."""
    if isinstance(value, TorchObject):
        return value.class_name[:80]
    if isinstance(value, np.ndarray):
        return f"a tensor of {value.dtype}"
    if value is None:
        return "a missing value"
    names = {dict: "table", list: "list", float: "number", TorchFunction: "function"}
    return f"a {names.get(type(value), type(value).__name__)}"
