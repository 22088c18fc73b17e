"""Reads checkpoints of torch-rnn, the character language model (`cv/*.t7`)."""

import dataclasses
from typing import Any

from seqzoo.datasets import torch_file
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.torch_values import TorchObject, as_list
from seqzoo.zoo.checkpoints import torch_modules


@dataclasses.dataclass(eq=False, kw_only=True)
class TorchRnn:
    """A training of torch-rnn."""

    opt: dict[str, Any]
    """Its options, under the names of train.lua's flags."""

    tokens: list[str]
    """The characters: id 1 is the first."""

    iteration: int
    """Updates that were done."""

    train_losses: list[float]
    """For each update: nats per character."""

    valid_losses: list[float]
    """The same on the validation set, at each checkpoint."""

    layers: list[torch_modules.Layer]
    """The model: a lookup table, LSTMs, a linear layer."""


def read(path: str, allow_pipes: bool = True) -> TorchRnn:
    """The training that a file holds.

    Raises:
        InputError: if there is no such thing in it, or its model is none of LSTMs
            without batch normalisation.
    """
    value = torch_file.read(path, allow_pipes=allow_pipes)
    return parse(value, path)


def is_one(value: Any) -> bool:
    """Whether what `torch_file.read` gave is a checkpoint of torch-rnn."""
    model = value.get("model") if isinstance(value, dict) else None
    return isinstance(model, TorchObject) and model.class_name == "nn.LanguageModel"


def parse(value: Any, name: str) -> TorchRnn:
    """The training that `torch_file.read` gave; see `read`."""
    if not is_one(value):
        raise InputError(
            f"{name}: no checkpoint of torch-rnn, which is a table with a model of the "
            "class nn.LanguageModel."
        )
    model = value["model"]
    reader = torch_modules.ModuleReader(name)
    layers = reader.layers(model.get("net"), "model.net")
    wrong = torch_modules.language_model(layers)
    if wrong:
        raise InputError(f"{name}: model.net: {wrong}.")
    tokens = as_list(model.get("idx_to_token"))
    if tokens is None or not all(isinstance(token, str | bytes) for token in tokens):
        raise InputError(f"{name}: model.idx_to_token: no list of characters.")
    output = layers[-1]
    assert isinstance(output, torch_modules.Nce | torch_modules.Linear)
    if len(tokens) != output.bias.size:
        raise InputError(
            f"{name}: {len(tokens)} characters for a model of {output.bias.size}."
        )
    opt = value.get("opt")
    return TorchRnn(
        opt=opt if isinstance(opt, dict) else {},
        tokens=[
            token.decode("utf-8", "surrogateescape")
            if isinstance(token, bytes)
            else token
            for token in tokens
        ],
        iteration=int(reader.number(value, "i", "the checkpoint")),
        train_losses=as_list(value.get("train_loss_history")) or [],
        valid_losses=as_list(value.get("val_loss_history")) or [],
        layers=layers,
    )
