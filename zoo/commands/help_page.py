"""The text of `seqzoo COMMAND --help`."""

import textwrap

import absl.flags

from seqzoo.zoo.commands import common

_WIDTH, _COLUMN = 80, 28


def page(usage: str, flags: absl.flags.FlagValues) -> str:
    """What a command does and all its flags, with their defaults.

    Args:
        usage: the words it takes in the first line, then what it does.
        flags: its flags; those that all commands have come last.
    """
    known = [flag for group in flags.flags_by_module_dict().values() for flag in group]
    groups = {
        "Flags": [f for f in known if f.name not in common.GENERAL_FLAGS],
        "Flags of all commands": [f for f in known if f.name in common.GENERAL_FLAGS],
    }
    parts = [f"usage: {usage.strip()}"]
    for title, members in groups.items():
        if members:
            parts.append("\n".join([f"{title}:", *map(_entry, members)]))
    return "\n\n".join(parts)


def _entry(flag: absl.flags.Flag) -> str:
    left = f"  --{flag.name}"
    if not flag.boolean:
        left += f"={_value_name(flag)}"
    # absl puts the choices in front, and how to give several at the end.
    does = " ".join((flag.help or "").split())
    if _choices(flag):
        does = does.partition(">: ")[2]
    does = does.replace("; repeat this option to specify a list of values", "")
    if flag.flag_type().startswith("multi"):
        does += "; may come more than once"
    text = f"{does} {_default(flag)}".strip()
    indent = " " * _COLUMN
    lines = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [indent]
    if len(left) > _COLUMN - 2:
        return "\n".join([left, *lines])
    lines[0] = f"{left:{_COLUMN}}{lines[0].strip()}".rstrip()
    return "\n".join(lines)


def _choices(flag: absl.flags.Flag) -> list[str]:
    return list(getattr(flag.parser, "enum_values", None) or [])


def _value_name(flag: absl.flags.Flag) -> str:
    if choices := _choices(flag):
        return "|".join(choices)
    kind = flag.flag_type()
    if "int" in kind:
        return "N"
    return "X" if "float" in kind else "VALUE"


def _default(flag: absl.flags.Flag) -> str:
    default = flag.default
    if default is None or default == "" or default == []:
        return ""
    if isinstance(default, bool):
        return f"[{str(default).lower()}]"
    if isinstance(default, list):
        return f"[{','.join(map(str, default))}]"
    return f"[{default:g}]" if isinstance(default, float) else f"[{default}]"
