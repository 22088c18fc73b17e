"""An scp held in memory: by key, in any order, wherever its corpus lies."""

import dataclasses
import logging
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from seqzoo.datasets import files, scp, scp_paths, specifiers, table_values, tables
from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectReader

_LOG = logging.getLogger(__name__)


class ScpTable(Mapping[str, Any]):
    """The values that an scp names; each is read when it is asked for.

    Relative paths in it hold from the current directory or, where nothing is there,
    from the directory of the scp or one above it.

    Args:
        rspecifier: `scp:FILE`; `scp,p:FILE` passes over broken entries with a warning.
        kind: what the values are, as for `tables.read`.
        allow_pipes: whether entries may be commands.
        double: whether matrices and vectors come as float64.

    Raises:
        InputError: the scp is damaged or has a key twice; on reading, a value is.
    """

    def __init__(
        self,
        rspecifier: str,
        kind: str = "matrix",
        *,
        allow_pipes: bool = False,
        double: bool = False,
    ):
        table_values.check_kind(kind)
        spec = specifiers.rspecifier(rspecifier)
        if not spec.script:
            raise InputError(
                f"{rspecifier}: an archive has no list of its utterances; an scp is "
                "needed here (write one with ark,scp:FILE.ark,FILE.scp)."
            )
        self.rspecifier = rspecifier
        self._kind = kind
        self._double = double
        self._permissive = spec.permissive
        self._entries: dict[str, scp.Entry] = {}
        for entry in scp.read(spec.name, allow_pipes=allow_pipes):
            first = self._entries.get(entry.key)
            if first is not None:
                raise InputError(
                    f"{entry.where}: key {entry.key!r} is already at {first.where}; "
                    "keys are there once."
                )
            name = scp_paths.resolve(entry.name, spec.name)
            self._entries[entry.key] = dataclasses.replace(entry, name=name)
        self._source: ByteReader | None = None
        self._path = ""
        self._last: tuple[str, Any] | None = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        if not self._permissive or key not in self._entries:
            return key in self._entries
        try:
            self[str(key)]
        except InputError as error:
            _LOG.warning("%s Entry %r is passed over.", error, key)
            return False
        return True

    def __getitem__(self, key: str) -> Any:
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        entry = self._entries[key]
        reader = ObjectReader(self._open(entry), self._path)
        value = table_values.read(reader, self._kind, self._double)
        if entry.range:
            try:
                value = scp.cut(value, entry.range)
            except InputError as error:
                raise InputError(f"{entry.where}: utterance {key!r}: {error}") from None
        self._last = key, value
        return value

    def _open(self, entry: scp.Entry) -> ByteReader:
        """The entry's file at its place; the file stays open for the next."""
        path, offset = files.split_offset(entry.name)
        source = self._source
        if source is not None and path == self._path and entry.name != path:
            if source.size is None or offset <= source.size:
                source.seek(offset)
                return source
        self.close()
        hint = f"It is entry {entry.key!r} of {entry.where}."
        self._source = source = files.open_input(entry.name, hint=hint)
        self._path = path if files.is_plain(entry.name) else ""
        return source

    def close(self) -> None:
        """Closes the file that is open; reading opens it again."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def __del__(self) -> None:
        if getattr(self, "_source", None) is not None:
            self.close()

    def read(self, seed: int | None = None) -> Iterator[tuple[str, Any]]:
        """The keys and values, in the order of the scp or in that of `order`."""
        for key in self.order(seed):
            if not self._permissive:
                yield key, self[key]
            elif key in self:
                yield key, self[key]

    def order(self, seed: int | None = None) -> list[str]:
        """The keys: as in the scp, or shuffled, always alike for one seed."""
        keys = list(self._entries)
        if seed is None:
            return keys
        return [keys[i] for i in np.random.default_rng(seed).permutation(len(keys))]


def open_table(
    rspecifier: str, kind: str = "matrix", *, double: bool = False
) -> ScpTable | tables.RandomAccess:
    """Values by key (`in`, `[]`, `get`), of an archive or an scp.

    They can be asked for again and again, pass after pass; so of the options of an
    archive, `o` and `cs`, which forget what was asked for, are left out.
    """
    spec = specifiers.rspecifier(rspecifier)
    if spec.script:
        return ScpTable(rspecifier, kind, double=double)
    if spec.once or spec.called_sorted:
        options = [
            name for name, on in (("s", spec.sorted), ("p", spec.permissive)) if on
        ]
        rspecifier = f"{','.join(['ark', *options])}:{spec.name}"
    return tables.RandomAccess(rspecifier, kind, double=double)


def read_table(rspecifier: str, kind: str = "matrix") -> Iterator[tuple[str, Any]]:
    """Keys and values in file order, of an archive or an scp."""
    if specifiers.rspecifier(rspecifier).script:
        return ScpTable(rspecifier, kind).read()
    return tables.read(rspecifier, kind)
