"""Learning curves of several trainings: one picture, or one table."""

import csv
import dataclasses
import io
import itertools
import json
import math
import os
from collections.abc import Sequence

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.language import run_files
from seqzoo.zoo.training import run_kind

HISTORY = "history.csv"

_ACOUSTIC = "loss per frame"
# The columns of `history.csv` that are used, of language models and of acoustic ones.
_COLUMNS = {
    "epoch": ("epoch", "iteration"),
    "learn_rate": ("learn_rate", "learn_rate"),
    "train": ("train_error", "train_loss"),
    "valid": ("valid_error", "cv_loss"),
    "best": ("best", "accepted"),
}
_PERPLEXITY = "valid_perplexity"
_NEEDED = ("epoch", "train", "valid")
_ERRORS = {
    "nce": "NCE error a time step",
    "sampled_softmax": "sampled softmax error a time step",
    "full_softmax": "cross-entropy a time step, nats",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curves:
    """One training, epoch by epoch; what is not known of an epoch is NaN."""

    name: str
    """Of the run's folder, or of the file."""

    path: str

    kind: str
    """What `train` and `valid` are; names the axis."""

    epochs: Sequence[int]
    train: Sequence[float]
    """Error of the training set."""

    valid: Sequence[float]
    """Error of the validation set."""

    perplexity: Sequence[float]
    """Of the validation set, by the full softmax."""

    learn_rate: Sequence[float]

    best: int | None
    """The epoch whose weights are kept, if that is known."""


def read(path: str) -> Curves:
    """The curves of a run folder, or of the log (.t7) that Torch's scripts save.

    Raises:
        InputError: there are none, or they are damaged.
    """
    if not path.startswith(run_kind.PRESET) and not os.path.isdir(path):
        return _of_torch(path)
    return _of_folder(path, run_files.folder(path))


def draw(runs: Sequence[str], path: str) -> None:
    """Draws the curves of runs into one PNG.

    Errors by epoch; beside them, if a run has any, perplexities. Of one run also the
    learning rate, lightly behind. A ring is the epoch whose weights are kept.

    Args:
        runs: see `read`.
        path: of the PNG, replaced whole.

    Raises:
        InputError: as `read`; or the runs are of different kinds.
    """
    from seqzoo.zoo.language import curves_picture

    curves_picture.draw(read_all(runs), path)


def read_all(runs: Sequence[str]) -> list[Curves]:
    """The curves of some runs, under names that tell them apart.

    Raises:
        InputError: as `read`; or they cannot stand beside one another.
    """
    found = [read(run) for run in runs]
    first = found[0]
    for other in found[1:]:
        if (other.kind == _ACOUSTIC) != (first.kind == _ACOUSTIC):
            raise InputError(
                f"{other.path}: its errors are {other.kind}, those of {first.path} "
                f"{first.kind}; give runs of language models, or acoustic ones."
            )
    names = [curves.name for curves in found]
    return [
        curves
        if names.count(curves.name) == 1
        else dataclasses.replace(curves, name=curves.path)
        for curves in found
    ]


def table(curves: Sequence[Curves]) -> str:
    """Errors by epoch as CSV: of one run as Torch's evaluate-rnnlm.lua writes it.

    The columns are epoch, trainerr, validerr; those of several runs stand below one
    another, with their names in a column `run` in front.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    several = len(curves) > 1
    head = ["epoch", "trainerr", "validerr"]
    writer.writerow(["run", *head] if several else head)
    for one in curves:
        for epoch, train, valid in zip(one.epochs, one.train, one.valid, strict=True):
            row = [str(epoch), _number(train), _number(valid)]
            writer.writerow([one.name, *row] if several else row)
    return text.getvalue()


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6f}"


def _of_torch(path: str) -> Curves:
    from seqzoo.datasets import torch_file
    from seqzoo.zoo.checkpoints import xplog

    if not os.path.exists(path):
        raise InputError(
            f"{path}: is not there; a run folder, or a .t7 file that Torch's scripts "
            "saved, is taken."
        )
    if not torch_file.is_one(path):
        raise InputError(
            f"{path}: is neither a run folder nor a .t7 file; give the log that "
            "Torch's scripts saved."
        )
    log = xplog.read(path)
    count = max(len(log.train_losses), len(log.valid_losses))
    if not count:
        raise InputError(f"{path}: no epoch of its training had ended.")
    pairs = itertools.zip_longest(
        log.train_losses, log.valid_losses, fillvalue=math.nan
    )
    train, valid = zip(*pairs, strict=True)
    none = [math.nan] * count
    return Curves(
        name=os.path.basename(path).removesuffix(".t7"),
        path=path,
        kind=_ERRORS["nce"],
        epochs=range(1, count + 1),
        train=train,
        valid=valid,
        perplexity=none,
        learn_rate=none,
        best=log.epoch or None,
    )


def _of_folder(path: str, folder: str) -> Curves:
    at = os.path.join(folder, HISTORY)
    try:
        with open(at, encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
            columns = list(reader.fieldnames or ())
    except FileNotFoundError:
        raise InputError(
            f"{path}: has no {HISTORY}; it is not the folder of a training, or no "
            "epoch has ended yet."
        ) from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{at}: cannot be read ({error}).") from None
    acoustic = "iteration" in columns
    names = {name: pair[acoustic] for name, pair in _COLUMNS.items()}
    missing = [names[name] for name in _NEEDED if names[name] not in columns]
    if missing:
        raise InputError(
            f"{at}: has no column {missing[0]} but {', '.join(columns) or 'nothing'}; "
            "runs of language models, and acoustic ones on frames, are taken."
        )
    if not rows:
        raise InputError(f"{path}: no epoch of its training has ended yet.")

    def column(name: str) -> list[float]:
        return [
            _value(row.get(name), f"{at}:{line}: {name}")
            for line, row in enumerate(rows, 2)
        ]

    epochs = []
    for line, value in enumerate(column(names["epoch"]), 2):
        if not value.is_integer():
            raise InputError(f"{at}:{line}: has no number of an epoch.")
        epochs.append(int(value))
    marked = [
        epoch
        for epoch, row in zip(epochs, rows, strict=True)
        if row.get(names["best"]) == "True"
    ]
    return Curves(
        name=os.path.basename(os.path.abspath(path)) if folder == path else path,
        path=path,
        kind=_ACOUSTIC if acoustic else _kind(folder),
        epochs=epochs,
        train=column(names["train"]),
        valid=column(names["valid"]),
        perplexity=column(_PERPLEXITY),
        learn_rate=column(names["learn_rate"]),
        best=marked[-1] if marked else None,
    )


def _value(text: str | None, where: str) -> float:
    """A number; NaN for what is empty or infinite."""
    if not text:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"{where} is {text[:40]!r}, not a number.") from None
    return value if math.isfinite(value) else math.nan


def _kind(folder: str) -> str:
    """What the errors of a language model's run are."""
    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            output = json.load(file)["settings"]["output"]
    except (OSError, ValueError, LookupError, TypeError):
        output = None
    return _ERRORS.get(output, "error a time step")
