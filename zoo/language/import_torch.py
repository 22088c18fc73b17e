"""Language models that Torch saved: as models of ours, and as run folders."""

import dataclasses
import os
import shutil
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from seqzoo.datasets import torch_file
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo import registry
from seqzoo.zoo.checkpoints import torch_rnn, xplog
from seqzoo.zoo.checkpoints.torch_modules import Layer, Nce
from seqzoo.zoo.checkpoints.torch_rnn import TorchRnn
from seqzoo.zoo.checkpoints.xplog import Xplog
from seqzoo.zoo.language import (
    torch_check,
    torch_counts,
    torch_options,
    torch_weights,
    trained_model,
)
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.language.language_row import LanguageRow
from seqzoo.zoo.language.torch_check import CheckReport
from seqzoo.zoo.language.trained_model import TrainedLanguageModel
from seqzoo.zoo.training.run_folder import RunFolder


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Saved:
    """What is taken of a file, whichever script wrote it."""

    layers: Sequence[Layer]
    opt: dict[str, Any]
    vocabulary: Vocabulary
    rows: list[LanguageRow]

    about: dict[str, Any]
    """For `config.json`."""


def read(path: str, noise: bool = False) -> TrainedLanguageModel:
    """The model of a file that `torch.save` wrote.

    Args:
        path: of the log of noise-contrastive-estimate.lua or multigpu-nce-rnnlm.lua,
            or of a checkpoint of torch-rnn.
        noise: whether the tables are made that training draws from.

    Raises:
        InputError: if there is no such thing in it, or it is no model that is built
            here.
    """
    return _trained(_saved(path), path, noise)


def write(path: str, directory: str, command: Sequence[str]) -> str:
    """Makes a run folder of a file, which appears only when all is written and checked.

    It holds what `trained_model.read` reads, `history.csv`, `command.txt` and
    `log/import.log`. The model that is read from it must give words the probabilities
    that Torch's layers give them in NumPy.

    Args:
        path: as of `read`.
        directory: local; not there yet, or empty.
        command: the words of the command, for the logs.

    Returns:
        What was imported and checked, in a line.

    Raises:
        InputError: it cannot be read or written, or the check fails.
    """
    saved = _saved(path)
    directory = directory.rstrip("/") or directory
    _check_new(directory)
    temporary = f"{directory}.{uuid.uuid4().hex[:8]}.part"
    try:
        folder = RunFolder(temporary, command, ("log",))
        trained = _trained(saved, path, noise=False)
        trained_model.write(
            temporary,
            trained.name,
            trained.config,
            trained.model,
            trained.vocabulary,
            saved.about,
        )
        del trained  # A model of a billion words' text takes gigabytes.
        if saved.rows:
            folder.write_history(saved.rows)
        again = trained_model.read(temporary)
        _same_vocabulary(again.vocabulary, saved.vocabulary)
        report = torch_check.check(again.model, saved.layers)
        told = _sentence(again, report)
        with folder.log("import.log") as log:
            log.write(told)
        _check_new(directory)
        os.rename(temporary, directory)
    except OSError as error:
        raise InputError(f"{directory}: cannot write it: {error.strerror}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return told


def _sentence(model: TrainedLanguageModel, report: CheckReport) -> str:
    unit = "characters" if model.characters else "words"
    return (
        f"{model.name}, {len(model.vocabulary):,} {unit}, "
        f"{model.model.parameters:,} parameters; log-probabilities as Torch's model "
        f"gives them, within {report.difference:.1e} in {report.words} {unit}"
    )


def _saved(path: str) -> _Saved:
    value = torch_file.read(path)
    if torch_rnn.is_one(value):
        return _of_torch_rnn(torch_rnn.parse(value, path), path)
    if not xplog.is_one(value):
        raise InputError(
            f"{path}: {xplog.described(value)}; the log of a training, a table with "
            "opt, vocab and model as noise-contrastive-estimate.lua saves it, or a "
            "checkpoint of torch-rnn is taken."
        )
    return _of_xplog(xplog.parse(value, path), path)


def _of_xplog(log: Xplog, path: str) -> _Saved:
    output = log.layers[-1]
    counts = np.ones(len(log.words), np.int64)
    if isinstance(output, Nce):
        counts = torch_counts.whole_counts(output.unigrams, path)
    best = log.best_valid_loss
    losses = zip(log.train_losses, log.valid_losses, strict=False)
    about = {
        "training": torch_options.of_script(log.opt),
        "data": {"source": log.dataset},
        "tokens": "words",
        "epoch": log.epoch,
        "best_valid_error": None if np.isnan(best) else best,
        **_origin(path, "rnn", log.opt),
    }
    return _Saved(
        layers=log.layers,
        opt=log.opt,
        vocabulary=Vocabulary(log.words, counts).checked(f"{path}: vocab"),
        rows=_rows(losses),
        about=about,
    )


def _of_torch_rnn(found: TorchRnn, path: str) -> _Saved:
    if "" in found.tokens:
        raise InputError(f"{path}: model.idx_to_token: a character that is empty.")
    vocabulary = Vocabulary(found.tokens, np.ones(len(found.tokens), np.int64))
    opt = torch_options.plain(found.opt)
    # A row of the history is a checkpoint: so many updates.
    valid = found.valid_losses
    updates = opt.get("checkpoint_every")
    if not isinstance(updates, int) or updates < 1:
        updates = max(1, len(found.train_losses) // max(1, len(valid)))
    train = [
        float(np.mean(found.train_losses[n * updates : (n + 1) * updates] or [np.nan]))
        for n in range(len(valid))
    ]
    about = {
        "training": torch_options.of_torch_rnn(found.opt),
        "data": {"source": opt.get("input_h5", "")},
        "tokens": "characters",
        "iteration": found.iteration,
        **_origin(path, "torch-rnn", found.opt),
    }
    return _Saved(
        layers=found.layers,
        opt=found.opt,
        vocabulary=vocabulary.checked(f"{path}: idx_to_token", characters=True),
        rows=_rows(zip(train, valid, strict=True)),
        about=about,
    )


def _origin(path: str, kind: str, opt: dict[str, Any]) -> dict[str, Any]:
    return {
        "imported": {"from": "torch", "kind": kind, "file": os.path.abspath(path)},
        "opt": torch_options.plain(opt),
    }


def _rows(losses: Iterable[tuple[float, float]]) -> list[LanguageRow]:
    rows: list[LanguageRow] = []
    least = np.inf
    for epoch, (train, valid) in enumerate(losses, 1):
        rows.append(
            LanguageRow(
                epoch=epoch,
                learn_rate=None,
                train_error=train,
                valid_error=valid,
                valid_perplexity=None,
                best=valid < least,
                words=None,
                seconds=None,
                words_per_second=None,
                gradient_norm=None,
            )
        )
        least = min(least, valid)
    return rows


def _trained(saved: _Saved, path: str, noise: bool) -> TrainedLanguageModel:
    try:
        name, config = torch_weights.config(saved.layers, saved.opt)
    except (InputError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None
    model = registry.build(name, config)
    assert isinstance(model, LanguageModel)
    torch_weights.set_weights(model, saved.layers)
    if noise:
        model.set_counts(saved.vocabulary.counts)
    about = {"model": name, "settings": dataclasses.asdict(config), **saved.about}
    return TrainedLanguageModel(
        path=path,
        name=name,
        config=config,
        model=model,
        vocabulary=saved.vocabulary,
        about=about,
        weights="",
    )


def _same_vocabulary(found: Vocabulary, wanted: Vocabulary) -> None:
    same = found.words == wanted.words
    if not same or not np.array_equal(found.counts, wanted.counts):
        raise InputError("self-check: the vocabulary is read as another one.")


def _check_new(directory: str) -> None:
    there = os.path.exists(directory)
    if there and not (os.path.isdir(directory) and not os.listdir(directory)):
        raise InputError(f"{directory}: is there already; give a new folder.")
