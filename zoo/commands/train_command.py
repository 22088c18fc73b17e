"""`seqzoo train`: trains a model into a run folder."""

import dataclasses
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import (
    command_line,
    common,
    fine_tune_flags,
    flag_scope,
    pretrain,
)
from seqzoo.zoo.commands.train_flags import NETWORK_TYPES, define

__all__ = ["USAGE", "define", "run", "settings"]

USAGE = """
seqzoo train MODEL [DATA_TRAIN DATA_DEV LANG ALI_TRAIN ALI_DEV EXP]

Trains MODEL (`seqzoo models` lists them) on features, as Kaldi's
steps/nnet/train.sh does, into the run folder EXP. The six directories are Kaldi's; an
ALI directory holds ali.*.gz and final.mdl, or ali.scp or ali.ark with one pdf a frame;
LANG is read by --skip_phoneset_check=false alone. Without directories, give tables:
--feats, --cv_feats, --labels, --num_tgt and --run_dir. Run the same command again to go
on after it was stopped.

DNNs are trained on shuffled frames, acoustic/lstm on pieces of utterances
(nnet-train-multistream) and acoustic/blstm on whole ones of like lengths
(nnet-train-multistream-perutt); --train_tool chooses another way. The flags keep the
names of train.sh, train_scheduler.sh and these tools; --learn-rate and --learn_rate are
the same. Language models have flags of their own: see
`seqzoo train language/lstm --help`.

--init goes on from a trained network, with other data, other targets
(--replace_output), or some of its components as they are (--freeze).
"""

_BUNDLES = ("train_tool", "train_tool_opts", "scheduler_opts")
"""Options that train.sh takes as one string for the tools it calls."""

_SETTINGS = ("languages", "bn_dim", "feat_type", "traps_dct_basis", "cnn_proto_opts")
"""Flags that are settings of some models, under the same name."""


def instead(words: Sequence[str]) -> str | None:
    """The module that trains language models, if it is to train one."""
    language = any(word.startswith("language/") for word in words)
    return "language_train" if language else None


def settings(words: Sequence[str]) -> list[str]:
    """The settings of the model that a command line names; none if it names none."""
    from seqzoo.zoo import registry

    model = next((word for word in words if word in registry.MODELS), None)
    return [name for name, *_ in registry.settings(model)] if model else []


_PROTO_OPTIONS = ("proto_options", "cnn_options")
"""Methods of settings that give the options of their prototypes' scripts."""


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Trains."""
    if args[:1] == [pretrain.MODEL]:
        pretrain.run(args, flags)
        return
    if args:
        pretrain.refuse(flags, args[0])
    if len(args) not in (1, 7):
        taken = "give MODEL, or MODEL DATA_TRAIN DATA_DEV LANG ALI_TRAIN ALI_DEV EXP"
        raise common.UsageError(f"{taken}; found {len(args)} words.")
    tool = _unbundle(flags)
    from seqzoo.zoo import registry
    from seqzoo.zoo.training import objective as objectives

    model = _model(args[0], flags)
    flag_scope.check_model(model, flags)
    fine_tune_flags.check(model, flags)
    overrides = _overrides(model, flags)
    config = registry.config(model, overrides)
    _set_defaults(config, tool, flags)
    objective = flags.objective_function or getattr(config, "objective", "xent")
    objectives.parse(objective)
    if len(args) == 7 and not flags.skip_phoneset_check:
        _check_phones(args[3], args[4:6])
    tf = common.start_tensorflow(flags)
    common.choose_training_device(tf, flags)
    from seqzoo.zoo.acoustic import train_tools
    from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
    from seqzoo.zoo.training import newbob

    rate = flags.learn_rate
    if rate is None:
        shuffled = not train_tools.is_sequential(flags.train_tool)
        rate = 1e-5 if shuffled and _has_tanh(config, flags) else 0.008
    state = registry.recipe(model).train(
        _run_dir(args, flags),
        common.command,
        overrides,
        _recipe(args, flags),
        FrameTrainOptions(
            objective=objective,
            statistics=flags.verbose > 0,
            progress_bar=sys.stderr.isatty() and flags.verbose >= 0,
            **_same(FrameTrainOptions, flags),
        ),
        newbob.NewbobOptions(learn_rate=rate, **_same(newbob.NewbobOptions, flags)),
        model,
    )
    print(f"{_run_dir(args, flags)}/final.nnet: loss {state.loss:g}, {state.best}")


def _has_tanh(config: Any, flags: absl.flags.FlagValues) -> bool:
    """Whether the network that is going to be trained has `<Tanh>` in it."""
    from seqzoo.zoo.acoustic import fine_tune
    from seqzoo.zoo.checkpoints import components, nnet1, nnet_proto

    if flags.init:
        nnet = fine_tune.network(flags.init)
    elif flags.mlp_init:
        nnet = nnet1.read(flags.mlp_init)
    elif flags.mlp_proto:
        lines = nnet_proto.parse(_text(flags.mlp_proto), flags.mlp_proto)
        return any(line.marker.lower() == "<tanh>" for line in lines)
    else:
        # Not of its prototype, which may need the dimension of the features.
        made: list[dict[str, Any]]
        made = [getattr(config, kind, dict)() for kind in _PROTO_OPTIONS]
        return any(options.get("activation_type") == "<Tanh>" for options in made)
    return any(isinstance(part, components.Tanh) for part in nnet.components)


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _check_phones(lang: str, ali_dirs: list[str]) -> None:
    first = os.path.join(lang, "phones.txt")
    phones = _text(first).split()
    for directory in ali_dirs:
        path = os.path.join(directory, "phones.txt")
        if _text(path).split() != phones:
            raise InputError(
                f"{path}: other phones than in {first}; the labels were made with "
                "another lang directory."
            )


def _same(kind: Any, flags: absl.flags.FlagValues) -> dict[str, Any]:
    """The fields of a dataclass that have a flag of the same name."""
    names = {field.name for field in dataclasses.fields(kind)} - {"learn_rate"}
    return {name: getattr(flags, name) for name in names if name in flags}


def _model(given: str, flags: absl.flags.FlagValues) -> str:
    """The model, which --network_type may name instead."""
    named = NETWORK_TYPES.get(flags.network_type, given)
    # Commands of train.sh are moved here by putting a model in front.
    if named != given and given != NETWORK_TYPES["dnn"]:
        raise InputError(
            f"--network_type={flags.network_type} is {named}, but {given} is to be "
            "trained; leave one of them out."
        )
    return named


def _set_defaults(config: Any, tool: str, flags: absl.flags.FlagValues) -> None:
    """Chooses the tool, and gives flags that were not given its and the model's."""
    from seqzoo.zoo.acoustic import train_tools

    training = getattr(config, "training", {})
    tool = tool or next(iter(training), train_tools.FRAMES)
    train_tools.check(tool)
    flag_scope.check_tool(tool, flag_scope.given(flags))
    flags["train_tool"].value = tool
    for name, value in {**train_tools.TOOLS[tool], **training.get(tool, {})}.items():
        if flags[name].using_default_value:
            flags[name].value = value


def _overrides(model: str, flags: absl.flags.FlagValues) -> list[str]:
    """The model's settings, from the flags with Kaldi's names and from --set."""
    from seqzoo.zoo import registry

    found = []
    if flags.splice is not None or flags.target_delay is not None:
        offsets = registry.config(model).offsets
        splice, delay = flags.splice, flags.target_delay or 0
        if splice is None:
            splice = (max(offsets) - min(offsets)) // 2
        found.append(f"offsets={delay - splice}:{delay + splice}")
    for flag, field in (("hid_layers", "hidden_layers"), ("hid_dim", "hidden_dim")):
        if flags[flag].value is not None:
            found.append(f"{field}={flags[flag].value}")
    fields = {name for name, *_ in registry.settings(model)}
    if flags.dbn and flags.hid_layers is None and "hidden_layers" in fields:
        found.append("hidden_layers=0")
    for name in _SETTINGS:
        if name in fields and not flags[name].using_default_value:
            found.append(f"{name}={flags[name].value}")
    proto_opts = flags.proto_opts
    if flags.bn_dim is not None and "bn_dim" not in fields:
        proto_opts = f"--bottleneck-dim={flags.bn_dim} {proto_opts}".strip()
    if proto_opts:
        found.append(f"proto_opts={proto_opts}")
    found.append(f"seed={flags.seed}")
    return [*found, *flags.set]


def _run_dir(args: list[str], flags: absl.flags.FlagValues) -> str:
    given = args[6] if len(args) == 7 else flags.run_dir
    if given is None:
        raise InputError("no run folder: give the six directories, or --run_dir.")
    return given


def _recipe(args: list[str], flags: absl.flags.FlagValues) -> Any:
    from seqzoo.zoo.acoustic.dnn_options import DnnRecipe, SetSource

    if len(args) == 7:
        if flags.feats or flags.cv_feats:
            raise InputError("--feats and --cv_feats stand instead of directories.")
        sources: list[Any] = args[1:3]
        ali: list[str | None] = [*args[4:6]]
    else:
        if not (flags.feats and flags.cv_feats):
            raise InputError(
                "no data: give DATA_TRAIN DATA_DEV LANG ALI_TRAIN ALI_DEV EXP, or "
                "--feats and --cv_feats."
            )
        ali = [None, None]
        sources = [
            SetSource(feats=flags.feats, cmvn=flags.cmvn, utt2spk=flags.utt2spk),
            SetSource(
                feats=flags.cv_feats, cmvn=flags.cv_cmvn, utt2spk=flags.cv_utt2spk
            ),
        ]
    return DnnRecipe(
        train=sources[0],
        held_out=sources[1],
        ali_train=ali[0],
        ali_held_out=ali[1],
        held_out_labels=flags.cv_labels,
        shuffle_seed=flags.seed,
        **_same(DnnRecipe, flags),
    )


def _unbundle(flags: absl.flags.FlagValues) -> str:
    """Takes the options inside --train_tool_opts and its like as flags of ours.

    Returns:
        The tool that --train_tool names; '' if none.
    """
    tool = ""
    for bundle in _BUNDLES:
        value = flags[bundle].value
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise InputError(f"--{bundle}={value}: {error}.") from None
        if bundle == "train_tool" and words and not words[0].startswith("-"):
            tool, *words = words
        left = command_line.parse(words, flags, "seqzoo train")
        if left:
            raise InputError(f"--{bundle}: {left[0]!r} is no option.")
    return tool
