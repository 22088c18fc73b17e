"""The models by name: their settings and builders, loaded when they are asked for."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import importlib
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from seqzoo.datasets.errors import InputError

if TYPE_CHECKING:
    import keras

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Entry:
    """Where a model is and what it is, known without importing it."""

    module: str
    """Holds the builder, under `@register`; imports Keras."""

    config: str
    """`module:class` of the settings, a dataclass; imports no Keras."""

    description: str

    recipe: str = "seqzoo.zoo.acoustic.dnn_recipe"
    """The module whose `train` trains it."""


_ACOUSTIC = "seqzoo.zoo.acoustic"
_LANGUAGE = "seqzoo.zoo.language"
MODELS = {
    "acoustic/dnn": Entry(
        f"{_ACOUSTIC}.dnn",
        f"{_ACOUSTIC}.dnn_config:DnnConfig",
        "spliced frames through sigmoid layers to pdfs (Kaldi nnet1's DNN)",
    ),
    "acoustic/lstm": Entry(
        f"{_ACOUSTIC}.lstm",
        f"{_ACOUSTIC}.lstm_config:LstmConfig",
        "projected LSTMs, trained on streams with a target delay",
    ),
    "acoustic/blstm": Entry(
        f"{_ACOUSTIC}.blstm",
        f"{_ACOUSTIC}.blstm_config:BlstmConfig",
        "LSTMs in both directions, trained on whole utterances",
    ),
    "acoustic/cnn": Entry(
        f"{_ACOUSTIC}.cnn",
        f"{_ACOUSTIC}.cnn_config:CnnConfig",
        "convolutions along frequency in front of a DNN (Kaldi nnet1's CNN1D)",
        f"{_ACOUSTIC}.cnn_recipe",
    ),
    "acoustic/autoencoder": Entry(
        f"{_ACOUSTIC}.autoencoder",
        f"{_ACOUSTIC}.autoencoder_config:AutoencoderConfig",
        "spliced frames through tanh layers to features, by mean square error",
        f"{_ACOUSTIC}.autoencoder_recipe",
    ),
    "acoustic/multilingual": Entry(
        f"{_ACOUSTIC}.multilingual",
        f"{_ACOUSTIC}.multilingual_config:MultilingualConfig",
        "one network for several languages, a softmax for each",
        f"{_ACOUSTIC}.multilingual_recipe",
    ),
    "acoustic/bottleneck": Entry(
        f"{_ACOUSTIC}.bottleneck",
        f"{_ACOUSTIC}.bottleneck_config:BottleneckConfig",
        "two networks with a narrow layer, the second on splices of the first's",
        f"{_ACOUSTIC}.bottleneck_recipe",
    ),
    "acoustic/dbn": Entry(
        f"{_ACOUSTIC}.dbn",
        f"{_ACOUSTIC}.dbn_config:DbnConfig",
        "RBMs one on the other, pre-trained without labels for a DNN to start from",
    ),
    "language/lstm": Entry(
        f"{_LANGUAGE}.lstm",
        f"{_LANGUAGE}.lstm_config:LstmConfig",
        "words through LSTMs to the next word, by NCE (Torch's billion-word recipe)",
        f"{_LANGUAGE}.recipe",
    ),
    "language/rnn": Entry(
        f"{_LANGUAGE}.rnn",
        f"{_LANGUAGE}.rnn_config:RnnConfig",
        "words through simple recurrent layers or GRUs to the next word",
        f"{_LANGUAGE}.recipe",
    ),
}
"""Every model under its name, `task/name`. A new model is a line here."""

_builders: dict[str, tuple[type, Callable[[Any], keras.Model]]] = {}


def register(
    name: str, config_class: type[T]
) -> Callable[[Callable[[T], keras.Model]], Callable[[T], keras.Model]]:
    """Makes the function under it the builder of the model `name`."""

    def keep(build: Callable[[T], keras.Model]) -> Callable[[T], keras.Model]:
        _builders[name] = (config_class, build)
        return build

    return keep


def make(name: str, overrides: Sequence[str] = ()) -> tuple[Any, keras.Model]:
    """A model with new weights, and its settings.

    Args:
        name: one of `MODELS`.
        overrides: settings that differ from the defaults, as `field=value`.

    Raises:
        InputError: as `config`.
    """
    settings = config(name, overrides)
    return settings, build(name, settings)


def build(name: str, settings: Any) -> keras.Model:
    """A model with new weights.

    Args:
        name: one of `MODELS`.
        settings: of its own kind, such as `config` gives.
    """
    importlib.import_module(_entry(name).module)
    config_class, builder = _builders[name]
    if not isinstance(settings, config_class):
        raise TypeError(f"{name} is registered with {config_class}.")
    return builder(settings)


def config(name: str, overrides: Sequence[str] = ()) -> Any:
    """A model's settings, without importing TensorFlow.

    A value is written as its field's type has it: `512`, `0.1`, `true`, `sigmoid`;
    several as `1,2,3`, whole numbers also as `-5:5`, which holds both ends; `none`
    where the field may be None.

    Args:
        name: one of `MODELS`.
        overrides: settings that differ from the defaults, as `field=value`; of two
            for the same field the later holds.

    Raises:
        InputError: an unknown model or field, with the nearest known one; a value
            that the field does not take.
    """
    config_class = _config_class(name)
    kinds = typing.get_type_hints(config_class)
    fields = [field.name for field in dataclasses.fields(config_class)]
    values: dict[str, Any] = {}
    for override in overrides:
        field, equals, text = override.partition("=")
        field = field.strip().replace("-", "_")
        if not equals:
            raise InputError(f"{name}: {override!r} is not of the form field=value.")
        if field not in fields:
            raise InputError(
                f"{name}: no setting {field!r}; {_hint(field, fields, 'it has')}"
            )
        try:
            values[field] = _value(kinds[field], text.strip())
        except ValueError as error:
            raise InputError(f"{name}: {field}={text}: {error} is taken.") from None
    try:
        return config_class(**values)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None


def settings(name: str) -> list[tuple[str, str, str]]:
    """Each setting of a model: its name, its default and what it means.

    Defaults are written as `config` reads them.
    """
    config_class = _config_class(name)
    meanings = _meanings(config_class)
    return [
        (field.name, _text(_default(field)), meanings.get(field.name, ""))
        for field in dataclasses.fields(config_class)
    ]


def recipe(name: str) -> Any:
    """The module whose `train` trains a model; it imports TensorFlow.

    Raises:
        InputError: an unknown model.
    """
    return importlib.import_module(_entry(name).recipe)


def _entry(name: str) -> Entry:
    if name not in MODELS:
        hint = _hint(name, MODELS, "there are")
        raise InputError(f"no model {name!r}; {hint}")
    return MODELS[name]


def _hint(word: str, known: Iterable[str], otherwise: str) -> str:
    known = list(known)
    # "dnn" is meant for "acoustic/dnn".
    near = [k for k in known if k.endswith(f"/{word}")]
    near = near or difflib.get_close_matches(word, known, 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"{otherwise} {', '.join(known)}."


def _config_class(name: str) -> Any:
    module, class_name = _entry(name).config.split(":")
    return getattr(importlib.import_module(module), class_name)


def _value(kind: Any, text: str) -> Any:
    """`text` as a value of type `kind`; the ValueError says what is taken."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if type(None) in parts and text.lower() == "none":
            return None
        kinds = [part for part in parts if part is not type(None)]
        try:
            return _value(kinds[0], text)
        except ValueError as error:
            none = " or none" if len(kinds) < len(parts) else ""
            raise ValueError(f"{error}{none}") from None
    if origin is typing.Literal:
        if text not in parts:
            raise ValueError(f"one of {', '.join(parts)}")
        return text
    if origin is tuple:
        return _values(parts, text)
    if kind is bool:
        known = {"true": True, "t": True, "1": True}
        known |= {"false": False, "f": False, "0": False}
        if text.lower() not in known:
            raise ValueError("true or false")
        return known[text.lower()]
    if kind is int:
        return _number(int, text, "a whole number")
    if kind is float:
        return _number(float, text, "a number")
    if kind is str:
        return text
    raise TypeError(f"settings of type {kind} cannot be given as text.")


def _number(kind: type, text: str, taken: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(taken) from None


def _values(parts: tuple[Any, ...], text: str) -> tuple[Any, ...]:
    kind, many = parts[0], parts[-1] is Ellipsis
    words = [w.strip() for w in text.strip("(){}[]").split(",") if w.strip()]
    if not many:
        if len(words) != len(parts):
            raise ValueError(f"{len(parts)} values with commas between")
        return tuple(_value(k, word) for k, word in zip(parts, words, strict=True))
    values: list[Any] = []
    for word in words:
        first, colon, last = word.partition(":")
        if not (kind is int and colon):
            values.append(_value(kind, word))
            continue
        taken = "a range first:last of whole numbers"
        ends = _number(int, first, taken), _number(int, last, taken)
        if ends[0] > ends[1]:
            raise ValueError(taken)
        values += range(ends[0], ends[1] + 1)
    return tuple(values)


def _default(field: dataclasses.Field) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _text(value: Any) -> str:
    """`value` as `_value` reads it; empty if there is none."""
    if value is dataclasses.MISSING:
        return ""
    if isinstance(value, tuple):
        whole = all(type(item) is int for item in value)
        if whole and len(value) > 2 and value == tuple(range(value[0], value[-1] + 1)):
            return f"{value[0]}:{value[-1]}"
        return ",".join(map(_text, value))
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _meanings(config_class: type) -> dict[str, str]:
    """The text under each field, also of the classes that it comes from."""
    found: dict[str, str] = {}
    for one in reversed(config_class.__mro__[:-1]):
        found |= _own_meanings(one)
    return found


def _own_meanings(config_class: type) -> dict[str, str]:
    tree = ast.parse(inspect.cleandoc(inspect.getsource(config_class)))
    body = typing.cast(ast.ClassDef, tree.body[0]).body
    return {
        first.target.id: " ".join(second.value.value.split())
        for first, second in zip(body, body[1:], strict=False)
        if isinstance(first, ast.AnnAssign)
        and isinstance(first.target, ast.Name)
        and isinstance(second, ast.Expr)
        and isinstance(second.value, ast.Constant)
        and isinstance(second.value.value, str)
    }
