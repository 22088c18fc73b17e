"""`seqzoo info`: what networks are made of."""

import absl.flags

from seqzoo.zoo.commands import common

USAGE = """
seqzoo info FILE...

Prints what a network is made of and how its weights are spread, as nnet-info does.
FILE is a Kaldi nnet1 network, a feature transform, or the folder of a run; `-` is
standard input. Before each of several the file's name is printed.
"""


def define(flag_values: absl.flags.FlagValues) -> None:
    """There are no flags of its own."""


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Prints."""
    common.check_args(args, 1, None, "give a network's file")

    from seqzoo.zoo.checkpoints import nnet1, nnet_info

    for path in args:
        text = nnet_info.info(nnet1.read(common.nnet_file(path)))
        if len(args) > 1:
            print(f"{path}:")
        print(text, end="")
