"""Prototypes of feed-forward networks, as make_nnet_proto.py prints them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import proto_options
from seqzoo.zoo.checkpoints.proto_options import ScriptOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class ProtoOptions(ScriptOptions):
    """The options of make_nnet_proto.py; a `_` in a string value means a space."""

    softmax: bool = True
    """Whether a softmax ends the network (`--no-softmax`)."""

    block_softmax_dims: str = ""
    """`100:50` makes a block softmax over targets of 100 and of 50."""

    activation_type: str = "<Sigmoid>"
    """The component after each hidden affine one."""

    activation_opts: str = ""
    """Options of that component."""

    hid_bias_mean: float = -2.0
    """Centre of the uniform distribution of hidden biases."""

    hid_bias_range: float = 4.0
    """Width of that distribution."""

    param_stddev_factor: float = 0.1
    """Scales the standard deviation of all weights."""

    glorot_scaled_stddev: bool = True
    """Scales it by 35 sqrt(2 / (in + out)) too (`--no-glorot-scaled-stddev`)."""

    smaller_input_weights: bool = True
    """Scales the first layer's by sqrt(1/12) (`--no-smaller-input-weights`)."""

    bottleneck_dim: int = 0
    """Width of a linear bottleneck after the hidden layers; 0 is none."""

    bottleneck_trick: bool = True
    """Smaller weights and learn rates around it (`--no-bottleneck-trick`)."""

    with_dropout: bool = False
    """Whether a `<Dropout>` follows each activation."""

    dropout_opts: str = ""
    """Options of those."""

    max_norm: float = 0.0
    """Limit on the norm of a hidden unit's weights; 0 is none."""

    affine_opts: str = ""
    """Options added to the hidden affine components."""

    proto_head: bool = False
    """Whether `<NnetProto>` and `</NnetProto>` stand around the lines."""

    SWITCHES = {
        "no-softmax": ("softmax", False),
        "no-glorot-scaled-stddev": ("glorot_scaled_stddev", False),
        "no-smaller-input-weights": ("smaller_input_weights", False),
        "no-bottleneck-trick": ("bottleneck_trick", False),
        "with-dropout": ("with_dropout", True),
        "with-proto-head": ("proto_head", True),
        "no-proto-head": ("proto_head", False),
    }


def parse_proto_opts(text: str) -> dict[str, Any]:
    """The keyword arguments that a `--proto-opts` string stands for.

    Raises:
        InputError: for an option that is not known or a value that is not one.
    """
    return proto_options.parse(text, ProtoOptions)


def make_nnet_proto(
    feat_dim: int,
    num_leaves: int,
    num_hid_layers: int,
    num_hid_neurons: int,
    **options: Any,
) -> str:
    """The prototype of a feed-forward network, one component a line.

    Args:
        feat_dim: numbers in an input frame (of the transformed features).
        num_leaves: outputs.
        num_hid_layers: hidden layers; a bottleneck adds one.
        num_hid_neurons: units of each.
        options: the fields of `ProtoOptions`.

    Raises:
        InputError: for an unknown option or dimensions that do not make sense.
    """
    make = _Maker(ProtoOptions.make(options))
    o = make.options
    proto_options.check_least(
        {
            "feat_dim": (feat_dim, 1),
            "num_leaves": (num_leaves, 1),
            "num_hid_layers": (num_hid_layers, 0),
            "num_hid_neurons": (num_hid_neurons, 1),
            "bottleneck_dim": (o.bottleneck_dim, 0),
        }
    )

    if num_hid_layers == 0 and not o.bottleneck_dim:
        make.output(feat_dim, num_leaves, coefs="")
    else:
        dim = feat_dim
        for layer in range(num_hid_layers):
            make.hidden(dim, num_hid_neurons, first=layer == 0)
            dim = num_hid_neurons
        if o.bottleneck_dim:
            make.bottleneck(dim, num_hid_neurons, first=num_hid_layers == 0)
        coefs = " <LearnRateCoef> 1.000000 <BiasLearnRateCoef> 0.100000"
        make.output(num_hid_neurons, num_leaves, coefs)

    lines = make.lines
    if o.proto_head:
        lines = ["<NnetProto>", *lines]
    if o.proto_head or num_hid_layers == 0:
        lines = [*lines, "</NnetProto>"]
    return "".join(f"{line}\n" for line in lines)


def _spaced(opts: str) -> str:
    return " " + opts.replace("_", " ")


class _Maker:
    """Collects the lines; trailing spaces are those of the script's output."""

    def __init__(self, options: ProtoOptions):
        self.options = options
        self.lines: list[str] = []
        self._mean = f"<BiasMean> {options.hid_bias_mean:f}"
        self._range = f"<BiasRange> {options.hid_bias_range:f}"
        self._norm = f"<MaxNorm> {options.max_norm:f}"

    def _add(self, marker: str, inputs: int, outputs: int, rest: str) -> None:
        dims = f"<InputDim> {inputs} <OutputDim> {outputs}"
        self.lines.append(f"{marker} {dims}{rest}")

    def _stddev(self, inputs: int, outputs: int, factor: float = 1.0) -> str:
        scale = self.options.param_stddev_factor * factor
        if self.options.glorot_scaled_stddev:
            scale *= 35 * math.sqrt(2 / (inputs + outputs))
        return f"<ParamStddev> {scale:f}"

    def _activation(self, dim: int) -> None:
        o = self.options
        self._add(o.activation_type, dim, dim, _spaced(o.activation_opts))
        if o.with_dropout:
            self._add("<Dropout>", dim, dim, _spaced(o.dropout_opts))

    def hidden(self, inputs: int, outputs: int, first: bool) -> None:
        o = self.options
        smaller = first and o.smaller_input_weights
        stddev = self._stddev(inputs, outputs, math.sqrt(1 / 12) if smaller else 1.0)
        rest = f" {self._mean} {self._range} {stddev} {self._norm}"
        rest += _spaced(o.affine_opts)
        self._add("<AffineTransform>", inputs, outputs, rest)
        self._activation(outputs)

    def bottleneck(self, inputs: int, outputs: int, first: bool) -> None:
        o = self.options
        dim = o.bottleneck_dim
        factor, coef, bias_coef = 1.0, "", ""
        if o.bottleneck_trick:
            factor = 0.75
            coef = " <LearnRateCoef> 0.100000"
            bias_coef = " <BiasLearnRateCoef> 0.100000"
        linear = f" {self._stddev(inputs, dim, factor)}{coef}"
        self._add("<LinearTransform>", inputs, dim, linear)
        stddev = self._stddev(dim, outputs, factor)
        rest = f" {self._mean} {self._range} {stddev}{coef}{bias_coef} {self._norm}"
        if o.affine_opts or not first:
            rest += _spaced(o.affine_opts)
        self._add("<AffineTransform>", dim, outputs, rest)
        self._activation(outputs)

    def output(self, inputs: int, outputs: int, coefs: str) -> None:
        o = self.options
        stddev = self._stddev(inputs, outputs)
        bias = "<BiasMean> 0.000000 <BiasRange> 0.000000"
        self._add("<AffineTransform>", inputs, outputs, f" {bias} {stddev}{coefs}")
        if not o.softmax:
            return
        if not o.block_softmax_dims:
            self._add("<Softmax>", outputs, outputs, "")
            return
        dims = o.block_softmax_dims.split(":")
        if not all(d.isdigit() for d in dims) or sum(map(int, dims)) != outputs:
            raise InputError(
                f"prototype: block_softmax_dims {o.block_softmax_dims!r} must be sizes "
                f"joined by `:` that add up to the {outputs} outputs."
            )
        rest = f" <BlockDims> {o.block_softmax_dims}"
        self._add("<BlockSoftmax>", outputs, outputs, rest)
