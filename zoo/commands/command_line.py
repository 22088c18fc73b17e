"""Reads a command's words into its flags."""

import difflib
from collections.abc import Callable, Iterable, Sequence

import absl.flags

from seqzoo.datasets.errors import InputError


def parse(
    words: Sequence[str],
    flags: absl.flags.FlagValues,
    name: str = "seqzoo COMMAND",
    settings: Callable[[Sequence[str]], Iterable[str]] | None = None,
) -> list[str]:
    """Sets `flags` and returns the words that are none.

    `--learn-rate 0.1`, `--learn-rate=0.1`, `--learn_rate=0.1` are the same. A flag that
    is true or false may come alone (`--binary`, `--nobinary`) or with its value
    (`--binary=false`, `--binary false`). Flags may stand anywhere before a `--`.

    Args:
        words: what follows the command.
        flags: the flags known.
        name: the command, for the hint where to look.
        settings: of `words` the names that `--set` takes; it is told of them where
            one is given as a flag.

    Raises:
        InputError: an unknown flag, with the nearest one known; a value that is
            missing or of another type.
    """
    args: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            args += rest
            break
        if not _is_flag(word):
            args.append(word)
            continue
        given, equals, value = word.lstrip("-").partition("=")
        if settings is not None and given.replace("-", "_") not in flags:
            _check_setting(given, value if equals else "...", settings(words))
        flag, negated = _find(given, flags, name)
        if negated:
            if equals:
                raise InputError(f"{word}: give --{flag.name}={value} or its opposite.")
            value = "false"
        elif not equals and flag.boolean:
            value = rest.pop(0) if rest[:1] in (["true"], ["false"]) else "true"
        elif not equals:
            # Options for another tool, in one word, begin like a flag of ours.
            options = flag.name.endswith("_opts")
            if not rest or (rest[0].startswith("--") and not options):
                raise InputError(f"--{flag.name} needs a value: {_taken(flag)}.")
            value = rest.pop(0)
        try:
            flag.parse(value)
        except absl.flags.IllegalFlagValueError:
            raise InputError(
                f"--{flag.name}={value}: {_taken(flag)} is taken.{_near(value, flag)}"
            ) from None
        flag.using_default_value = False
    flags.mark_as_parsed()
    try:
        flags.validate_all_flags()
    except absl.flags.IllegalFlagValueError as error:
        raise InputError(str(error).removeprefix("flag ")) from None
    return args


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of `known` that `word` may be a misspelling of."""
    close = difflib.get_close_matches(word, list(known), 1)
    return close[0] if close else None


def _is_flag(word: str) -> bool:
    """Not `-`, which is standard input or output, and not -5, a number."""
    return word.startswith("-") and word.lstrip("-")[:1].isalpha()


def _check_setting(given: str, value: str, settings: Iterable[str]) -> None:
    setting = given.replace("-", "_")
    if setting in settings:
        raise InputError(
            f"--{given} is a setting of the model and not a flag; did you mean --set "
            f"{setting}={value}?"
        )


def _find(
    given: str, flags: absl.flags.FlagValues, name: str
) -> tuple[absl.flags.Flag, bool]:
    """The flag, and whether it was given as its opposite."""
    known = given.replace("-", "_")
    if known == "h":
        known = "help"
    if known in flags:
        return flags[known], False
    positive = known.removeprefix("no").lstrip("_")
    if known.startswith("no") and positive in flags and flags[positive].boolean:
        return flags[positive], True
    near = nearest(known, flags)
    hint = f"did you mean --{near}?" if near else f"`{name} --help` lists them."
    raise InputError(f"--{given} is not a flag of this command; {hint}")


def _taken(flag: absl.flags.Flag) -> str:
    if flag.boolean:
        return "true or false"
    if values := getattr(flag.parser, "enum_values", None):
        return f"one of {', '.join(values)}"
    return flag.parser.syntactic_help or "a word"


def _near(value: str, flag: absl.flags.Flag) -> str:
    near = nearest(value, getattr(flag.parser, "enum_values", None) or ())
    return f" Did you mean {near}?" if near else ""
