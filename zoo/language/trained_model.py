"""Language models that were trained or imported: a folder, and what is read of it.

A run folder holds `config.json`, `vocabulary.txt` (`word count` lines), `state.json`,
which says which folder in `weights/` is the model, `history.csv`, and more while it is
trained. A preset is such a folder inside the package.
"""

import dataclasses
import difflib
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo import registry
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.training import run_kind, weight_files
from seqzoo.zoo.training.run_kind import PRESET

CONFIG, STATE, VOCABULARY, WEIGHTS = (
    "config.json",
    "state.json",
    "vocabulary.txt",
    "weights",
)
_PRESETS = pathlib.Path(__file__).parent / "presets"


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


def presets() -> list[str]:
    """The names of the trained models that come with the package."""
    return sorted(p.name for p in _PRESETS.glob("*") if (p / CONFIG).exists())


def folder(path: str) -> str:
    """The folder that `path`, which may be `preset:NAME`, stands for.

    Raises:
        InputError: there is no such preset.
    """
    if not path.startswith(PRESET):
        return path
    name = path.removeprefix(PRESET)
    if name not in presets():
        near = difflib.get_close_matches(name, presets(), 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {presets()}."
        raise InputError(f"no preset {name!r}; {hint}")
    return str(_PRESETS / name)


def read(path: str, noise: bool = False) -> TrainedLanguageModel:
    """The model of a run folder: the best one of its training so far.

    Args:
        path: of the folder, `preset:NAME`, or a file that Torch saved.
        noise: whether the tables are made that training draws from.

    Raises:
        InputError: if there is none, it has no weights yet, or it is damaged.
    """
    path = folder(path)
    if run_kind.is_torch_file(path):
        from seqzoo.zoo.language import import_torch

        return import_torch.read(path, noise)
    about = read_json(path, CONFIG)
    name = about.get("model")
    if not isinstance(name, str) or not name.startswith("language/"):
        raise InputError(f"{path}: holds {name}, not a language model.")
    state = read_json(path, STATE)
    if not state.get("weights"):
        raise InputError(f"{path}: no epoch of its training has ended yet.")
    vocabulary = Vocabulary.load(os.path.join(path, VOCABULARY), _has_characters(about))
    config = settings(name, about["settings"])
    if config.words != len(vocabulary):
        raise InputError(
            f"{path}: {VOCABULARY} has {len(vocabulary)} words, the model "
            f"{config.words}; they do not belong together."
        )
    model = registry.build(name, config)
    weights = os.path.join(path, WEIGHTS, state["weights"])
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


def read_json(path: str, name: str) -> dict[str, Any]:
    """A JSON file of a run folder."""
    at = os.path.join(path, name)
    try:
        with open(at, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise InputError(
            f"{path}: not the folder of a language model ({name}: "
            f"{error.strerror or error})."
        ) from None
    except ValueError as error:
        raise InputError(f"{at}: cannot be read ({error}).") from None


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
    vocabulary.save(os.path.join(path, VOCABULARY))
    about = {"model": name, "settings": dataclasses.asdict(config), **more}
    _write_json(path, CONFIG, about)
    os.makedirs(os.path.join(path, WEIGHTS), exist_ok=True)
    weight_files.save(os.path.join(path, WEIGHTS, "best"), model.named_weights())
    _write_json(path, STATE, {"weights": "best"})


def _write_json(path: str, name: str, value: Mapping[str, Any]) -> None:
    with open(os.path.join(path, name), "w", encoding="utf-8") as file:
        file.write(json.dumps(value, indent=2) + "\n")


def _has_characters(about: Mapping[str, Any]) -> bool:
    """Whether `config.json` tells of a model of characters."""
    return about.get("tokens", "words") == "characters"
