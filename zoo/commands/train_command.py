"""`seqzoo train`: trains a model into a run folder."""

import dataclasses
import os
import shlex
import sys
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line, common

USAGE = """
seqzoo train MODEL [DATA_TRAIN DATA_DEV LANG ALI_TRAIN ALI_DEV EXP]

Trains MODEL (`seqzoo models` lists them) on frames of features, as Kaldi's
steps/nnet/train.sh does, into the run folder EXP. The six directories are Kaldi's; an
ALI directory holds ali.*.gz and final.mdl, or ali.scp or ali.ark with one pdf a frame;
LANG is read by --skip_phoneset_check=false alone. Without directories, give tables:
--feats, --cv_feats, --labels, --num_tgt and --run_dir. Run the same command again to go
on after it was stopped.

The flags keep the names of train.sh, train_scheduler.sh and nnet-train-frmshuff;
--learn-rate and --learn_rate are the same.
"""

_ALIASES = {"nnet_proto": "mlp_proto", "nnet_init": "mlp_init"}
"""What newer train.sh call a flag, and its name in the manual."""

_BUNDLES = ("train_tool", "train_tool_opts", "scheduler_opts")
"""Options that train.sh takes as one string for the tools it calls."""


def define(flag_values: absl.flags.FlagValues) -> None:
    """train.sh's and nnet-train-frmshuff's options, and a few of our own."""
    text, number, real, switch = (
        _definer(kind, flag_values)
        for kind in (
            absl.flags.DEFINE_string,
            absl.flags.DEFINE_integer,
            absl.flags.DEFINE_float,
            absl.flags.DEFINE_bool,
        )
    )
    absl.flags.DEFINE_multi_string(
        "set", [], "a setting of the model, field=value", flag_values=flag_values
    )
    text("run_dir", None, "the run folder, if it is not the sixth directory")
    # Data.
    text("feats", None, "features to train on, an rspecifier")
    text("cv_feats", None, "held-out features, an rspecifier")
    text("cmvn", None, "statistics for --feats by speaker, an rspecifier")
    text("cv_cmvn", None, "statistics for --cv_feats, an rspecifier")
    text("utt2spk", None, "speakers of --feats, an rspecifier")
    text("cv_utt2spk", None, "speakers of --cv_feats, an rspecifier")
    text("labels", None, "targets of both sets, an rspecifier; needs --num_tgt")
    text("cv_labels", None, "held-out targets, if they are not in --labels")
    number("num_tgt", None, "outputs of the network; from the alignments by default")
    text("frame_weights", None, "a weight for each frame, an rspecifier of vectors")
    text("utt_weights", None, "a weight for each utterance, an rspecifier")
    text("cmvn_opts", None, "normalise features by speaker: options of apply-cmvn")
    text("delta_opts", None, "add deltas: options of add-deltas")
    number("length_tolerance", 5, "frames by which features and targets may differ")
    number("max_frames", 360_000, "leave out longer utterances")
    switch("copy_feats", True, "read a shuffled local copy of the features")
    text("copy_feats_tmproot", None, "where the copy goes; the run folder by default")
    switch(
        "copy_feats_compress",
        None,
        "keep the copy with 8 bits a value, as train.sh does: so by default if "
        "directories are given, not if tables are. What is compressed already keeps "
        "its values",
    )
    # Feature transform and network.
    text("feature_transform", None, "use this nnet1 file as feature transform")
    absl.flags.DEFINE_enum(
        "feat_type",
        "plain",
        ["plain", "traps", "transf", "lda"],
        "the feature transform to make",
        flag_values=flag_values,
    )
    number("splice", None, "frames of context on each side; 5 by default")
    number("traps_dct_basis", 11, "feat_type traps: cosines for each dimension")
    text("transf", None, "feat_type transf: the matrix; ALI_TRAIN/final.mat by default")
    number("splice_after_transf", 5, "feat_type transf: context after it, in frames")
    number("lda_dim", 300, "feat_type lda: dimensions that stay")
    real("feats_std", 1.0, "standard deviation of the network's inputs")
    number("hid_layers", None, "hidden layers; 6 by default")
    number("hid_dim", None, "units in each; 2048 by default")
    number("bn_dim", None, "width of a linear bottleneck after the hidden layers")
    text("proto_opts", "", "options of make_nnet_proto.py, one string")
    text("mlp_proto", None, "use this prototype")
    text("mlp_init", None, "start from this nnet1 file")
    number("seed", 777, "of initial weights and of the order of utterances")
    # nnet-train-frmshuff.
    absl.flags.DEFINE_enum(
        "objective_function",
        "xent",
        ["xent", "mse"],
        "cross-entropy or mean square error",
        flag_values=flag_values,
    )
    real("learn_rate", None, "per frame; 0.008, or 0.00001 with tanh, by default")
    real("momentum", 0.0, "in [0, 1), not compensated by 1 - momentum")
    real("l1_penalty", 0.0, "L1 penalty on weights")
    real("l2_penalty", 0.0, "L2 penalty on weights")
    number("minibatch_size", 256, "frames in a minibatch", lower_bound=1)
    number(
        "randomizer_size",
        32_768,
        "frames in the buffer that is shuffled",
        lower_bound=1,
    )
    number("randomizer_seed", 777, "of the shuffles")
    switch("randomize", True, "shuffle frames")
    number("loss_report_frames", 1_800_000, "frames between two progress figures")
    switch("binary", True, "write networks in binary; text otherwise")
    # train_scheduler.sh.
    number("max_iters", 20, "epochs at most")
    number("min_iters", 0, "epochs at least, all accepted")
    number("keep_lr_iters", 0, "epochs at the start that keep the learning rate")
    real("start_halving_impr", 0.01, "relative improvement below which it falls")
    real("end_halving_impr", 0.001, "relative improvement below which training ends")
    real("halving_factor", 0.5, "what the learning rate is multiplied with")
    text("train_tool", "", "nnet-train-frmshuff with its options, one string")
    text("train_tool_opts", "", "options of nnet-train-frmshuff, one string")
    text("scheduler_opts", "", "options of train_scheduler.sh, one string")
    switch("skip_cuda_check", True, "false: stop where there is no GPU")
    switch(
        "skip_phoneset_check",
        True,
        "false: stop if LANG and the ALI directories have other phones.txt",
    )
    # Ours.
    switch("kaldi_tail", False, "leave out frames at the end that fill no minibatch")
    switch("bfloat16", False, "compute in bfloat16, with float32 weights")
    switch("profile", False, "write a TensorFlow profile of the first epoch's start")
    for alias, flag in _ALIASES.items():
        absl.flags.DEFINE_alias(alias, flag, flag_values=flag_values)
    common.define_use_gpu(flag_values, "optional")
    common.define_threads(flag_values)
    common.define_allow_pipes(flag_values)


def _definer(kind: Any, flag_values: absl.flags.FlagValues) -> Any:
    def define_one(name: str, default: Any, meaning: str, **limits: Any) -> None:
        kind(name, default, meaning, flag_values=flag_values, **limits)

    return define_one


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Trains."""
    if len(args) not in (1, 7):
        taken = "give MODEL, or MODEL DATA_TRAIN DATA_DEV LANG ALI_TRAIN ALI_DEV EXP"
        raise common.UsageError(f"{taken}; found {len(args)} words.")
    _unbundle(flags)
    from seqzoo.zoo import registry

    overrides = _overrides(flags)
    config = registry.config(args[0], overrides)
    if len(args) == 7 and not flags.skip_phoneset_check:
        _check_phones(args[3], args[4:6])
    tf = common.start_tensorflow(flags)
    common.choose_device(tf, flags.use_gpu)
    if not flags.skip_cuda_check and not tf.config.list_physical_devices("GPU"):
        raise InputError(
            "--skip_cuda_check=false: there is no GPU; leave the flag out to train on "
            "the CPU."
        )
    from seqzoo.zoo.acoustic import dnn_recipe, frame_training
    from seqzoo.zoo.training import newbob

    tanh = "<Tanh>" in config.proto()
    rate = flags.learn_rate
    if rate is None:
        rate = 1e-5 if tanh else 0.008
    state = dnn_recipe.train(
        _run_dir(args, flags),
        common.command,
        overrides,
        _recipe(args, flags),
        frame_training.FrameTrainOptions(
            objective=flags.objective_function,
            statistics=flags.verbose > 0,
            progress_bar=sys.stderr.isatty() and flags.verbose >= 0,
            **_same(frame_training.FrameTrainOptions, flags),
        ),
        newbob.NewbobOptions(learn_rate=rate, **_same(newbob.NewbobOptions, flags)),
    )
    print(f"{_run_dir(args, flags)}/final.nnet: loss {state.loss:g}, {state.best}")


def _check_phones(lang: str, ali_dirs: list[str]) -> None:
    first = os.path.join(lang, "phones.txt")
    with open(first, encoding="utf-8") as file:
        phones = file.read().split()
    for directory in ali_dirs:
        path = os.path.join(directory, "phones.txt")
        with open(path, encoding="utf-8") as file:
            if file.read().split() != phones:
                raise InputError(
                    f"{path}: other phones than in {first}; the labels were made with "
                    "another lang directory."
                )


def _same(kind: Any, flags: absl.flags.FlagValues) -> dict[str, Any]:
    """The fields of a dataclass that have a flag of the same name."""
    names = {field.name for field in dataclasses.fields(kind)} - {"learn_rate"}
    return {name: getattr(flags, name) for name in names if name in flags}


def _overrides(flags: absl.flags.FlagValues) -> list[str]:
    """The model's settings, from the flags with Kaldi's names and from --set."""
    found = []
    if flags.splice is not None:
        found.append(f"offsets={-flags.splice}:{flags.splice}")
    for flag, field in (("hid_layers", "hidden_layers"), ("hid_dim", "hidden_dim")):
        if flags[flag].value is not None:
            found.append(f"{field}={flags[flag].value}")
    proto_opts = flags.proto_opts
    if flags.bn_dim is not None:
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


def _unbundle(flags: absl.flags.FlagValues) -> None:
    """Takes the options inside --train_tool_opts and its like as flags of ours."""
    for bundle in _BUNDLES:
        value = flags[bundle].value
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise InputError(f"--{bundle}={value}: {error}.") from None
        if bundle == "train_tool" and words and not words[0].startswith("-"):
            if words[0] != "nnet-train-frmshuff":
                raise InputError(
                    f"--train_tool={words[0]}: nnet-train-frmshuff is taken."
                )
            words = words[1:]
        left = command_line.parse(words, flags, "seqzoo train")
        if left:
            raise InputError(f"--{bundle}: {left[0]!r} is no option.")
