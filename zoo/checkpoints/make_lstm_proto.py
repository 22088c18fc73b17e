"""Prototypes of LSTMs, as make_lstm_proto.py and make_blstm_proto.py print them."""

from __future__ import annotations

import dataclasses
from typing import Any

from seqzoo.zoo.checkpoints import proto_options
from seqzoo.zoo.checkpoints.proto_options import ScriptOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class LstmProtoOptions(ScriptOptions):
    """The options of make_lstm_proto.py; None leaves it to the component."""

    cell_dim: int = 320
    """Memory cells of a layer (of a direction)."""

    proj_dim: int = 400
    """Outputs of a layer (of a direction)."""

    num_layers: int = 2
    """Recurrent layers."""

    lstm_param_range: float | None = None
    """Weights of the recurrent layers start within +- this; 0.1."""

    param_stddev: float | None = None
    """Standard deviation of the output layer's weights; 0.1."""

    cell_clip: float | None = None
    """Cells are kept within +- this; 50."""

    diff_clip: float | None = None
    """Derivatives of a frame are kept within +- this; 1."""

    cell_diff_clip: float | None = None
    """The cells' derivatives are kept within +- this; 0, no limit."""

    grad_clip: float | None = None
    """Gradients are kept within +- this; 250."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class BlstmProtoOptions(LstmProtoOptions):
    """The options of make_blstm_proto.py."""

    proj_dim: int = 200

    proj_dim_last: int = 320
    """Outputs of a direction in the last layer."""


def make_lstm_proto(feat_dim: int, num_leaves: int, **options: Any) -> str:
    """The prototype of LSTM layers, tanh and an output layer, a component a line.

    Args:
        feat_dim: numbers in an input frame.
        num_leaves: outputs.
        options: the fields of `LstmProtoOptions`.

    Raises:
        InputError: for an unknown option or dimensions that do not make sense.
    """
    o = LstmProtoOptions.make(options)
    widths = [o.proj_dim] * o.num_layers
    return _proto("<LstmProjected>", feat_dim, num_leaves, widths, 1, o)


def make_blstm_proto(feat_dim: int, num_leaves: int, **options: Any) -> str:
    """The same of BLSTM layers; `options` are the fields of `BlstmProtoOptions`."""
    o = BlstmProtoOptions.make(options)
    widths = [o.proj_dim] * (o.num_layers - 1) + [o.proj_dim_last]
    return _proto("<BlstmProjected>", feat_dim, num_leaves, widths, 2, o)


def _proto(
    marker: str,
    feat_dim: int,
    num_leaves: int,
    widths: list[int],
    directions: int,
    o: LstmProtoOptions,
) -> str:
    proto_options.check_least(
        {
            "feat_dim": (feat_dim, 1),
            "num_leaves": (num_leaves, 1),
            "cell_dim": (o.cell_dim, 1),
            "num_layers": (o.num_layers, 1),
            "proj_dim": (min(widths, default=1), 1),
        }
    )
    # The scripts print options right behind the number before them, and a blank at the
    # end.
    clips = _given(
        {
            "<ParamRange>": o.lstm_param_range,
            "<CellClip>": o.cell_clip,
            "<DiffClip>": o.diff_clip,
            "<CellDiffClip>": o.cell_diff_clip,
            "<GradClip>": o.grad_clip,
        }
    )
    lines, dim = [], feat_dim
    for width in widths:
        dims = f"<InputDim> {dim} <OutputDim> {directions * width}"
        lines.append(f"{marker} {dims} <CellDim> {o.cell_dim}{clips}")
        dim = directions * width
    stddev = _given({"<ParamStddev>": o.param_stddev})
    lines += [
        f"<Tanh> <InputDim> {dim} <OutputDim> {dim}",
        f"<AffineTransform> <InputDim> {dim} <OutputDim> {num_leaves} "
        f"<BiasMean> 0.0 <BiasRange> 0.0{stddev}",
        f"<Softmax> <InputDim> {num_leaves} <OutputDim> {num_leaves}",
    ]
    return "".join(f"{line}\n" for line in lines)


def _given(values: dict[str, float | None]) -> str:
    return "".join(
        f"{token} {value:f} " for token, value in values.items() if value is not None
    )
