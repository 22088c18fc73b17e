"""Kaldi's tables: archives and scp files of values under keys.

    for key, feats in tables.read("scp:train.scp"):
        ...
    with tables.RandomAccess("ark:ali.ark", "int32_vector") as labels:
        labels["utt1"]
    with tables.Writer("ark,scp:out.ark,out.scp") as writer:
        writer.write("utt1", feats)

Kinds, and what a value of each is:
    matrix: float32 `(rows, cols)`; FM, DM, CM, CM2, CM3.
    vector: float32 `(dim,)`; FV, DV.
    int32_vector: int32 `(dim,)`.
    posterior: `Posterior`.
    token: str, as in utt2spk.
    tokens: list of str, as in spk2utt.
    any: one of these, by what is found.
Text forms are read wherever binary ones are. Every error in a file is an InputError.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

from seqzoo.datasets import files, scp, specifiers, table_values
from seqzoo.datasets.archive import Archive, read_one
from seqzoo.datasets.entry_reader import EntryReader
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.files import open_input
from seqzoo.datasets.kaldi_objects import ObjectReader
from seqzoo.datasets.table_writer import Writer, write_object

__all__ = [
    "RandomAccess",
    "Writer",
    "open_input",
    "read",
    "read_object",
    "shapes",
    "write_object",
]

_LOG = logging.getLogger("seqzoo")


def read(
    rspecifier: str,
    kind: str = "matrix",
    *,
    allow_pipes: bool = False,
    double: bool = False,
) -> Iterator[tuple[str, Any]]:
    """The keys and values of a table, in file order.

    Args:
        rspecifier: `ark:FILE` or `scp:FILE`, with Kaldi's options: `ark,p:FILE`
            passes over broken entries with a warning.
        kind: what the values are.
        allow_pipes: whether scp entries may be commands. A command as FILE itself
            (`ark:gunzip -c x.gz |`) always runs.
        double: whether matrices and vectors come as float64.

    Raises:
        InputError: for a bad rspecifier, at once; for bad entries, on the way.
    """
    table_values.check_kind(kind)
    spec = specifiers.rspecifier(rspecifier)

    def value(reader: ObjectReader) -> Any:
        return table_values.read(reader, kind, double)

    together = kind == "matrix" and not double
    return _read(spec, value, scp.cut, allow_pipes, kind, together=together)


def shapes(
    rspecifier: str, *, allow_pipes: bool = False
) -> Iterator[tuple[str, tuple[int, int]]]:
    """The keys and shapes `(rows, cols)` of a table of matrices.

    Only headers of binary matrices are read; data is passed over. Ranges of an scp
    count.
    """
    spec = specifiers.rspecifier(rspecifier)

    def cut(shape: tuple[int, int], text: str) -> tuple[int, int]:
        slices = [*scp.ranges(text, shape), slice(0, shape[1])]
        return slices[0].stop - slices[0].start, slices[1].stop - slices[1].start

    return _read(spec, table_values.read_shape, cut, allow_pipes, "matrix", 512)


def _read(
    spec: specifiers.Rspecifier,
    value: Callable[[ObjectReader], Any],
    cut: Callable[[Any, str], Any],
    allow_pipes: bool,
    kind: str,
    chunk: int | None = None,
    together: bool = False,
) -> Iterator[tuple[str, Any]]:
    if spec.script:
        with EntryReader(chunk) as entries:
            yield from entries.read(
                scp.read(spec.name, allow_pipes=allow_pipes),
                value,
                cut,
                permissive=spec.permissive,
                together=together,
            )
        return
    with Archive(spec.name, kind, chunk) as archive:
        try:
            while True:
                if together and (run := archive.run()):
                    yield from run
                    continue
                key = archive.next_key()
                if key is None:
                    return
                yield key, value(archive.reader)
        except InputError as error:
            if not spec.permissive:
                raise
            _LOG.warning("%s The rest of the archive is passed over.", error)


class RandomAccess:
    """Values of a table by key.

    An scp is read at once, its objects when asked for. An archive is read forward
    as far as needed, and what is passed is kept; `ark,s,cs:` (keys sorted, and
    asked for in sorted order) keeps nothing, `ark,o:` forgets what was taken.

    Args:
        rspecifier, kind, allow_pipes, double: as for `read`.

    Raises:
        InputError: if the scp or a value is bad.
        KeyError: for a missing key, on `table[key]`.
    """

    def __init__(
        self,
        rspecifier: str,
        kind: str = "matrix",
        allow_pipes: bool = False,
        double: bool = False,
    ):
        table_values.check_kind(kind)
        self._spec = spec = specifiers.rspecifier(rspecifier)
        self._value = lambda reader: table_values.read(reader, kind, double)
        self._entries: dict[str, scp.Entry] = {}
        self._kept: dict[str, Any] = {}
        self._ahead: tuple[str, Any] | None = None
        self._asked = ""
        self._last = ""
        self._opened: EntryReader | None = None
        self._archive: Archive | None = None
        if spec.script:
            self._opened = EntryReader()
            for entry in scp.read(spec.name, allow_pipes=allow_pipes):
                if entry.key in self._entries:
                    first = self._entries[entry.key].where
                    raise InputError(
                        f"{entry.where}: key {entry.key!r} is already at {first}; "
                        "keys looked up must be unique."
                    )
                self._entries[entry.key] = entry
        else:
            self._archive = Archive(spec.name, kind)

    def __enter__(self) -> "RandomAccess":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        for opened in (getattr(self, "_opened", None), getattr(self, "_archive", None)):
            if opened is not None:
                opened.close()

    def __contains__(self, key: str) -> bool:
        if self._opened is not None:
            if not self._spec.permissive:
                return key in self._entries
            return self._load(key)
        return self._find(key)

    def __getitem__(self, key: str) -> Any:
        found = self._load(key) if self._opened is not None else self._find(key)
        if not found:
            raise MissingKey(
                f"{self._spec.text}: there is no utterance {key!r}; "
                "check that the tables belong together."
            )
        if self._ahead is not None and self._ahead[0] == key:
            return self._ahead[1]
        if self._spec.once:
            return self._kept.pop(key)
        return self._kept[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default` if there is none."""
        return self[key] if key in self else default

    def _load(self, key: str) -> bool:
        """Whether the scp has `key`; its value is in `_ahead` then."""
        if self._ahead is not None and self._ahead[0] == key:
            return True
        entry = self._entries.get(key)
        if entry is None or self._opened is None:
            return False
        try:
            self._ahead = key, self._opened.load(entry, self._value, scp.cut)
        except InputError as error:
            if not self._spec.permissive:
                raise
            _LOG.warning("%s Entry %r is passed over.", error, key)
            return False
        return True

    def _find(self, key: str) -> bool:
        """Whether the archive has `key`, reading on if need be."""
        spec = self._spec
        strict = spec.sorted and spec.called_sorted
        if strict:
            if key < self._asked:
                raise InputError(
                    f"{spec.text}: {key!r} is asked for after {self._asked!r}, which "
                    "'cs' rules out; sort the first table, or drop 'cs'."
                )
            self._asked = key
        elif key in self._kept:
            return True
        while True:
            if self._ahead is not None:
                if self._ahead[0] == key:
                    return True
                if spec.sorted and self._ahead[0] > key:
                    return False
            if not self._advance(keep=not strict):
                return False

    def _advance(self, keep: bool) -> bool:
        """Reads the next entry into `_ahead`; what was there is kept or dropped."""
        if self._ahead is not None:
            if keep:
                self._kept[self._ahead[0]] = self._ahead[1]
            self._ahead = None
        if self._archive is None:
            return False
        try:
            key = self._archive.next_key()
            if key is None:
                return False
            if self._spec.sorted and key <= self._last:
                raise InputError(
                    f"{self._archive.reader.bytes.where()}: key {key!r} comes after "
                    f"{self._last!r}, but 's' says the table is sorted; sort it "
                    "(LC_ALL=C), or drop 's'."
                )
            if key in self._kept:
                self._archive.reader.fail(
                    "the key is there twice; keys looked up must be unique."
                )
            self._last = key
            self._ahead = key, self._value(self._archive.reader)
        except InputError as error:
            self._archive.close()
            self._archive = None
            if not self._spec.permissive:
                raise
            _LOG.warning("%s The rest of the archive is passed over.", error)
            return False
        return True


class MissingKey(InputError, KeyError):
    """A table has no such utterance."""

    def __str__(self) -> str:
        return str(self.args[0])


def read_object(rxfilename: str, kind: str = "matrix", *, double: bool = False) -> Any:
    """The value in a file of its own, such as `final.mat`, without a key.

    Args:
        rxfilename: `FILE`, `FILE:OFFSET`, `-` or `COMMAND |`, with `[ROWS,COLUMNS]`
            behind it for a part.
        kind: what it is, as for `read`.
        double: whether matrices and vectors come as float64.

    Raises:
        InputError: if it cannot be read.
    """
    table_values.check_kind(kind)
    name, text = scp.split_range(rxfilename.strip())
    with files.open_input(name) as source:
        value = read_one(source, kind, double)
        if not text:
            return value
        try:
            return scp.cut(value, text)
        except InputError as error:
            raise InputError(f"{rxfilename}: {error}") from None
