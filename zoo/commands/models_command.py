"""`seqzoo models`: which models there are, and what can be set of each."""

import textwrap

import absl.flags

from seqzoo.zoo import presets, registry
from seqzoo.zoo.commands import common
from seqzoo.zoo.language import run_files

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
        if trained := run_files.presets():
            print("\ntrained models that come along:")
            for name in trained:
                print(f"preset:{name}  {_card(name)}")
        return
    for name, default, meaning in registry.settings(args[0]):
        print(f"{name}={default}")
        if meaning:
            print(textwrap.indent(textwrap.fill(meaning, 76), "    "))


def _card(name: str) -> str:
    """What a trained model's `config.json` tells of itself."""
    folder = run_files.folder(f"{run_files.PRESET}{name}")
    about = run_files.read_json(folder, run_files.CONFIG)
    return f"{about['model']}: {about['description']}"
