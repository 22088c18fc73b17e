"""The flags of `seqzoo train` for going on from a trained network."""

import os

import absl.flags

from seqzoo.datasets.errors import InputError

_OF_NEW_NETWORKS = ("hid_layers", "hid_dim", "bn_dim", "proto_opts", "cnn_proto_opts")
_OF_ANY_NETWORK = (
    "seed",
    "kaldi_draws",
    "pdfs",
    "feature_dim",
    "offsets",
    "delta_order",
    "languages",
    "block_dims",
    "task_weights",
)
"""Settings that say something of a trained network too, or of what is around it."""

_OF_NEW_TRANSFORMS = ("splice", "target_delay", "feat_type", "transf", "feats_std")


def define(flag_values: absl.flags.FlagValues) -> None:
    """Defines them."""

    def text(name: str, meaning: str) -> None:
        absl.flags.DEFINE_string(name, None, meaning, flag_values=flag_values)

    text(
        "init",
        "go on from this run folder or nnet1 file. Of a run its feature transform is "
        "taken, its cmvn_opts and delta_opts, unless others are given",
    )
    text(
        "freeze",
        "components that do not learn: numbers from 1, as 1:4,7, markers, as "
        "LstmProjected, names of layers, as net_3_affinetransform, or all. A new "
        "output layer learns",
    )
    absl.flags.DEFINE_integer(
        "replace_output",
        None,
        "outputs of a new last affine layer, for other targets",
        lower_bound=1,
        flag_values=flag_values,
    )
    text(
        "learn_rate_coefs",
        "learn rates of components relative to --learn_rate, WHERE=COEF or, with that "
        "of biases relative to weights, WHERE=COEF/BIAS, parted by spaces, as "
        "'1:4=0.1 7=1/0.1'; WHERE as in --freeze",
    )


def check(model: str, flags: absl.flags.FlagValues) -> None:
    """Raises InputError for flags that say nothing beside `--init`."""
    if flags.init is None:
        return
    if model == "acoustic/bottleneck":
        raise InputError(
            f"--init is one network, but {model} trains two; train acoustic/dnn with "
            "the feature transform of the first."
        )
    for name in _OF_NEW_NETWORKS:
        if not flags[name].using_default_value:
            raise InputError(
                f"--{name} is for a new network, but --init={flags.init} goes on from "
                "one; leave one of them out."
            )
    for setting in flags.set:
        if setting.partition("=")[0].strip() not in _OF_ANY_NETWORK:
            raise InputError(
                f"--set {setting} is for a new network, but --init={flags.init} goes "
                "on from one; leave one of them out."
            )
    taken = os.path.join(flags.init, "final.feature_transform")
    if flags.feature_transform is None and os.path.exists(taken):
        for name in _OF_NEW_TRANSFORMS:
            if not flags[name].using_default_value:
                raise InputError(
                    f"--{name} is for a new feature transform, but {taken} is taken; "
                    "leave it out, or give the network's file alone as --init."
                )
