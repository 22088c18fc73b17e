"""An scp held in memory: by key, in any order, wherever its corpus lies."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from seqzoo.datasets import files, scp, scp_paths, specifiers, table_values, tables
from seqzoo.datasets.entry_reader import EntryReader
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
            if name != entry.name:
                entry = entry._replace(name=name, place=files.split_offset(name))
            self._entries[entry.key] = entry
        self._reader = EntryReader()
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
        value = self._reader.load(self._entries[key], self._value, scp.cut)
        self._last = key, value
        return value

    def _value(self, reader: ObjectReader) -> Any:
        return table_values.read(reader, self._kind, self._double)

    def close(self) -> None:
        """Closes the file that is open; reading opens it again."""
        self._reader.close()

    def __del__(self) -> None:
        if hasattr(self, "_reader"):
            self.close()

    def read(self, seed: int | None = None) -> Iterator[tuple[str, Any]]:
        """The keys and values, in the order of the scp or in that of `order`."""
        yield from self._reader.read(
            (self._entries[key] for key in self.order(seed)),
            self._value,
            scp.cut,
            permissive=self._permissive,
            together=self._kind == "matrix" and not self._double,
        )

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
