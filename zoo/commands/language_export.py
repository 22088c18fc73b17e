"""The part of `seqzoo export` that is for language models."""

import logging

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common, flag_scope

_TAKEN = {"format", "version", "check", "threads", *common.GENERAL_FLAGS}
"""Flags that are for language models too."""


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Writes.

    Args:
        args: RUN, a run folder, preset:NAME or Torch's file, and DIR.
        flags: those of `seqzoo export`.
    """
    _check_flags(args[0], flags)
    common.start_tensorflow(flags)
    for name in ("tensorflow", "absl"):
        logging.getLogger(name).setLevel(logging.WARNING)
    from seqzoo.export import language_saved_model
    from seqzoo.zoo.language import trained_model

    trained = trained_model.read(args[0])
    folder = language_saved_model.export(
        trained.model,
        trained.vocabulary.words,
        args[1],
        characters=trained.characters,
        version=flags.version,
        check=flags.check,
        notes={"model": trained.name},
    )
    print(folder)


def _check_flags(path: str, flags: absl.flags.FlagValues) -> None:
    """Raises InputError for a flag that only acoustic models take."""
    others = sorted(flag_scope.given(flags) - _TAKEN)
    if flags.format != "saved_model":
        others.append(f"format={flags.format}")
    if others:
        raise InputError(
            f"--{others[0]} is for an acoustic model, and {path} is a language model; "
            "leave the flag out, or give another model."
        )
