"""`seqzoo models`: which models there are, and what can be set of each."""

import textwrap

import absl.flags

from seqzoo.zoo import presets, registry
from seqzoo.zoo.commands import common

USAGE = """
seqzoo models [MODEL]

Without a name, lists the models. With one, lists that model's settings and their
defaults: `seqzoo train` takes others as --set field=value, several as 1,2,3 or -5:5.
"""


def define(flag_values: absl.flags.FlagValues) -> None:
    """There are no flags of its own."""


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Lists."""
    common.check_args(args, 0, 1, "give one model, or none")
    if not args:
        width = max(map(len, registry.MODELS))
        for name, entry in registry.MODELS.items():
            print(f"{name:{width}}  {entry.description}")
        print("\nrecipes, for train --preset:")
        width = max(map(len, presets.PRESETS))
        for name, preset in presets.PRESETS.items():
            print(f"{name:{width}}  {preset.model}: {preset.description}")
        return
    for name, default, meaning in registry.settings(args[0]):
        print(f"{name}={default}")
        if meaning:
            print(textwrap.indent(textwrap.fill(meaning, 76), "    "))
