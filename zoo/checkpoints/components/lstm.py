"""`<LstmProjected>` and `<BlstmProjected>`: LSTMs with a projected output."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components.activations import sigmoid
from seqzoo.zoo.checkpoints.components.component import (
    ComponentError,
    UpdatableComponent,
    check_at_least,
    check_shape,
    float32,
    no_numbers,
    read_options,
    register,
    uniform,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


def _matrix() -> np.ndarray:
    return dataclasses.field(default_factory=lambda: no_numbers(0, 0))


def _vector() -> np.ndarray:
    return dataclasses.field(default_factory=no_numbers)


@dataclasses.dataclass(eq=False)
class _Lstm(UpdatableComponent):
    """What one and two directions share; gates are in the order g, i, f, o."""

    cell_dim: int = 0
    """C, the memory cells of a direction."""
    learn_rate_coef: float = 1.0
    bias_learn_rate_coef: float = 1.0
    cell_clip: float = 50.0
    """Cells are kept within +- this; 0 is no limit."""
    diff_clip: float = 1.0
    """Derivatives of a frame are kept within +- this; 0 is no limit."""
    cell_diff_clip: float = 0.0
    """The cells' derivatives are kept within +- this; 0 is no limit."""
    grad_clip: float = 250.0
    """Gradients of weights are kept within +- this; 0 is no limit."""

    _OPTIONS = {
        "<CellDim>": "cell_dim",
        "<LearnRateCoef>": "learn_rate_coef",
        "<BiasLearnRateCoef>": "bias_learn_rate_coef",
        "<CellClip>": "cell_clip",
        "<DiffClip>": "diff_clip",
        "<CellDiffClip>": "cell_diff_clip",
        "<GradClip>": "grad_clip",
    }
    _OLD_OPTIONS = {"<ClipGradient>": "grad_clip"}
    _DIRECTIONS: ClassVar[tuple[str, ...]]
    """Prefixes of the arrays' names."""

    def _projection(self) -> int:
        """R, the outputs of a direction."""
        return self.output_dim // len(self._DIRECTIONS)

    def _shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The arrays in the order of files."""
        cells, outputs = self.cell_dim, self._projection()
        for prefix in self._DIRECTIONS:
            yield f"{prefix}w_gifo_x", (4 * cells, self.input_dim)
            yield f"{prefix}w_gifo_r", (4 * cells, outputs)
            yield f"{prefix}bias", (4 * cells,)
            yield f"{prefix}peephole_i_c", (cells,)
            yield f"{prefix}peephole_f_c", (cells,)
            yield f"{prefix}peephole_o_c", (cells,)
            yield f"{prefix}w_r_m", (outputs, cells)

    def parameters(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name, _ in self._shapes()}

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS | self._OLD_OPTIONS)
        self._check_cells()
        for name, shape in self._shapes():
            read = reader.read_vector if len(shape) == 1 else reader.read_matrix
            setattr(self, name, read())

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        for name, shape in self._shapes():
            if name.endswith("w_gifo_x"):
                writer.write_newline()
            write = writer.write_vector if len(shape) == 1 else writer.write_matrix
            write(getattr(self, name))

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.cell_dim = options.integer("CellDim")
        width = 2 * options.number("ParamRange", 0.1)
        for token, attribute in self._OPTIONS.items():
            if attribute != "cell_dim":
                default = getattr(self, attribute)
                value = float32(options.number(token.strip("<>"), default))
                setattr(self, attribute, value)
        self._check_cells()
        for name, shape in self._shapes():
            setattr(self, name, uniform(rng, 0.0, width, *shape))

    def check(self) -> None:
        self._check_cells()
        for name, shape in self._shapes():
            check_shape(self, name, *shape)

    def _check_cells(self) -> None:
        check_at_least(self, 1, CellDim=self.cell_dim)

    def _options_info(self) -> str:
        # nnet-info leaves <CellDiffClip> out.
        names = [name for name in self._OPTIONS.values() if name != "cell_diff_clip"]
        return ", ".join(f"{name}_ {getattr(self, name):g}" for name in names[1:])

    def _array_info(self, prefix: str) -> str:
        return "".join(
            f"\n  {name}_   {nnet_info.stddev_moments(getattr(self, name))} "
            for name, _ in self._shapes()
            if name.startswith(prefix)
        )

    def _run(self, feats: np.ndarray, prefix: str) -> np.ndarray:
        """The outputs of one direction, `(frames, R)`."""
        weights = {
            name.removeprefix(prefix): array
            for name, array in self.parameters().items()
            if name.startswith(prefix)
        }
        gates = feats @ weights["w_gifo_x"].T + weights["bias"]
        recurrent, projection = weights["w_gifo_r"].T, weights["w_r_m"].T
        outputs = np.zeros((len(feats), self._projection()), np.float32)
        cell = np.zeros(self.cell_dim, np.float32)
        out = np.zeros(self._projection(), np.float32)
        for time, gate in enumerate(gates):
            g, i, f, o = np.split(gate + out @ recurrent, 4)
            i = sigmoid(i + weights["peephole_i_c"] * cell)
            f = sigmoid(f + weights["peephole_f_c"] * cell)
            cell = np.tanh(g) * i + f * cell
            if self.cell_clip > 0:
                cell = cell.clip(-self.cell_clip, self.cell_clip)
            o = sigmoid(o + weights["peephole_o_c"] * cell)
            outputs[time] = out = (o * np.tanh(cell)) @ projection
        return outputs


@register("<LstmProjected>", "<LstmProjectedStreams>")
@dataclasses.dataclass(eq=False)
class LstmProjected(_Lstm):
    """An LSTM with peepholes whose output `r = W_rm m` is what it feeds back.

    `c = clip(tanh(g) sig(i) + sig(f) c')`, `m = sig(o) tanh(c)`; peepholes of i and f
    look at the cells of the frame before, that of o at those of the frame itself.
    An utterance starts from zeros.
    """

    w_gifo_x: np.ndarray = _matrix()
    """`(4 C, input_dim)`."""
    w_gifo_r: np.ndarray = _matrix()
    """`(4 C, R)`."""
    bias: np.ndarray = _vector()
    """`(4 C,)`."""
    peephole_i_c: np.ndarray = _vector()
    """`(C,)`."""
    peephole_f_c: np.ndarray = _vector()
    peephole_o_c: np.ndarray = _vector()
    w_r_m: np.ndarray = _matrix()
    """`(R, C)`, R = `output_dim`."""

    _DIRECTIONS = ("",)

    def info(self) -> str:
        head = f"cell-dim {self.cell_dim} ( {self._options_info()} )"
        return head + self._array_info("")

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        return self._run(feats, "")


@register("<BlstmProjected>", "<BlstmProjectedStreams>")
@dataclasses.dataclass(eq=False)
class BlstmProjected(_Lstm):
    """Two of them, one from the end of the utterance: `concat(forward, backward)`."""

    f_w_gifo_x: np.ndarray = _matrix()
    """As in `LstmProjected`, with R = `output_dim / 2`."""
    f_w_gifo_r: np.ndarray = _matrix()
    f_bias: np.ndarray = _vector()
    f_peephole_i_c: np.ndarray = _vector()
    f_peephole_f_c: np.ndarray = _vector()
    f_peephole_o_c: np.ndarray = _vector()
    f_w_r_m: np.ndarray = _matrix()
    b_w_gifo_x: np.ndarray = _matrix()
    b_w_gifo_r: np.ndarray = _matrix()
    b_bias: np.ndarray = _vector()
    b_peephole_i_c: np.ndarray = _vector()
    b_peephole_f_c: np.ndarray = _vector()
    b_peephole_o_c: np.ndarray = _vector()
    b_w_r_m: np.ndarray = _matrix()

    _DIRECTIONS = ("f_", "b_")

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        super().init_from_proto(options, rng)
        # New networks remember: 1 is added to the bias of the forget gates.
        forget = slice(2 * self.cell_dim, 3 * self.cell_dim)
        self.f_bias[forget] += np.float32(1)
        self.b_bias[forget] += np.float32(1)

    def _check_cells(self) -> None:
        super()._check_cells()
        if self.output_dim % 2:
            raise ComponentError(
                f"{self.marker} has output dimension {self.output_dim}, which must be "
                "even: half of it is of each direction"
            )

    def info(self) -> str:
        return (
            f"cell-dim 2x{self.cell_dim} ( {self._options_info()} )"
            f"\n  Forward Direction weights:{self._array_info('f_')}"
            f"\n  Backward Direction weights:{self._array_info('b_')}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        backward = self._run(feats[::-1], "b_")[::-1]
        return np.concatenate([self._run(feats, "f_"), backward], axis=1)
