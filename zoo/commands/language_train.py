"""`seqzoo train language/...`: trains a language model, as Torch's scripts do."""

import dataclasses
import logging
import os
import socket
import sys
import tempfile
import time
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common
from seqzoo.zoo.commands.train_command import settings

__all__ = ["USAGE", "define", "run", "settings"]

USAGE = """
seqzoo train language/lstm|language/rnn [DATA [RUN_DIR]]

Trains a language model on DATA: a folder of the billion-word benchmark's shards, any
folder of text with train and valid (and test) in its files' names and one sentence of
words and blanks a line, a folder of Torch's .th7 files, or a cache made before. Without
DATA it is the King James Bible that comes with the package. All goes into the folder
RUN_DIR; without it, into a new one in --savepath. Run the same command again, with its
RUN_DIR or --id, to go on after it was stopped; with a greater --maxepoch or
--earlystop, also after it ended.

The flags are those of noise-contrastive-estimate.lua and multigpu-nce-rnnlm.lua; the
defaults of language/rnn are recurrent-language-model.lua's. --init goes on from a
trained model with other data; its vocabulary becomes that of the data, and rows are
kept by word.

A model of characters, with --tokens characters or --init of one, takes each set as one
text in UTF-8, cut into --batchsize columns, as torch-rnn does.
"""

_SETTINGS = (
    "hiddensize",
    "inputsize",
    "projsize",
    "dropout",
    "output",
    "k",
    "Z",
    "rownoise",
    "eps",
    "uniform",
    "seed",
)
"""Flags that are settings of the model, under the same name."""


def define(flag_values: absl.flags.FlagValues) -> None:
    """The scripts' options, and a few of our own."""

    def definer(kind: Any) -> Any:
        def define_one(name: str, default: Any, meaning: str, **limits: Any) -> None:
            kind(name, default, meaning, flag_values=flag_values, **limits)

        return define_one

    text, number = map(definer, (absl.flags.DEFINE_string, absl.flags.DEFINE_integer))
    real, switch = map(definer, (absl.flags.DEFINE_float, absl.flags.DEFINE_bool))
    # The run.
    text("preset", None, "settings and options of a recipe; `seqzoo models` lists them")
    absl.flags.DEFINE_multi_string(
        "set", [], "a setting of the model, field=value", flag_values=flag_values
    )
    text("run_dir", None, "the run folder, if it is not the last word")
    text("savepath", "exp", "where the run folder goes, if it is not given")
    text("id", None, "its name there; model, host and time by default")
    switch("dontsave", False, "keep nothing: train, print, and remove the run folder")
    text("init", None, "a run folder, preset:NAME or .t7 file to start from")
    absl.flags.DEFINE_enum(
        "vocabulary",
        None,
        ["data", "init"],
        "with --init: make the vocabulary of the data (default), or keep the model's",
        flag_values=flag_values,
    )
    text(
        "continue",
        None,
        "a run folder to go on in, with its settings and data; or a .t7 file, whose "
        "options, epochs and learning rate are gone on with in a new folder",
    )
    # Data.
    text("cache", None, "where word ids are kept, for several runs; RUN_DIR/data")
    switch("tiny", False, "train on Torch's train_tiny.th7")
    absl.flags.DEFINE_enum(
        "tokens",
        None,
        ["words", "characters"],
        "what a model is of: words by default, or those of the model of --init",
        flag_values=flag_values,
    )
    number(
        "min_count", None, "how often a word must come to be known; 3", lower_bound=1
    )
    number("processes", 1, "that read text at the same time", lower_bound=1)
    # Model.
    text("hiddensize", None, "widths of the recurrent layers: 250,250 or {250,250}")
    text("inputsize", None, "width of the word vectors; -1 is the first hiddensize")
    text("projsize", None, "cells of LSTMs with a projection; -1 has none")
    text("dropout", None, "share dropped behind word vectors and recurrent layers")
    text("output", None, "nce, sampled_softmax or full_softmax")
    text("k", None, "noise words for each target")
    text("Z", None, "constant of NCE; -1 estimates it in the first step")
    switch("rownoise", None, "draw noise for each row, not once a time step")
    text("eps", None, "of NCE: 0 is exact, 1e-7 rounds as Torch")
    text("uniform", None, "initial weights are within plus and minus this")
    text("seed", None, "of initial weights, noise and dropout")
    # Training. None takes the preset's or the model's own default.
    real("startlr", None, "learning rate of the first epoch; 0.05 by default")
    real("minlr", None, "learning rate at the end; 0.00001 by default")
    number("saturate", None, "epochs from startlr to minlr; 400 by default")
    text("schedule", None, "learning rates instead: {[5]=0.5,[8]=0.25}")
    real("momentum", None, "of all weights but the tables; 0.9 by default")
    absl.flags.DEFINE_enum(
        "tables",
        None,
        ["sgd", "momentum", "adagrad", "dense_momentum"],
        "rule for rows of words; sgd by default, dense_momentum is Torch's",
        flag_values=flag_values,
    )
    real("cutoff", None, "largest norm of all gradients; -1 by default: none")
    real("maxnormout", None, "largest norm of a row; -1 by default: none")
    number("maxepoch", None, "epochs at most; 1000 by default")
    number("earlystop", None, "epochs without a new best one; 50 by default")
    text("batchsize", None, "sentences side by side, 128, or 128,1,1 for each set")
    number("seqlen", None, "time steps of truncated back-propagation; 50 by default")
    number(
        "trainsize",
        None,
        "time steps of an epoch; -1 is a pass over the set; by default 400000, but no "
        "more than a pass",
    )
    number("validsize", None, "the same of a validation; 40000")
    number("valid_perplexity", None, "each so many epochs find the true perplexity too")
    switch("bfloat16", None, "compute in bfloat16, with float32 weights")
    # The machine.
    switch("cuda", False, "compute on a GPU, and stop if there is none")
    number("device", 1, "with --cuda: which one, from 1", lower_bound=1)
    switch("progress", None, "show progress bars; by default on a terminal")
    switch("silent", False, "log warnings only")
    switch("profile", False, "write a TensorFlow profile of the first steps")
    common.define_threads(flag_values)


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Trains."""
    common.check_args(args, 1, 3, "give a model, DATA and RUN_DIR")
    from seqzoo.zoo import registry

    name = args[0]
    before = _gone_on_with(name, flags)
    preset = _preset(name, flags.preset)
    overrides = [*before.get("settings", []), *preset.get("settings", [])]
    if flags.tokens == "characters" and not (flags.init or before):
        # They are few, so none has to be drawn.
        overrides.insert(0, "output=full_softmax")
    overrides += [*_overrides(flags), *flags.set]
    config = registry.config(name, overrides)
    _check_output(config, flags)
    own = dict(getattr(type(config), "training", {}))
    values = {**own, **before.get("training", {}), **preset.get("training", {})}
    values = {**values, **_given(flags)}
    if flags.silent:
        for handler in logging.getLogger("seqzoo").handlers:
            handler.setLevel(logging.WARNING)  # `log/train.log` still tells all.
    tf = common.start_tensorflow(flags)
    _choose_device(tf, flags)
    from seqzoo.zoo.language import recipe
    from seqzoo.zoo.language.train_options import LanguageTrainOptions

    try:
        options = LanguageTrainOptions(**values)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    given = {
        "source": args[1] if len(args) > 1 else None,
        "cache": flags.cache,
        "subset": "tiny" if flags.tiny else None,
        "min_count": flags.min_count,
        "tokens": flags.tokens,
        "processes": flags.processes,
    }
    given = {name: value for name, value in given.items() if value is not None}
    data = recipe.Data(**{**before.get("data", {}), **given})
    start = _start(flags)
    if before.get("start"):
        start = recipe.Start(**before["start"])
    path = _run_dir(name, args, flags)
    with tempfile.TemporaryDirectory() as scratch:
        if flags.dontsave:
            path = os.path.join(scratch, os.path.basename(path))
        found = recipe.train(
            path,
            common.command,
            name,
            overrides,
            options,
            data,
            start,
            progress_bar=_shows_bars(flags),
            profile=flags.profile,
        )
    print(
        f"{path}: {found.epoch} epochs ({found.finished}); the best is "
        f"{found.best_epoch}, validation error {found.best_error:.6g}"
    )


def _preset(model: str, name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    from seqzoo.zoo import presets

    found = presets.preset(model, name)
    return {"settings": found.settings, "training": found.training}


def _gone_on_with(name: str, flags: absl.flags.FlagValues) -> dict[str, Any]:
    """What a run that is gone on with was made from; nothing for a new one."""
    path = flags["continue"].value
    if path is None:
        return {}
    if flags.init:
        raise InputError("--init and --continue name two models; give one.")
    if path.endswith(".t7"):
        return {"training": _options_of_torch(path)}
    if flags.dontsave:
        raise InputError(
            "--continue goes on in a run folder, and --dontsave keeps none; give one."
        )
    if not os.path.exists(path):
        raise InputError(f"--continue={path}: there is no such run folder.")
    from seqzoo.zoo.language import run_files

    about = run_files.read_json(path, run_files.CONFIG)
    if about.get("model") != name:
        raise InputError(
            f"--continue={path}: holds {about.get('model')}, not {name}; name that "
            "model."
        )
    if "training" not in about or "imported" in about:
        raise InputError(
            f"--continue={path}: was not trained here; give --init={path}, and a new "
            "run folder."
        )
    training, data = about["training"], about.get("data") or {}
    cache = data.get("cache")
    if cache is not None and not os.path.isabs(cache):
        cache = os.path.join(path, cache)
    return {
        "settings": [
            f"{field}={_text(value)}"
            for field, value in about["settings"].items()
            if field != "words"
        ],
        "training": {**training, "batchsize": tuple(training["batchsize"])},
        "data": {
            "source": None if data.get("source") == "kjv" else data.get("source"),
            "cache": cache,
            **{field: data.get(field) for field in ("subset", "min_count")},
            "tokens": about.get("tokens"),
        },
        "start": about.get("start"),
    }


def _options_of_torch(path: str) -> dict[str, Any]:
    """The options that a file of Torch was trained with."""
    from seqzoo.datasets import torch_file
    from seqzoo.zoo.checkpoints import torch_rnn, xplog
    from seqzoo.zoo.language import torch_options

    value = torch_file.read(path)
    if torch_rnn.is_one(value):
        raise InputError(
            f"--continue={path}: torch-rnn counts updates and keeps no epochs to go on "
            f"from; give --init={path}, and --startlr."
        )
    found = torch_options.of_script(xplog.parse(value, path).opt)
    del found["tables"]  # Tables move by rows, as in any other training here.
    return {**found, "batchsize": tuple(found["batchsize"])}


def _text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _check_output(config: Any, flags: absl.flags.FlagValues) -> None:
    """Raises InputError for a flag that this way to train the output has no use for."""
    idle = {
        "full_softmax": ("k", "rownoise", "Z", "eps"),
        "sampled_softmax": ("Z", "eps"),
    }
    for name in idle.get(config.output, ()):
        if flags[name].value is not None:
            raise InputError(
                f"--{name} says nothing where the output is {config.output}; leave it "
                "out, or give --output nce."
            )


def _overrides(flags: absl.flags.FlagValues) -> list[str]:
    return [
        f"{name}={flags[name].value}"
        for name in _SETTINGS
        if flags[name].value is not None
    ]


def _given(flags: absl.flags.FlagValues) -> dict[str, Any]:
    """The options of training that were given."""
    from seqzoo.zoo.language.train_options import LanguageTrainOptions

    names = {field.name for field in dataclasses.fields(LanguageTrainOptions)}
    found = {
        name: getattr(flags, name)
        for name in sorted(names & set(flags))
        if getattr(flags, name) is not None
    }
    if "batchsize" in found:
        text = flags.batchsize.strip("{} ")
        try:
            found["batchsize"] = tuple(map(int, text.split(",")))
        except ValueError:
            raise InputError(
                f"--batchsize={flags.batchsize}: a whole number, or three with commas "
                "between, are taken."
            ) from None
    return found


def _start(flags: absl.flags.FlagValues) -> Any:
    from seqzoo.zoo.language.recipe import Start

    going_on = flags["continue"].value
    if going_on is not None and going_on.endswith(".t7"):
        return Start(
            init=going_on, vocabulary=flags.vocabulary or "data", going_on=True
        )
    if flags.init is None:
        if flags.vocabulary is not None:
            raise InputError("--vocabulary is for --init; leave it out.")
        return None
    return Start(init=flags.init, vocabulary=flags.vocabulary or "data")


def _run_dir(name: str, args: list[str], flags: absl.flags.FlagValues) -> str:
    going_on = flags["continue"].value
    given = {
        "RUN_DIR": args[2] if len(args) > 2 else None,
        "--run_dir": flags.run_dir,
        "--continue": None if (going_on or "").endswith(".t7") else going_on,
    }
    named = {way: path for way, path in given.items() if path}
    if len(named) > 1:
        raise InputError(f"{' and '.join(named)} name two run folders; give one.")
    if named:
        [(way, path)] = named.items()
        for flag in ("savepath", "id"):
            if not flags[flag].using_default_value:
                raise InputError(
                    f"--{flag} makes the name of a run folder, and {way} is one; leave "
                    "one of them out."
                )
        return path
    own = f"{name.replace('/', '_')}:{socket.gethostname()}:{int(time.time())}"
    return os.path.join(flags.savepath, flags.id or own)


def _shows_bars(flags: absl.flags.FlagValues) -> bool:
    if flags.progress is not None:
        return flags.progress
    return sys.stderr.isatty() and flags.verbose >= 0 and not flags.silent


def _choose_device(tf: Any, flags: absl.flags.FlagValues) -> None:
    gpus = tf.config.list_physical_devices("GPU")
    if not flags.cuda:
        if not flags["device"].using_default_value:
            raise InputError("--device is for --cuda; give both, or neither.")
        return
    if flags.device > len(gpus):
        raise InputError(
            f"--cuda --device={flags.device}: there are {len(gpus)} GPUs; leave --cuda "
            "out to use the CPU."
        )
    tf.config.set_visible_devices(gpus[flags.device - 1], "GPU")
