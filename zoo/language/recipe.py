"""Makes the run of a language model: data, vocabulary, model, and trains it."""

import contextlib
import dataclasses
import logging
import os
from collections.abc import Iterator, Sequence
from typing import Any

from seqzoo import layers
from seqzoo.datasets import character_cache, gbw, gbw_cache, kjv
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_cache import Cache
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo import registry
from seqzoo.zoo.language import (
    learn_rate,
    run_files,
    trained_model,
    vocabulary_change,
)
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.language.train_options import LanguageTrainOptions
from seqzoo.zoo.language.trained_model import TrainedLanguageModel
from seqzoo.zoo.language.trainer import compute_in_bfloat16, slots
from seqzoo.zoo.language.training import LanguageTraining, Progress
from seqzoo.zoo.training.run_folder import RunFolder

_LOG = logging.getLogger(__name__)

_LIKE_OLD = ("hiddensize", "inputsize", "projsize", "peepholes", "cell", "activation")
"""Settings that a model keeps when its training goes on."""

_FREE = ("training.maxepoch", "training.earlystop", "training.valid_perplexity")
"""Options that may be others when a run is resumed."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Data:
    """What to train on."""

    source: str | None = None
    """A folder of text, a Torch set or a cache; None is the bundled King James
    Bible."""

    cache: str | None = None
    """Where the word ids are kept; None is inside the run folder."""

    subset: str | None = None
    """"tiny" is Torch's small training set."""

    min_count: int = 3
    """How often a word must come to be in the vocabulary of a text."""

    processes: int = 1
    """That read text at the same time."""

    tokens: str | None = None
    """"words" or "characters"; None is what the model that is started from has, or
    words."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start:
    """What to start from, other than new weights."""

    init: str
    """A run folder, `preset:NAME` or a Torch file."""

    vocabulary: str = "data"
    """"data" makes the vocabulary of the text, "init" keeps the model's."""

    going_on: bool = False
    """Whether epochs and the learning rate go on from those of `init`."""


def train(
    path: str,
    command: Sequence[str],
    name: str,
    overrides: Sequence[str],
    options: LanguageTrainOptions,
    data: Data,
    start: Start | None = None,
    progress_bar: bool = False,
    profile: bool = False,
) -> Progress:
    """Trains a language model into a run folder, or goes on in one.

    Args:
        path: of the folder.
        command: the words of the command, for the records.
        name: `language/lstm` or `language/rnn`.
        overrides: settings, as `registry.config` takes them.
        options: of the training.
        data: what to train on.
        start: what to start from.
        progress_bar: whether bars are shown on standard error.
        profile: whether the first steps are profiled.

    Raises:
        InputError: about the data, the settings, or the folder.
    """
    config = registry.config(name, overrides)
    folder = RunFolder(path, command, ("log", "weights", "resume"))
    about: dict[str, Any] = {
        "model": name,
        "training": dataclasses.asdict(options),
        "data": {
            "source": os.path.abspath(data.source) if data.source else "kjv",
            "subset": data.subset,
            "min_count": data.min_count,
        },
        "start": None if start is None else dataclasses.asdict(start),
    }
    if start is None or data.tokens is not None:
        about["tokens"] = data.tokens or "words"
    with folder.removed_on_failure(kept=gbw_cache.is_cache), _log_file(folder):
        # Before the cache of another run is made anew.
        folder.check(about, _FREE)
        origin = _origin(folder, start, name, config, overrides)
        about["tokens"] = _tokens(data, origin.tokens, start)
        cache = _open(folder, data, about["tokens"], start, origin.vocabulary)
        vocabulary = cache.vocabulary
        _tell_data(cache)
        config = _adapted(origin.config, config, overrides, len(vocabulary))
        about["settings"] = dataclasses.asdict(config)
        about["data"] |= {
            "cache": _place(cache.folder, path),
            "words": len(vocabulary),
            "training_words": cache.sets["train"].targets,
        }
        folder.begin(about, free=_FREE)
        vocabulary.save(folder.file(run_files.VOCABULARY))
        model = registry.build(name, config)
        assert isinstance(model, LanguageModel)
        optimizer = layers.RowSGD(
            options.startlr, options.momentum, options.cutoff, options.tables
        )
        optimizer.build(model.trainable_weights)
        begin = Progress(learn_rate=options.startlr)
        if origin.model is not None:
            report = vocabulary_change.carry_over(
                origin.model,
                vocabulary,
                model,
                **_slots(origin.model, options, optimizer, model),
            )
            report.save(folder.file("vocabulary_change.txt"))
            _LOG.info("%s", report.text())
            if start is not None and start.going_on:
                begin = _continued(origin.model, options)
        else:
            model.set_counts(vocabulary.counts)
            if config.unigram_bias and folder.load_state() is None:
                model.start_biases(vocabulary.counts)
        del origin  # A model of a billion words' text takes gigabytes.
        if options.bfloat16:
            compute_in_bfloat16(model)
        _LOG.info("%s: %s parameters", name, f"{model.parameters:,}")
        training = LanguageTraining(
            folder,
            options,
            model,
            optimizer,
            cache,
            progress_bar=progress_bar,
            profile=profile,
            begin=begin,
        )
        return training.run()


@dataclasses.dataclass(frozen=True)
class _Origin:
    """What a run starts from; nothing of it for new weights."""

    config: Any = None
    vocabulary: Vocabulary | None = None
    tokens: str | None = None
    model: TrainedLanguageModel | None = None


def _origin(
    folder: RunFolder,
    start: Start | None,
    name: str,
    config: Any,
    overrides: Sequence[str],
) -> _Origin:
    if start is None:
        return _Origin()
    if folder.load_state() is not None:
        # What it started from is in the folder, and may be gone elsewhere.
        before = run_files.read_json(folder.path, run_files.CONFIG)
        tokens = before["tokens"]
        return _Origin(
            trained_model.settings(name, before["settings"]),
            Vocabulary.load(folder.file(run_files.VOCABULARY), tokens == "characters"),
            tokens,
        )
    old = _old(start, name, config, overrides)
    tokens = "characters" if old.characters else "words"
    return _Origin(old.config, old.vocabulary, tokens, old)


def _old(
    start: Start, name: str, config: Any, overrides: Sequence[str]
) -> TrainedLanguageModel:
    old = trained_model.read(start.init)
    if old.name != name:
        raise InputError(
            f"{start.init}: is a {old.name}, but {name} is to be trained; give "
            f"`train {old.name}`."
        )
    for field in _LIKE_OLD:
        given = any(one.partition("=")[0].strip() == field for one in overrides)
        if given and getattr(old.config, field) != getattr(config, field):
            raise InputError(
                f"{start.init}: {field} is {getattr(old.config, field)}, not "
                f"{getattr(config, field)}; leave it out to go on from that model."
            )
    return old


def _tokens(data: Data, theirs: str | None, start: Start | None) -> str:
    """What is trained on: "words" or "characters".

    Args:
        data: tells what was asked for.
        theirs: of the model that is started from.
        start: names that model.
    """
    tokens = data.tokens or theirs or "words"
    if start is not None and tokens != theirs:
        raise InputError(
            f"{start.init}: is a model of {theirs}, not of {tokens}; leave --tokens "
            "out."
        )
    if tokens == "characters":
        if data.subset:
            raise InputError("--tiny: Torch's small set has words, not characters.")
        if data.min_count != Data.min_count:
            raise InputError(
                "--min_count is for words; of characters all are in the vocabulary, so "
                "leave it out."
            )
    return tokens


def _open(
    folder: RunFolder,
    data: Data,
    tokens: str,
    start: Start | None,
    vocabulary: Vocabulary | None,
) -> Cache:
    """The data, from its cache, which is made if it is not there.

    Args:
        folder: has the cache where no other place is given.
        data: to open.
        tokens: "words" or "characters".
        start: tells whether the vocabulary is the model's.
        vocabulary: of the model that is started from.
    """
    source = data.source or kjv.path()
    if data.cache and gbw_cache.is_cache(source):
        if os.path.realpath(data.cache) != os.path.realpath(source):
            raise InputError(f"{source}: is a cache itself; leave --cache out.")
    place = data.cache or folder.file("data")
    kept: dict[str, Any] = {}
    if start is not None and start.vocabulary == "init":
        kept = {"vocabulary": vocabulary, "vocabulary_of": start.init}
    if tokens == "characters":
        return character_cache.open_data(source, place, **kept)
    return gbw.open_data(
        source,
        place,
        subset=data.subset,
        min_count=data.min_count,
        processes=data.processes,
        **kept,
    )


def _place(folder: str, run: str) -> str:
    """Where a cache is: relative to the run that it lies in, so that both may move."""
    folder, run = os.path.abspath(folder), os.path.abspath(run)
    inside = os.path.commonpath([folder, run]) == run
    return os.path.relpath(folder, run) if inside else folder


def _adapted(old: Any, config: Any, overrides: Sequence[str], words: int) -> Any:
    """The settings for so many words: the old model's, if any, with what was given."""
    if config.words not in (0, words):
        raise InputError(
            f"words is {config.words}, but the data has {words} words; leave it out."
        )
    if old is not None:
        given = {one.partition("=")[0].strip().replace("-", "_") for one in overrides}
        config = dataclasses.replace(
            old, **{name: getattr(config, name) for name in given}
        )
    return dataclasses.replace(config, words=words)


def _slots(
    old: TrainedLanguageModel,
    options: LanguageTrainOptions,
    optimizer: layers.RowSGD,
    model: LanguageModel,
) -> dict[str, Any]:
    """What the old run's optimizer left, where its best epoch is its last.

    Slots are of use to the rules that made them: Adagrad's sums are no velocities.
    """
    folder = os.path.join(old.path, "resume", os.path.basename(old.weights))
    before = old.about.get("training", {})
    same = before.get("tables") == options.tables
    same = same and (before.get("momentum", 0) > 0) == (options.momentum > 0)
    if not same or not os.path.isdir(folder):
        return {}
    return {"old_slots": folder, "new_slots": slots(optimizer, model)}


def _continued(old: TrainedLanguageModel, options: LanguageTrainOptions) -> Progress:
    """The epochs and the learning rate of the run that is gone on with."""
    epochs = int(old.about.get("epoch") or 0)
    if epochs >= options.maxepoch:
        raise InputError(
            f"{old.path}: was trained for {epochs} epochs, and maxepoch is "
            f"{options.maxepoch}; give a greater --maxepoch."
        )
    rate = options.startlr
    for epoch in range(1, epochs + 1):
        rate = learn_rate.after(epoch, rate, options)
    return Progress(epoch=epochs, learn_rate=rate, best_epoch=epochs)


def _tell_data(cache: Cache) -> None:
    if cache.characters:
        sets = ", ".join(f"{name} {len(s.ids):,}" for name, s in cache.sets.items())
        _LOG.info("vocabulary of %d characters; %s", len(cache.vocabulary), sets)
        return
    sets = ", ".join(
        f"{name} {len(sentences):,} sentences, {sentences.targets:,} words"
        for name, sentences in cache.sets.items()
    )
    _LOG.info("vocabulary of %s words; %s", f"{len(cache.vocabulary):,}", sets)
    for name, sentences in cache.sets.items():
        if sentences.skipped:
            _LOG.warning(
                "%s: %d sentences of one word or none are left out.",
                name,
                sentences.skipped,
            )


@contextlib.contextmanager
def _log_file(folder: RunFolder) -> Iterator[None]:
    """Also writes what the program logs to `log/train.log`."""
    handler = logging.FileHandler(folder.file("log", "train.log"), encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("seqzoo")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
