"""`seqzoo copy`: a network in another form, or cut."""

import absl.flags

from seqzoo.zoo.commands import common

USAGE = """
seqzoo copy IN OUT

Copies a Kaldi nnet1 network, as nnet-copy does. IN is its file or the folder of a run;
`-` is standard input, and as OUT standard output.
"""


def define(flag_values: absl.flags.FlagValues) -> None:
    """nnet-copy's options."""
    absl.flags.DEFINE_bool(
        "binary", True, "write binary; text otherwise", flag_values=flag_values
    )
    absl.flags.DEFINE_integer(
        "remove_first_components",
        0,
        "leave out so many components at the front",
        lower_bound=0,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_integer(
        "remove_last_components",
        0,
        "leave out so many components at the end",
        lower_bound=0,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_float(
        "dropout_rate",
        None,
        "the share of numbers to drop, for all <Dropout> components",
        flag_values=flag_values,
    )


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Copies."""
    common.check_args(args, 2, 2, "give IN and OUT")

    from seqzoo.zoo.checkpoints import nnet1, nnet_edit

    nnet = nnet1.read(common.nnet_file(args[0]))
    nnet = nnet_edit.remove_first_components(nnet, flags.remove_first_components)
    nnet = nnet_edit.remove_last_components(nnet, flags.remove_last_components)
    if flags.dropout_rate is not None:
        nnet = nnet_edit.set_dropout_rate(nnet, flags.dropout_rate)
    nnet1.write(args[1], nnet, binary=flags.binary)
