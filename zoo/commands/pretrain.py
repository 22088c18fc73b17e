"""`seqzoo train acoustic/dbn`: what pretrain_dbn.sh takes."""

import dataclasses
import shlex
import sys
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line, common

MODEL = "acoustic/dbn"

_OWN = (
    "nn_depth",
    "input_vis_type",
    "param_stddev_first",
    "param_stddev",
    "rbm_iter",
    "hours",
    "rbm_lrate",
    "rbm_lrate_low",
    "rbm_l2penalty",
    "rbm_extra_opts",
    "momentum_max",
    "momentum_steps",
    "momentum_step_period",
    "with_bug",
)
"""Flags that only this model has."""

_SHARED = (
    "set",
    "run_dir",
    "feats",
    "cmvn",
    "utt2spk",
    "cmvn_opts",
    "delta_opts",
    "max_frames",
    "copy_feats",
    "copy_feats_tmproot",
    "copy_feats_compress",
    "feature_transform",
    "feat_type",
    "splice",
    "traps_dct_basis",
    "transf",
    "splice_after_transf",
    "feats_std",
    "hid_dim",
    "seed",
    "momentum",
    "l2_penalty",
    "minibatch_size",
    "randomizer_size",
    "randomizer_seed",
    "loss_report_frames",
    "binary",
    "bfloat16",
    "skip_cuda_check",
    "use_gpu",
    "threads",
    "allow_pipes",
)
"""Flags of `train` that it takes too."""


def define(flag_values: absl.flags.FlagValues) -> None:
    """Defines the flags that are its own."""

    def told(kind: Any, name: str, default: Any, meaning: str, **limits: Any) -> None:
        kind(name, default, f"{MODEL}: {meaning}", flag_values=flag_values, **limits)

    text, number = absl.flags.DEFINE_string, absl.flags.DEFINE_integer
    real, switch = absl.flags.DEFINE_float, absl.flags.DEFINE_bool
    told(number, "nn_depth", None, "RBMs, one on the other; 6 by default")
    told(text, "input_vis_type", None, "first visible units, gauss (default) or bern")
    told(real, "param_stddev_first", None, "deviation of the first RBM's weights; 0.1")
    told(real, "param_stddev", None, "the same for the others; 0.1 by default")
    told(number, "rbm_iter", 1, "passes for each RBM, twice as many for gauss inputs")
    told(real, "hours", None, "hours of data: passes are rbm_iter times 100 / hours")
    told(real, "rbm_lrate", 0.4, "learning rate of RBMs of bern inputs")
    told(real, "rbm_lrate_low", 0.01, "learning rate of RBMs of gauss inputs")
    told(real, "rbm_l2penalty", 0.0002, "weight decay")
    told(text, "rbm_extra_opts", "", "options of rbm-train-cd1-frmshuff, one string")
    told(real, "momentum_max", 0.9, "momentum at the end; at the start --momentum, 0.5")
    told(number, "momentum_steps", 40, "steps between the two", lower_bound=1)
    told(number, "momentum_step_period", 500_000, "frames a step", lower_bound=1)
    told(switch, "with_bug", True, "momentum leaps to its end at once, as in Kaldi")


def refuse(flags: absl.flags.FlagValues, model: str) -> None:
    """Raises InputError for a flag of this model that is given to another."""
    for name in _OWN:
        if not flags[name].using_default_value:
            raise InputError(f"--{name} is for {MODEL}; {model} has no such flag.")


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Pre-trains: `acoustic/dbn [DATA EXP]`."""
    if len(args) not in (1, 3):
        raise common.UsageError(
            f"give {MODEL}, or {MODEL} DATA EXP; found {len(args)} words."
        )
    _unbundle(flags)
    taken = (*_OWN, *_SHARED, *common.GENERAL_FLAGS)
    for name in flags:
        if not flags[name].using_default_value and name not in taken:
            raise InputError(
                f"--{name} is not for {MODEL}, which learns from features alone."
            )
    from seqzoo.zoo import registry

    overrides = _overrides(flags)
    registry.config(MODEL, overrides)
    recipe = _recipe(args, flags)
    tf = common.start_tensorflow(flags)
    common.choose_training_device(tf, flags)
    from seqzoo.zoo.acoustic import dbn_recipe

    path = _run_dir(args, flags)
    rows = dbn_recipe.train(
        path,
        common.command,
        overrides,
        recipe,
        _options(flags),
        progress_bar=sys.stderr.isatty() and flags.verbose >= 0,
    )
    losses = ", ".join(f"{row.loss:g}" for row in rows)
    print(f"{path}/final.dbn: {len(rows)} RBMs, reconstruction error {losses}")


def _given(flags: absl.flags.FlagValues, name: str, default: Any) -> Any:
    """A flag that has another default here."""
    return default if flags[name].using_default_value else flags[name].value


def _overrides(flags: absl.flags.FlagValues) -> list[str]:
    found = []
    if flags.splice is not None:
        found.append(f"offsets={-flags.splice}:{flags.splice}")
    for name in (
        "nn_depth",
        "hid_dim",
        "input_vis_type",
        "param_stddev_first",
        "param_stddev",
    ):
        if flags[name].value is not None:
            found.append(f"{name}={flags[name].value}")
    return [*found, f"seed={flags.seed}", *flags.set]


def _run_dir(args: list[str], flags: absl.flags.FlagValues) -> str:
    given = args[2] if len(args) == 3 else flags.run_dir
    if given is None:
        raise InputError("no run folder: give DATA EXP, or --run_dir.")
    return given


def _recipe(args: list[str], flags: absl.flags.FlagValues) -> Any:
    from seqzoo.zoo.acoustic.dbn_options import DbnRecipe
    from seqzoo.zoo.acoustic.dnn_options import SetSource

    if len(args) == 3 and flags.feats:
        raise InputError("--feats stands instead of a data directory.")
    if len(args) == 1 and not flags.feats:
        raise InputError("no data: give DATA EXP, or --feats and --run_dir.")
    source: Any = args[1] if len(args) == 3 else None
    if source is None:
        source = SetSource(feats=flags.feats, cmvn=flags.cmvn, utt2spk=flags.utt2spk)
    names = {field.name for field in dataclasses.fields(DbnRecipe)}
    same: dict[str, Any] = {n: flags[n].value for n in names if n in flags}
    same["max_frames"] = _given(flags, "max_frames", 6000)
    return DbnRecipe(train=source, shuffle_seed=flags.seed, **same)


def _options(flags: absl.flags.FlagValues) -> Any:
    from seqzoo.zoo.training.rbm_ramp import RbmRamp
    from seqzoo.zoo.training.rbm_trainer import RbmTrainOptions

    ramp = RbmRamp(
        momentum=_given(flags, "momentum", 0.5),
        momentum_max=flags.momentum_max,
        momentum_steps=flags.momentum_steps,
        momentum_step_period=flags.momentum_step_period,
        with_bug=flags.with_bug,
    )
    return RbmTrainOptions(
        ramp=ramp,
        l2_penalty=_given(flags, "l2_penalty", flags.rbm_l2penalty),
        minibatch_size=_given(flags, "minibatch_size", 100),
        loss_report_frames=flags.loss_report_frames,
        seed=flags.randomizer_seed,
        bfloat16=flags.bfloat16,
    )


def _unbundle(flags: absl.flags.FlagValues) -> None:
    """Takes the options inside --rbm_extra_opts as flags of ours."""
    value = flags.rbm_extra_opts
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise InputError(f"--rbm_extra_opts={value}: {error}.") from None
    left = command_line.parse(words, flags, "seqzoo train")
    if left:
        raise InputError(f"--rbm_extra_opts: {left[0]!r} is no option.")
