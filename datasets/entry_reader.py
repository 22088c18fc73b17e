"""EntryReader: the objects that entries of an scp name."""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from seqzoo.datasets import files, matrix_runs, scp
from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectReader

_LOG = logging.getLogger("seqzoo")
_AHEAD = 64  # Entries looked at together.

Value = Callable[[ObjectReader], Any]
Cut = Callable[[Any, str], Any]


class EntryReader:
    """Reads what entries name; a file stays open for the entry after.

    Args:
        chunk: bytes to read at a time from a plain file, None for the default.
    """

    def __init__(self, chunk: int | None = None):
        self._chunk = chunk
        self._source: ByteReader | None = None
        self._path = ""

    def __enter__(self) -> "EntryReader":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; reading opens it again."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def load(self, entry: scp.Entry, value: Value, cut: Cut) -> Any:
        """The object that an entry names.

        Args:
            entry: of an scp.
            value: reads it.
            cut: takes the entry's range from it.

        Raises:
            InputError: it cannot be read.
        """
        source = self._open(entry)
        source.key = entry.key
        found = value(ObjectReader(source, source.name))
        if entry.range:
            try:
                found = cut(found, entry.range)
            except InputError as error:
                raise InputError(
                    f"{entry.where}: utterance {entry.key!r}: {error}"
                ) from None
        return found

    def read(
        self,
        entries: Iterable[scp.Entry],
        value: Value,
        cut: Cut,
        permissive: bool = False,
        together: bool = False,
    ) -> Iterator[tuple[str, Any]]:
        """The keys and objects of entries, in their order.

        Args:
            entries, value, cut: as of `load`.
            permissive: pass over broken entries with a warning.
            together: the objects are float32 matrices, and those that follow each
                other in one file may be read ahead together.
        """
        if together:
            for group in _groups(entries):
                yield from self._read_group(group, value, cut, permissive)
            return
        for entry in entries:
            yield from self._read_one(entry, value, cut, permissive)

    def _read_one(
        self, entry: scp.Entry, value: Value, cut: Cut, permissive: bool
    ) -> Iterator[tuple[str, Any]]:
        try:
            found = self.load(entry, value, cut)
        except InputError as error:
            if not permissive:
                raise
            _LOG.warning("%s Entry %r is passed over.", error, entry.key)
            return
        yield entry.key, found

    def _read_group(
        self, group: "_Group", value: Value, cut: Cut, permissive: bool
    ) -> Iterator[tuple[str, Any]]:
        entries, offsets = group
        while entries:
            done = 0
            if len(offsets) > 1:
                try:
                    source = self._open(entries[0])
                    source.key = entries[0].key
                    if source.offset == offsets[0]:  # Else a file is so named.
                        run = matrix_runs.scan_objects(source, offsets)
                        done = len(run)
                except InputError:
                    pass  # Met again, and told, when the entry is read by itself.
            if done:
                keys = [entry.key for entry in entries[:done]]
                yield from zip(keys, run, strict=True)
            else:
                yield from self._read_one(entries[0], value, cut, permissive)
                done = 1
            entries, offsets = entries[done:], offsets[done:]

    def _open(self, entry: scp.Entry) -> ByteReader:
        path, offset = entry.place
        if self._source is not None and path == self._path and entry.name != path:
            size = self._source.size
            if size is None or offset <= size:
                self._source.seek(offset)
                return self._source
        self.close()
        self._source = files.open_input(
            entry.name,
            hint=f"It is entry {entry.key!r} of {entry.where}; relative paths start "
            "at the current folder.",
            chunk=self._chunk,
        )
        # Another file is meant where one is named PATH:OFFSET.
        plain = files.is_plain(entry.name) and self._source.offset == offset
        self._path = path if plain else ""
        return self._source


_Group = tuple[list[scp.Entry], list[int]]


def _groups(entries: Iterable[scp.Entry]) -> Iterator[_Group]:
    """Entries with their offsets, those together that ascend in one plain file.

    An error among the entries comes when those before it have been given out.
    """
    group: list[scp.Entry] = []
    offsets: list[int] = []
    path = ""
    try:
        for entry in entries:
            own, offset = entry.place
            if group and (
                own != path
                or offset <= offsets[-1]
                or entry.range
                or len(group) == _AHEAD
            ):
                yield group, offsets
                group, offsets = [], []
            if not group:
                path = own if files.is_plain(own) and not entry.range else ""
            group.append(entry)
            offsets.append(offset)
    except InputError:
        if group:
            yield group, offsets
        raise
    if group:
        yield group, offsets
