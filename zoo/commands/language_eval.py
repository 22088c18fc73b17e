"""The part of `seqzoo eval` that is for language models."""

import contextlib
import logging
import math
import os
import time
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common, flag_scope

FLAGS = ("set", "batchsize", "bfloat16", "per_sentence")
"""Flags that only language models take."""

_SHARED = ("threads", *common.GENERAL_FLAGS)
_LOG = logging.getLogger(__name__)


def define(flag_values: absl.flags.FlagValues) -> None:
    """Defines `FLAGS`."""
    absl.flags.DEFINE_enum(
        "set",
        None,
        ["test", "valid", "train"],
        "of a language model's data; test by default, or valid where there is no test",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_integer(
        "batchsize",
        128,
        "sentences that a language model takes at a time; the result is the same",
        lower_bound=1,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "bfloat16",
        False,
        "compute a language model's softmax with products in bfloat16, which is faster",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_string(
        "per_sentence",
        None,
        "file to write, of a language model: number, words and log p of each sentence, "
        "with tabs between; - is standard output",
        flag_values=flag_values,
    )


def check_flags(path: str, language: bool, flags: absl.flags.FlagValues) -> None:
    """Raises InputError for a flag that is for the other kind of model.

    Args:
        path: of the model.
        language: whether it is a language model.
        flags: all flags of the command.
    """
    kinds = "an acoustic model", "a language model"
    for name in sorted(flag_scope.given(flags) - {*_SHARED}):
        if (name in FLAGS) != language:
            there = kinds[language] if language or os.path.exists(path) else "not there"
            raise InputError(
                f"--{name} is for {kinds[name in FLAGS]}, and {path} is {there}; leave "
                "the flag out, or give another model."
            )


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Evaluates."""
    common.check_args(args, 1, 2, "give RUN, or RUN and DATA")
    common.start_tensorflow(flags)
    from tqdm import tqdm

    from seqzoo.datasets import files
    from seqzoo.zoo.language import evaluate, evaluation_data, trained_model

    path, wanted = args[0], flags["set"].value
    data = evaluation_data.find(args[1], wanted) if args[1:] else None
    trained = trained_model.read(path)
    if data is None:
        data = evaluation_data.find_of_run(path, trained.about, wanted)
    sentences = data.sentences(trained.vocabulary, trained.characters, path)
    number, where = 1, flags.per_sentence
    quiet = True if flags.verbose < 0 else None  # None: where it is no terminal.
    began = time.monotonic()
    with (
        contextlib.nullcontext() if where is None else files.written(where) as table,
        tqdm(unit=" words", unit_scale=True, leave=False, disable=quiet) as bar,
    ):

        def each(words: Any, logs: Any) -> None:
            nonlocal number
            if table is not None:
                rows = zip(words.tolist(), logs.tolist(), strict=True)
                lines = (
                    f"{n}\t{count}\t{log:.9g}\n"
                    for n, (count, log) in enumerate(rows, number)
                )
                table.write("".join(lines).encode())
            number += len(words)
            bar.update(int(words.sum()))

        try:
            found = evaluate.evaluate(
                trained.model,
                sentences,
                None if trained.characters else trained.vocabulary.unknown,
                batch_size=flags.batchsize,
                dtype="bfloat16" if flags.bfloat16 else None,
                each=each,
            )
        except evaluate.NotFinite as error:
            raise InputError(f"{path}: {data.where}: {error}") from None
    seconds = time.monotonic() - began
    unit = "characters" if trained.characters else "words"
    _LOG.info("%.0f %s/s in %.1f s", found.words / seconds, unit, seconds)
    report = _report(found, unit, data, len(trained.vocabulary))
    if flags.per_sentence == "-":
        for line in report:
            _LOG.info("%s", line)
    else:
        print("\n".join(report))


def _report(found: Any, unit: str, data: Any, size: int) -> list[str]:
    where = f"{data.where}, {data.name} set" if data.name else data.where
    lines = {"sentences": f"{found.sentences}", unit: f"{found.words}"}
    if unit == "words":
        lines["unknown words"] = f"{found.unknown}"
    lines["-log p, mean"] = f"{found.nats:.6f} nats, {found.bits:.6f} bits"
    lines["perplexity"] = f"{found.perplexity:.6f}"
    if unit == "words":
        known = found.known_perplexity
        lines["without <UNK>"] = "none" if math.isnan(known) else f"{known:.6f}"
    return [
        f"{where}: full softmax over {size} {unit}",
        *(f"{name:14} {value}" for name, value in lines.items()),
    ]
