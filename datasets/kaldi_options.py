"""Option strings as Kaldi's tools take them, read into a dataclass."""

import dataclasses
import difflib
import shlex
import typing
from typing import Any, TypeVar

from seqzoo.datasets.errors import InputError

T = TypeVar("T")

_BOOLS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def parse(options: type[T], text: str) -> T:
    """Reads `--norm-means=true --norm-vars` into a dataclass.

    The option `--some-name` is the field `some_name`; what is not given keeps the
    field's default. A bool without a value is true.

    Args:
        options: a dataclass whose fields are int, float, bool or str.
        text: options separated by blanks; empty is allowed.

    Raises:
        InputError: an unknown option or a value of another type.
    """
    types = typing.get_type_hints(options)
    names = [f.name for f in dataclasses.fields(options)]  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for word in _words(text):
        flag, equals, value = word.partition("=")
        name = flag.removeprefix("--").replace("-", "_")
        if not flag.startswith("--") or name not in names:
            raise InputError(_unknown(text, word, name, names))
        if not equals and types[name] is bool:
            value = "true"
        try:
            given[name] = _convert(types[name], value)
        except (KeyError, ValueError):
            kind = "true or false" if types[name] is bool else types[name].__name__
            raise InputError(
                f"options {text!r}: {word!r} holds {value!r}, but {flag} takes {kind}."
            ) from None
    return options(**given)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"options {text!r}: {error}.") from None


def _convert(kind: type, value: str) -> Any:
    return _BOOLS[value.lower()] if kind is bool else kind(value)


def _unknown(text: str, word: str, name: str, names: list[str]) -> str:
    flags = ["--" + known.replace("_", "-") for known in names]
    near = difflib.get_close_matches("--" + name.replace("_", "-"), flags, 1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(flags)}."
    return f"options {text!r}: {word!r} is not an option here; {hint}"
