"""scp files, and the ranges that their entries may end in."""

import logging
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from seqzoo.datasets import files
from seqzoo.datasets.errors import InputError

_LOG = logging.getLogger("seqzoo")
# The usual line: KEY PATH:OFFSET, without a range and with nothing to run.
_USUAL = re.compile(r"([!-~]+)[ \t]+(([!-Z^-{}~]+):([0-9]+))\s*")
_PART = re.compile(r"\s*(-?[0-9]+)\s*:\s*(-?[0-9]+)\s*")
_BEYOND = 2  # Rows that a range may end too far, as in Kaldi.


class Entry(NamedTuple):
    """One line of an scp."""

    key: str
    name: str
    """What holds the object: `path`, `path:offset` or `command |`."""
    range: str
    """`0:3` or `0:3,1:2`, the text inside the brackets; empty for all."""
    place: tuple[str, int]
    """The path, or what stands for it, and the offset; 0 if there is none."""
    scp: str
    """The file that the line is in."""
    line: int
    """Its number, from 1."""

    @property
    def where(self) -> str:
        """`path:line` of the line itself."""
        return f"{self.scp}:{self.line}"


def split_range(name: str) -> tuple[str, str]:
    """`path:2[0:3]` as `path:2` and `0:3`."""
    if name.endswith("]") and "[" in name:
        name, _, inside = name[:-1].rpartition("[")
        return name.rstrip(), inside.strip() or ":"
    return name, ""


def read(name: str, *, allow_pipes: bool) -> Iterator[Entry]:
    """The entries of an scp in file order.

    Args:
        name: the scp: a file, `-`, or a command with `|`.
        allow_pipes: whether entries may be commands; else they are refused.

    Raises:
        InputError: for a line without an object, or one that is a command.
    """
    with files.open_input(name) as source:
        for number, line in enumerate(source.lines(), 1):
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                text = ""
            usual = _USUAL.fullmatch(text)
            if usual is not None:
                key, name, path, offset = usual.groups()
                yield Entry(key, name, "", (path, int(offset)), source.name, number)
                continue
            where = f"{source.name}:{number}"
            if number == 1 and b"\0B" in line[:200]:
                raise InputError(
                    f"{where}: this is a binary archive, not an scp; "
                    "write ark: before its name."
                )
            if line and not text:
                raise InputError(
                    f"{where}: the line is not UTF-8 text; convert the file."
                )
            words = text.split(None, 1)
            if not words:
                continue
            if len(words) == 1:
                raise InputError(
                    f"{where}: found {words[0][:80]!r} alone; "
                    "a line is KEY FILE or KEY FILE:OFFSET."
                )
            key, target = words[0], words[1].strip()
            if files.is_pipe(target) and not allow_pipes:
                raise InputError(
                    f"{where}: entry {key!r} would run {target[:80]!r}; "
                    "pass allow_pipes (--allow_pipes) if you trust this file."
                )
            name, part = split_range(target)
            place = files.split_offset(name)
            yield Entry(key, name, part, place, source.name, number)


def _bounds(part: str, size: int, beyond: int, what: str) -> tuple[int, int]:
    if part.strip() in ("", ":"):
        return 0, size
    found = _PART.fullmatch(part)
    if not found:
        raise InputError(
            f"range {part!r} is not FIRST:LAST (both ends are included) or ':'."
        )
    first, last = int(found[1]), int(found[2])
    if not 0 <= first <= last or first >= size or last >= size + beyond:
        raise InputError(
            f"range {first}:{last} does not fit {size} {what}; "
            f"{what} are numbered 0 to {size - 1}, both ends of a range included."
        )
    if last >= size:
        _LOG.warning("Range %d:%d goes beyond the %d %s.", first, last, size, what)
        last = size - 1
    return first, last + 1


def ranges(text: str, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The slices that `text` (`0:3,1:2`) takes from an object of `shape`.

    Raises:
        InputError: if it does not fit; rows may end up to 2 too far.
    """
    parts = text.split(",")
    if len(parts) > len(shape):
        raise InputError(
            f"range {text!r} has {len(parts)} parts for {len(shape)} axes."
        )
    slices = []
    for axis, part in enumerate(parts):
        what, beyond = ("columns", 0) if axis else ("rows", _BEYOND)
        slices.append(slice(*_bounds(part, shape[axis], beyond, what)))
    return tuple(slices)


def cut(value: Any, text: str) -> Any:
    """The part of an array or a posterior that `text` names."""
    if isinstance(value, np.ndarray):
        return value[ranges(text, value.shape)].copy()
    if hasattr(value, "to_dense"):
        return value[ranges(text, (len(value),))[0]]
    raise InputError(f"range {text!r} on an object that has no rows.")
