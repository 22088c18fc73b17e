"""Writing Kaldi's tables and single objects."""

import io
from typing import Any

from seqzoo.datasets import compressed_matrix, files, scp, specifiers, table_values
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.files import Output


class Writer:
    """Writes a table; use it in `with`.

    The files appear under their names when the `with` block ends well, and not at
    all if it ends in an exception.

    Args:
        wspecifier: `ark:FILE`, `ark,t:FILE` (text), `ark,scp:FILE.ark,FILE.scp`,
            `ark:-`, `ark:| command`, or `scp:FILE` to write each object to the
            file that the scp names. A `.gz` file is packed.
        kind: what the values are, as for `tables.read`.
        compression_method: 0 for plain matrices, or Kaldi's 1 to 7.
        double: whether matrices and vectors are written as doubles (DM, DV).

    Raises:
        InputError: for a bad wspecifier, key or value, or a file that cannot be
            written.
    """

    def __init__(
        self,
        wspecifier: str,
        kind: str = "matrix",
        compression_method: int = 0,
        *,
        double: bool = False,
    ):
        table_values.check_kind(kind)
        if compression_method:
            compressed_matrix.check_method(compression_method)
        self._spec = spec = specifiers.wspecifier(wspecifier)
        self._kind = kind
        self._method = compression_method
        self._double = double
        self._archive: Output | None = None
        self._script: Output | None = None
        self._targets: dict[str, scp.Entry] = {}
        if spec.archive is None:
            entries = scp.read(spec.script or "", allow_pipes=False)
            self._targets = {entry.key: entry for entry in entries}
            return
        self._archive = Output(spec.archive)
        if spec.script is not None:
            try:
                self._script = Output(spec.script)
            except BaseException:
                self.discard()
                raise

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, exc_type: object, *exc: object) -> None:
        if exc_type is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        self.discard()

    def write(
        self, key: str, value: Any, *, compression_method: int | None = None
    ) -> None:
        """Adds a value.

        Args:
            key: its name.
            value: of the table's kind.
            compression_method: for this one; None is the table's own.

        Raises:
            InputError: if the key has white space, or the value is of another kind.
        """
        if len(key.split()) != 1 or key != key.strip() or not key.isprintable():
            raise InputError(
                f"{self._spec.text}: {key!r} cannot be a key; "
                "a key is one word without white space."
            )
        if self._archive is None:
            self._write_target(key, value, compression_method)
            return
        buffer = io.BytesIO()
        self._encode(buffer, key, value, compression_method)
        head = key.encode() + b" "
        offset = self._archive.position + len(head)
        self._archive.write(head)
        self._archive.write(buffer.getvalue())
        if self._script is not None:
            self._script.write(f"{key} {self._spec.archive}:{offset}\n".encode())
        if self._spec.flush or self._spec.archive == "-":
            self._archive.flush()

    def _encode(
        self, buffer: io.BytesIO, key: str, value: Any, method: int | None
    ) -> None:
        spec = self._spec
        method = self._method if method is None else method
        try:
            table_values.write(
                buffer, value, self._kind, spec.binary, method, self._double
            )
        except InputError as error:
            raise InputError(f"{spec.text}: utterance {key!r}: {error}") from None

    def _write_target(self, key: str, value: Any, method: int | None) -> None:
        entry = self._targets.get(key)
        if entry is None:
            if self._spec.permissive:
                return
            raise InputError(
                f"{self._spec.script}: there is no line for {key!r}; add one, "
                "or write scp,p: to leave such values out."
            )
        buffer = io.BytesIO()
        self._encode(buffer, key, value, method)
        _write_file(entry.name, buffer.getvalue())

    def close(self) -> None:
        """Ends the files and gives them their names."""
        try:
            for output in (self._archive, self._script):
                if output is not None:
                    output.commit()
        except BaseException:
            self.discard()
            raise
        self._archive = self._script = None

    def discard(self) -> None:
        """Ends the files and leaves nothing of them."""
        for output in (getattr(self, "_archive", None), getattr(self, "_script", None)):
            if output is not None:
                output.discard()
        self._archive = self._script = None


def write_object(
    wxfilename: str,
    value: Any,
    binary: bool = True,
    *,
    kind: str = "any",
    compression_method: int = 0,
    double: bool = False,
) -> None:
    """Writes a value to a file of its own, such as `final.mat`, without a key.

    Args:
        wxfilename: `FILE`, `-` or `| COMMAND`.
        value: a matrix, vector, integer vector or posterior.
        binary: the form.
        kind: what the value is; by its type if "any".
        compression_method: 0 for a plain matrix, or Kaldi's 1 to 7.
        double: whether a matrix or vector is written as doubles.
    """
    table_values.check_kind(kind)
    buffer = io.BytesIO()
    try:
        table_values.write(buffer, value, kind, binary, compression_method, double)
    except InputError as error:
        raise InputError(f"{wxfilename}: {error}") from None
    _write_file(wxfilename, buffer.getvalue())


def _write_file(name: str, data: bytes) -> None:
    output = files.Output(name)
    try:
        output.write(data)
    except BaseException:
        output.discard()
        raise
    output.commit()
