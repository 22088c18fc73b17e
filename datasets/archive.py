"""An archive: keys and objects, one after the other."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from seqzoo.datasets import files, matrix_runs, table_values
from seqzoo.datasets.byte_reader import ByteReader
from seqzoo.datasets.kaldi_objects import ObjectReader

_BINARY_ENTRY = re.compile(rb"([!-~]{1,200}) \0B")
_CONTROL = re.compile(rb"[\0-\x1f\x7f]")


class Archive:
    """Walks an archive.

    Args:
        name: the file, `-`, or `command |`.
        kind: what its values are.
        chunk: bytes to read at a time, None for the default.
    """

    def __init__(self, name: str, kind: str, chunk: int | None = None):
        self._bytes = files.open_input(name, chunk=chunk)
        self._bracketed = kind in ("matrix", "vector", "posterior", "any")
        self.reader = ObjectReader(self._bytes, self._bytes.name, binary=False)

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._bytes.close()

    def next_key(self) -> str | None:
        """The next key, None at the end; `reader` stands at its value then."""
        source, reader = self._bytes, self.reader
        found = source.match(_BINARY_ENTRY, 206)
        if found is not None:  # The usual case, in one step.
            source.key = key = found[1].decode()
            reader.binary = True
            return key
        source.key = None
        reader.binary = False
        source.skip_space()
        at = source.offset
        word = source.word()
        if not word:
            return None
        if word[:1] == b"\0" or word == b"[":
            source.fail(
                "found an object without a key before it. If the file is one matrix "
                "or vector by itself, it is no archive: give its plain name where a "
                "single object is taken.",
                at,
            )
        if self._bracketed and word[-1:] == b"[" and len(word) > 1:
            rest = source.peek(64).lstrip(b" \t")
            if rest[:1] != b"[" and rest[:2] != b"\0B":
                source.seek(source.offset - 1)  # The blank before "[" is missing.
                word = word[:-1]
        if _CONTROL.search(word):
            source.fail(
                f"found {word[:20]!r} where a key should be; the file is no archive, "
                "or its values are of another kind.",
                at,
            )
        try:
            key = word.decode("utf-8")
        except UnicodeDecodeError:
            source.fail(
                f"found {word[:20]!r} where a key should be, which is not UTF-8 "
                "text; the file is no archive, or damaged.",
                at,
            )
        source.key = key
        if source.peek(1) in (b" ", b"\t"):
            source.take(1)
        elif source.at_end():
            source.fail("the file ends after the key.", at)
        reader.start()
        return key

    def run(self) -> Iterator[tuple[str, np.ndarray]] | None:
        """The next entries, if they are binary matrices that are faster read together.

        If not, the result is None and nothing is consumed.
        """
        self._bytes.key = None
        run = matrix_runs.scan_entries(self._bytes)
        if not run:
            return None
        return zip(map(bytes.decode, run.keys), run, strict=True)


def read_one(source: ByteReader, kind: str, double: bool) -> Any:
    """The one object of a file without keys; nothing may follow it."""
    reader = ObjectReader(source, source.name)
    if not reader.binary and kind != "token" and reader.at_end():
        reader.fail("the file is empty.")
    return table_values.read(reader, kind, double)
