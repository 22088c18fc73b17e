"""Prints what a Torch7 object file holds, as a tree."""

from typing import Any

import numpy as np

from seqzoo.datasets.torch_values import TableKey, TorchFunction, TorchObject

_MOST = 40  # Entries of a table, that are printed,
_SIMILAR = 6  # and of a list; characters of a string:
_CHARACTERS = 60


def tree(value: Any, depth: int = 8) -> str:
    """A line for each value: its name, and its class and size or what it is.

    Args:
        value: as `torch_file.read` gives it.
        depth: how many levels of tables and objects are opened.

    Returns:
        Lines, the last with a newline too. An object that was printed before is
        not opened again: the line names it.
    """
    lines: list[str] = []
    _add(lines, (), value, depth, {})
    return "\n".join(lines) + "\n"


def _add(
    lines: list[str],
    path: tuple[str, ...],
    value: Any,
    depth: int,
    seen: dict[int, str],
) -> None:
    head = "  " * len(path) + (f"{path[-1]}: " if path else "")
    if not isinstance(value, dict | list | TorchObject | TorchFunction):
        lines.append(head + _leaf(value))
        return
    what, entries = _inside(value)
    if entries and id(value) in seen:
        lines.append(f"{head}{what}, the same as {seen[id(value)]}")
        return
    seen[id(value)] = ".".join(path) or "the whole"
    opened = len(path) < depth
    lines.append(head + what + ("" if opened or not entries else " ..."))
    if not opened:
        return
    most = _SIMILAR if isinstance(value, list) else _MOST
    for key, item in entries[:most]:
        _add(lines, (*path, _key(key)), item, depth, seen)
    if len(entries) > most:
        lines.append("  " * (len(path) + 1) + f"... {len(entries) - most} more")


def _inside(value: Any) -> tuple[str, list[tuple[Any, Any]]]:
    if isinstance(value, TorchFunction):
        what = f"function of {len(value.code)} bytes, not run"
        return what, [] if not value.upvalues else [("upvalues", value.upvalues)]
    if isinstance(value, TorchObject):
        return value.class_name, list(value.fields.items())
    if isinstance(value, list):
        return f"list of {len(value)}", list(enumerate(value, 1))
    return f"table of {len(value)}", list(value.items())


def _leaf(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shape = " x ".join(map(str, value.shape))
        text = f"{value.dtype.name} {shape}"
        if 0 < value.size <= _SIMILAR:
            text += " = " + " ".join(f"{v:.9g}" for v in value.ravel().tolist())
        return text
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.17g}"
    return _quoted(value)


def _key(key: Any) -> str:
    if isinstance(key, TableKey):
        value = key.value
        simple = not isinstance(value, dict | list | TorchObject | TorchFunction)
        return f"[{_leaf(value) if simple else _inside(value)[0]}]"
    if isinstance(key, str) and key.isprintable() and len(key) <= _CHARACTERS:
        return key
    return _quoted(key)


def _quoted(value: Any) -> str:
    text = repr(value[:_CHARACTERS]) if isinstance(value, str | bytes) else repr(value)
    return text + " ..." * (isinstance(value, str | bytes) and len(value) > _CHARACTERS)
