"""The options of Kaldi's prototype scripts: fields of dataclasses, flags of strings."""

from __future__ import annotations

import dataclasses
import difflib
import shlex
from typing import Any, ClassVar, TypeVar

from seqzoo.datasets.errors import InputError

_O = TypeVar("_O", bound="ScriptOptions")


class ScriptOptions:
    """The options of one script; subclasses are dataclasses with a default each.

    Field `max_norm` is the flag `--max-norm`; fields of type bool are the flags that
    `SWITCHES` names.
    """

    SWITCHES: ClassVar[dict[str, tuple[str, bool]]] = {}
    """Flags without value: the field and the value that each stands for."""

    @classmethod
    def fields(cls) -> dict[str, Any]:
        """The defaults by the names of the fields."""
        return {f.name: f.default for f in dataclasses.fields(cls)}  # type: ignore[arg-type]

    @classmethod
    def make(cls: type[_O], options: dict[str, Any]) -> _O:
        """The options with those values; InputError for a name that is none."""
        fields = cls.fields()
        for name in options:
            if name not in fields:
                raise _unknown(name, sorted(fields))
        return cls(**options)


def _unknown(name: str, known: list[str]) -> InputError:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}."
    return InputError(f"proto options: {name} is not known; {hint}")


def parse(text: str, script: type[ScriptOptions]) -> dict[str, Any]:
    """The keyword arguments that a script's options, one string, stand for.

    `--no-softmax --activation-type=<Tanh> --hid-bias-mean=0.0` becomes
    `{"softmax": False, "activation_type": "<Tanh>", "hid_bias_mean": 0.0}`.

    Args:
        text: `--name=value`, `--name value` or `--switch`, in the shell's quotes.
        script: whose options they are.

    Raises:
        InputError: for an option that is not known or a value that is not one.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"proto options: {text!r}: {error}.") from None
    defaults = script.fields()
    valued = {
        name.replace("_", "-"): name
        for name, default in defaults.items()
        if not isinstance(default, bool)
    }
    options: dict[str, Any] = {}
    words.reverse()
    while words:
        word = words.pop()
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            raise InputError(
                f"proto options: {word!r} is not of the form --name=value."
            )
        if name in script.SWITCHES:
            if equals:
                raise InputError(f"proto options: --{name} takes no value.")
            field, stands_for = script.SWITCHES[name]
            options[field] = stands_for
            continue
        if name not in valued:
            known = [f"--{n}" for n in sorted([*valued, *script.SWITCHES])]
            raise _unknown(f"--{name}", known)
        if not equals:
            if not words:
                raise InputError(f"proto options: --{name} lacks its value.")
            value = words.pop()
        options[valued[name]] = _value(name, value, defaults[valued[name]])
    return options


def _value(name: str, value: str, default: Any) -> Any:
    # Options without default are numbers that the prototype then leaves out.
    kind = float if default is None else type(default)
    try:
        return kind(value)
    except ValueError:
        raise InputError(
            f"proto options: --{name}={value} is not of type {kind.__name__}."
        ) from None


def check_least(values: dict[str, tuple[int, int]]) -> None:
    """Checks numbers, given by name as (value, least)."""
    for name, (value, least) in values.items():
        if value < least:
            raise InputError(f"prototype: {name} is {value}; {least} is the least.")
