"""`seqzoo copy`: networks in another form, joined, cut or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import absl.flags

from seqzoo.zoo.commands import common

if TYPE_CHECKING:
    from seqzoo.zoo.checkpoints.nnet1 import Nnet

USAGE = """
seqzoo copy IN... OUT

Copies a Kaldi nnet1 network, as nnet-copy does; of several it makes one, each behind
the one before, as nnet-concat does. IN is a network's file or the folder of a run, or
what --input_format says; `-` is standard input, and as OUT standard output.
"""

_INPUT_FORMATS = ["nnet1", "proto", "transform", "cmvn", "rbm"]


def define(flag_values: absl.flags.FlagValues) -> None:
    """The options of nnet-copy, and of the small programs around it."""

    def integer(name: str, default: int | None, text: str, least: int | None) -> None:
        absl.flags.DEFINE_integer(
            name, default, text, lower_bound=least, flag_values=flag_values
        )

    def real(name: str, default: float | None, text: str) -> None:
        absl.flags.DEFINE_float(name, default, text, flag_values=flag_values)

    def string(name: str, text: str) -> None:
        absl.flags.DEFINE_string(name, "", text, flag_values=flag_values)

    absl.flags.DEFINE_bool(
        "binary", True, "write binary; text otherwise", flag_values=flag_values
    )
    absl.flags.DEFINE_enum(
        "format",
        "nnet1",
        ["nnet1", "nnet2_raw"],
        "what to write; nnet2_raw is the text of nnet1-to-raw-nnet",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_enum(
        "input_format",
        "nnet1",
        _INPUT_FORMATS,
        "what each IN is: a network; a proto, to make a new one of (nnet-initialize); "
        "a transform, which is a matrix (transf-to-nnet); cmvn statistics "
        "(cmvn-to-nnet); or an rbm, to make layers of (rbm-convert-to-nnet)",
        flag_values=flag_values,
    )
    integer("seed", 777, "of a proto's random weights", None)
    absl.flags.DEFINE_enum(
        "rng",
        "numpy",
        ["numpy", "kaldi"],
        "what draws those; kaldi gives the weights that nnet-initialize does",
        flag_values=flag_values,
    )
    real("std_dev", 1.0, "of dimensions that cmvn statistics normalise")
    real("var_floor", 1e-10, "smaller variances of cmvn statistics are taken for this")
    real(
        "learn_rate_coef",
        None,
        "of what is made of a transform (1 by default) or of cmvn statistics (0)",
    )
    integer(
        "from_parallel_component",
        None,
        "take that network, from 1, out of a <ParallelComponent> at the front",
        1,
    )
    integer(
        "remove_first_components", 0, "leave out so many components at the front", 0
    )
    integer("remove_last_components", 0, "leave out so many components at the end", 0)
    string("keep_components", "keep these components only: numbers from 1, `1:4,7`")
    real(
        "dropout_rate",
        None,
        "the share of numbers to drop, for all <Dropout> components",
    )
    real("coef", None, "learn rate of weights, relative to the trainer's")
    real("bias_coef", None, "learn rate of biases, relative to that of their weights")
    string(
        "components",
        "which components --coef and --bias_coef are for, `1:4,7`; all by default",
    )


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Copies."""
    common.check_args(args, 2, None, "give IN and OUT")
    if flags.components and flags.coef is None and flags.bias_coef is None:
        raise common.UsageError(
            "--components is for --coef and --bias_coef; --keep_components cuts."
        )

    from seqzoo.zoo.checkpoints import nnet1, nnet2_raw, nnet_edit

    *sources, target = args
    nnet = nnet_edit.concat(*[_read(source, flags) for source in sources])
    if flags.from_parallel_component is not None:
        number = flags.from_parallel_component
        nnet = nnet_edit.from_parallel_component(nnet, number)
    if flags.keep_components:
        nnet = nnet_edit.keep_components(nnet, flags.keep_components)
    nnet = nnet_edit.remove_first_components(nnet, flags.remove_first_components)
    nnet = nnet_edit.remove_last_components(nnet, flags.remove_last_components)
    if flags.dropout_rate is not None:
        nnet = nnet_edit.set_dropout_rate(nnet, flags.dropout_rate)
    if flags.coef is not None or flags.bias_coef is not None:
        coef = 1.0 if flags.coef is None else flags.coef
        bias_coef = 1.0 if flags.bias_coef is None else flags.bias_coef
        nnet = nnet_edit.set_learn_rates(nnet, flags.components, coef, bias_coef)
    if flags.format == "nnet2_raw":
        nnet2_raw.write(target, nnet)
    else:
        nnet1.write(target, nnet, binary=flags.binary)


def _read(source: str, flags: absl.flags.FlagValues) -> Nnet:
    """One of the networks, of whatever is given for it."""
    from seqzoo.datasets import tables
    from seqzoo.zoo.checkpoints import nnet1, nnet_edit, nnet_proto

    coef = flags.learn_rate_coef
    if flags.input_format == "proto":
        return nnet_proto.read(source, flags.seed, rng=flags.rng)
    if flags.input_format == "transform":
        matrix = tables.read_object(source, "matrix")
        coef = 1.0 if coef is None else coef
        return nnet_edit.transf_to_nnet(matrix, learn_rate_coef=coef)
    if flags.input_format == "cmvn":
        return nnet_edit.cmvn_to_nnet(
            tables.read_object(source, "matrix"),
            std_dev=flags.std_dev,
            learn_rate_coef=0.0 if coef is None else coef,
            var_floor=flags.var_floor,
        )
    nnet = nnet1.read(common.nnet_file(source))
    return nnet_edit.rbm_to_nnet(nnet) if flags.input_format == "rbm" else nnet
