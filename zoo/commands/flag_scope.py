"""Flags of `seqzoo train` that say nothing beside what else was given."""

import absl.flags

from seqzoo.datasets.errors import InputError

_OF_SETTINGS = {
    "languages": "languages",
    "cnn_proto_opts": "cnn_proto_opts",
    "hid_layers": "hidden_layers",
    "hid_dim": "hidden_dim",
    "bn_dim": "hidden_layers",
}
"""Flags that only models with such a setting take."""

_OF_TOOLS = {
    "minibatch_size": ("nnet-train-frmshuff",),
    "num_streams": ("nnet-train-multistream", "nnet-train-multistream-perutt"),
    "batch_size": ("nnet-train-multistream",),
}
"""Flags that only these tools take."""


def given(flags: absl.flags.FlagValues) -> set[str]:
    """The flags that were given."""
    return {name for name in flags if not flags[name].using_default_value}


def check_model(model: str, flags: absl.flags.FlagValues) -> None:
    """Raises InputError for a flag that sets nothing of this model."""
    from seqzoo.zoo import registry

    fields = {name for name, *_ in registry.settings(model)}
    for flag, field in _OF_SETTINGS.items():
        if field in fields or flag not in given(flags):
            continue
        others = [
            name
            for name in registry.MODELS
            if field in {one for one, *_ in registry.settings(name)}
        ]
        raise InputError(
            f"--{flag} is for {', '.join(others)}; {model} has no such flag, "
            f"`seqzoo models {model}` lists what --set takes."
        )
    if model == "acoustic/multilingual" and "num_tgt" in given(flags):
        raise InputError(
            f"--num_tgt is one number, but {model} has outputs of each language; give "
            "--set block_dims=N,N,..., or leave it out to take the alignments'."
        )


def check_tool(tool: str, chosen: set[str]) -> None:
    """Raises InputError for a flag that the training tool has no use for.

    Args:
        tool: its name.
        chosen: the flags that were given.
    """
    for flag, tools in _OF_TOOLS.items():
        if flag in chosen and tool not in tools:
            raise InputError(
                f"--{flag} is for {' and '.join(tools)}, but {tool} trains; leave it "
                "out, or give another --train_tool."
            )
