"""Language models that were trained or imported, read of their folders."""

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo import registry
from seqzoo.zoo.language import run_files
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.training import run_kind, weight_files


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainedLanguageModel:
    """A model, and what belongs to it."""

    path: str
    """The folder."""

    name: str
    """`language/lstm` or `language/rnn`."""

    config: Any
    """The settings, an `LstmConfig` or `RnnConfig`."""

    model: LanguageModel
    """With its weights, and its noise's tables if they were asked for."""

    vocabulary: Vocabulary

    about: Mapping[str, Any]
    """All of `config.json`: also "training", the options, and "data"."""

    weights: str
    """The folder of the weights; empty for a model of a Torch file."""

    @property
    def characters(self) -> bool:
        """Whether its words are characters, and a text has no sentences."""
        return _has_characters(self.about)


def read(path: str, noise: bool = False) -> TrainedLanguageModel:
    """The model of a run folder: the best one of its training so far.

    Args:
        path: of the folder, `preset:NAME`, or a file that Torch saved.
        noise: whether the tables are made that training draws from.

    Raises:
        InputError: if there is none, it has no weights yet, or it is damaged.
    """
    path = run_files.folder(path)
    if run_kind.is_torch_file(path):
        from seqzoo.zoo.language import import_torch

        return import_torch.read(path, noise)
    about = run_files.read_json(path, run_files.CONFIG)
    name = about.get("model")
    if not isinstance(name, str) or not name.startswith("language/"):
        raise InputError(f"{path}: holds {name}, not a language model.")
    state = run_files.read_state(path)
    vocabulary = Vocabulary.load(
        os.path.join(path, run_files.VOCABULARY), _has_characters(about)
    )
    config = settings(name, about["settings"])
    if config.words != len(vocabulary):
        raise InputError(
            f"{path}: {run_files.VOCABULARY} has {len(vocabulary)} words, the model "
            f"{config.words}; they do not belong together."
        )
    model = registry.build(name, config)
    weights = os.path.join(path, run_files.WEIGHTS, state["weights"])
    weight_files.load(weights, model.named_weights())
    if noise:
        model.set_counts(vocabulary.counts)
    return TrainedLanguageModel(
        path=path,
        name=name,
        config=config,
        model=model,
        vocabulary=vocabulary,
        about=about,
        weights=weights,
    )


def settings(name: str, values: Mapping[str, Any]) -> Any:
    """The settings of `config.json` as a dataclass."""
    fields = {field for field, *_ in registry.settings(name)}
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    unknown = set(plain) - fields
    if unknown:
        raise InputError(f"{name}: no setting {sorted(unknown)[0]!r}.")
    return dataclasses.replace(registry.config(name), **plain)


def write(
    path: str,
    name: str,
    config: Any,
    model: LanguageModel,
    vocabulary: Vocabulary,
    more: Mapping[str, Any],
) -> None:
    """Makes a folder that `read` takes: of a model that was not trained here.

    Args:
        path: is not there yet, or empty.
        name: `language/lstm` or `language/rnn`.
        config: its settings.
        model: with its weights.
        vocabulary: of its words.
        more: for `config.json`, plain values.
    """
    os.makedirs(path, exist_ok=True)
    vocabulary.save(os.path.join(path, run_files.VOCABULARY))
    about = {"model": name, "settings": dataclasses.asdict(config), **more}
    _write_json(path, run_files.CONFIG, about)
    os.makedirs(os.path.join(path, run_files.WEIGHTS), exist_ok=True)
    weight_files.save(
        os.path.join(path, run_files.WEIGHTS, "best"), model.named_weights()
    )
    _write_json(path, run_files.STATE, {"weights": "best"})


def _write_json(path: str, name: str, value: Mapping[str, Any]) -> None:
    with open(os.path.join(path, name), "w", encoding="utf-8") as file:
        file.write(json.dumps(value, indent=2) + "\n")


def _has_characters(about: Mapping[str, Any]) -> bool:
    """Whether `config.json` tells of a model of characters."""
    return about.get("tokens", "words") == "characters"
