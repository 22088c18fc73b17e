"""Reads the log of a training with its model, as Torch's `rnn` examples save it.

`noise-contrastive-estimate.lua` and `multigpu-nce-rnnlm.lua` write one table by
`torch.save`: options, vocabulary, losses and the model.
"""

import dataclasses
from typing import Any

from seqzoo.datasets import torch_file
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.torch_values import as_list
from seqzoo.zoo.checkpoints import torch_modules


@dataclasses.dataclass(eq=False, kw_only=True)
class Xplog:
    """A training of a language model."""

    opt: dict[str, Any]
    """Its options, under the names of the script's flags."""

    dataset: str
    """`GoogleBillionWords`."""

    words: list[str]
    """The vocabulary: word id 1 is the first. Bytes that are no UTF-8 stand as
    Python's surrogate escapes."""

    epoch: int
    """The epoch after which this was saved: the best one so far."""

    train_losses: list[float]
    """For each epoch: the NCE loss for a time step."""

    valid_losses: list[float]
    """The same on the validation set."""

    best_valid_loss: float
    """The least of these."""

    layers: list[torch_modules.Layer]
    """The model: a lookup table, LSTMs, the output layer."""


def read(path: str, allow_pipes: bool = True) -> Xplog:
    """The training that a file holds.

    Raises:
        InputError: if there is no such thing in it.
    """
    value = torch_file.read(path, allow_pipes=allow_pipes)
    return parse(value, path)


def is_one(value: Any) -> bool:
    """Whether what `torch_file.read` gave is such a log."""
    return isinstance(value, dict) and {"opt", "vocab", "model"} <= value.keys()


def parse(value: Any, name: str) -> Xplog:
    """The training that `torch_file.read` gave; see `read`."""
    if not is_one(value):
        raise InputError(
            f"{name}: {described(value)}, but the log of a training is a table with "
            "opt, vocab and model, as noise-contrastive-estimate.lua saves it."
        )
    reader = torch_modules.ModuleReader(name)
    layers = reader.layers(value["model"], "model")
    wrong = torch_modules.language_model(layers)
    if wrong:
        raise InputError(f"{name}: model: {wrong}.")
    words = _words(value["vocab"], name)
    output = layers[-1]
    assert isinstance(output, torch_modules.Nce | torch_modules.Linear)
    if len(words) != output.bias.size:
        raise InputError(
            f"{name}: a vocabulary of {len(words)} words for a model of "
            f"{output.bias.size}; it belongs to another model."
        )
    opt = value["opt"]
    return Xplog(
        opt=opt if isinstance(opt, dict) else {},
        dataset=str(value.get("dataset") or ""),
        words=words,
        epoch=int(reader.number(value, "epoch", "the log")) if "epoch" in value else 0,
        train_losses=_losses(value, "trainnceloss", name),
        valid_losses=_losses(value, "valnceloss", name),
        best_valid_loss=(
            reader.number(value, "minvalnceloss", "the log")
            if "minvalnceloss" in value
            else float("nan")
        ),
        layers=layers,
    )


def described(value: Any) -> str:
    """What a file holds, in words: for one that is no model."""
    if not isinstance(value, dict):
        return torch_modules.kind(value)
    keys = ", ".join(ascii(key)[:40] for key in list(value)[:8])
    return f"a table with {keys or 'nothing'}"


def _words(vocab: Any, name: str) -> list[str]:
    """The words by their ids, from a table of word -> id."""
    if not isinstance(vocab, dict) or not vocab:
        raise InputError(f"{name}: vocab: no table of words and their ids.")
    words: list[str] = [""] * len(vocab)
    seen = [False] * len(vocab)
    for word, place in vocab.items():
        if not isinstance(word, str | bytes):
            word = str(word)  # A number that Lua took for a key.
        if isinstance(word, bytes):
            word = word.decode("utf-8", "surrogateescape")
        fits = isinstance(place, float) and place.is_integer()
        if not fits or not 1 <= place <= len(words) or seen[int(place) - 1]:
            raise InputError(
                f"{name}: vocab: {word[:40]!r} has id {str(place)[:40]}, but the ids "
                f"of {len(words)} words are 1 to {len(words)}, each once."
            )
        words[int(place) - 1] = word
        seen[int(place) - 1] = True
    return words


def _losses(value: dict[Any, Any], field: str, name: str) -> list[float]:
    losses = as_list(value.get(field, {}))
    if losses is None or not all(isinstance(loss, float) for loss in losses):
        raise InputError(f"{name}: {field}: no list of numbers.")
    return losses
