"""`seqzoo info`: what networks are made of."""

import absl.flags

from seqzoo.zoo.commands import common

USAGE = """
seqzoo info FILE...

Prints what a network is made of and how its weights are spread, as nnet-info does.
FILE is a Kaldi nnet1 network, a feature transform, or the folder of a run, also of a
language model's, or preset:NAME; `-` is standard input. Of a Torch7 object file (.t7,
.th7) it prints the tree of tables, modules and tensors; nothing in it is run. Before
each of several files its name is printed.
"""


def define(flag_values: absl.flags.FlagValues) -> None:
    """Defines the command's flags."""
    absl.flags.DEFINE_integer(
        "depth",
        8,
        "of a Torch7 file, how many levels of tables and objects to print",
        lower_bound=0,
        flag_values=flag_values,
    )


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Prints."""
    common.check_args(args, 1, None, "give a network's file")

    from seqzoo.datasets import torch_file
    from seqzoo.zoo.checkpoints import nnet1, nnet_info, torch_tree
    from seqzoo.zoo.language import run_info
    from seqzoo.zoo.training import run_kind

    for path in args:
        if torch_file.is_one(path):
            text = torch_tree.tree(torch_file.read(path), flags.depth)
        elif run_kind.is_language(path):
            text = run_info.info(path)
        else:
            text = nnet_info.info(nnet1.read(common.nnet_file(path)))
        if len(args) > 1:
            print(f"{path}:")
        print(text, end="")
