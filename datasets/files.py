"""Opening what Kaldi's command lines name: files, `-`, pipes, `.gz`, remote paths."""

import contextlib
import gzip
import importlib
import os
import re
import stat
import subprocess
import sys
import uuid
import warnings
from collections.abc import Iterator
from typing import Any

from seqzoo.datasets.byte_reader import CHUNK, ByteReader
from seqzoo.datasets.errors import InputError

_OFFSET = re.compile(r"(.+):([0-9]+)")
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_pipe(name: str) -> bool:
    """Whether reading `name` would run a command."""
    return name.rstrip().endswith("|")


def is_plain(name: str) -> bool:
    """Whether `name` is an uncompressed file: seeking in it is cheap."""
    return name not in ("", "-") and "|" not in name and not name.endswith(".gz")


def split_offset(name: str) -> tuple[str, int]:
    """`path:123` as its path and offset; a bare path starts at 0."""
    found = _OFFSET.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)


def open_input(
    name: str, *, allow_pipes: bool = True, hint: str = "", chunk: int | None = None
) -> ByteReader:
    """Opens a file to read.

    Args:
        name: `path`, `path:offset`, `-` for standard input, or `command |`.
            A `.gz` path is unpacked; `scheme://` paths go through `tf.io.gfile`.
        allow_pipes: whether `command |` may run.
        hint: ends the error for a file that cannot be opened.
        chunk: bytes to read at a time from a plain file, None for the default.

    Raises:
        InputError: if it cannot be opened.
    """
    name = name.strip()
    if is_pipe(name):
        if not allow_pipes:
            raise InputError(
                f"{name!r} would run a command; pass allow_pipes (--allow_pipes) "
                "if you trust it."
            )
        return ByteReader(_Process(name.rstrip()[:-1], "r"), name)
    if name.startswith("|"):
        raise InputError(f"{name!r} writes to a command, but it is to be read.")
    if name in ("", "-"):
        return ByteReader(sys.stdin.buffer, "standard input", keep_open=True)
    path, offset = split_offset(name)
    if _REMOTE.match(name):
        return _open_remote(path, offset)
    if os.path.exists(name):  # A file may end in ":123" itself.
        path, offset = name, 0
    try:
        file: Any = open(path, "rb", buffering=0)
    except OSError as error:
        raise InputError(_cannot("read", path, error, hint)) from None
    size: int | None = None
    status = os.fstat(file.fileno())
    if path.endswith(".gz"):
        file = gzip.GzipFile(fileobj=file, mode="rb")
        file.myfileobj = file.fileobj  # close() closes the file itself, too.
    elif stat.S_ISREG(status.st_mode):
        size = status.st_size
    reader = ByteReader(
        file, path, size, chunk=chunk or CHUNK, path=None if size is None else path
    )
    if offset:
        if size is not None and offset > size:
            reader.close()
            raise InputError(
                f"{path}:{offset}: the file has only {size} bytes; the scp or the "
                "offset belongs to another version of it."
            )
        try:
            reader.seek(offset)
        except InputError:
            reader.close()
            raise
    return reader


# File systems of TensorFlow itself; tensorflow-io registers others when imported.
_OWN_SCHEMES = ("file", "gs", "ram")


def _tensorflow(path: str) -> Any:
    """TensorFlow, for `tf.io.gfile`, with the file system that `path` needs."""
    import tensorflow as tf

    if path.partition("://")[0] not in _OWN_SCHEMES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module("tensorflow_io")
        except ImportError:
            pass  # The first call that needs it tells.
    return tf


def _open_remote(path: str, offset: int) -> ByteReader:
    tf = _tensorflow(path)
    file: Any = _RemoteFile(path, "rb")
    try:
        size: int | None = file.call(tf.io.gfile.stat, path).length
    except OSError as error:
        raise InputError(_cannot("read", path, error)) from None
    if path.endswith(".gz"):
        file, size = gzip.GzipFile(fileobj=file, mode="rb"), None
    reader = ByteReader(file, path, size)
    if offset:
        reader.seek(offset)
    return reader


class _RemoteFile:
    """A `tf.io.gfile` file whose errors are OSErrors, as those of local files."""

    def __init__(self, path: str, mode: str):
        tf = _tensorflow(path)
        self._error = tf.errors.OpError
        self._file = tf.io.gfile.GFile(path, mode)

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The function's result."""
        try:
            return function(*args, **kwargs)
        except self._error as error:
            reason = " ".join((error.message or type(error).__name__).split())
            if "not implemented (file:" in reason:
                reason = "no file system for it; the extra seqzoo[io] brings some"
            raise OSError(reason) from None

    def read(self, n: int = -1) -> bytes:
        return self.call(self._file.read, n)

    def write(self, data: Any) -> None:
        self.call(self._file.write, bytes(data))

    def seek(self, offset: int, whence: int = 0) -> None:
        self.call(self._file.seek, offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def flush(self) -> None:
        self.call(self._file.flush)

    def close(self) -> None:
        self.call(self._file.close)


def _cannot(do: str, path: str, error: OSError, hint: str = "") -> str:
    reason = error.strerror or str(error)
    return f"{path}: cannot {do} it: {reason}.{' ' if hint else ''}{hint}"


class Output:
    """A file being written; it takes its name only when `commit` is called.

    Until then the bytes are in a temporary file beside it, which `discard`
    removes. Devices, `-` and `| command` are written to directly.

    Args:
        name: `path`, `-` for standard output, or `| command`. A `.gz` path is
            packed; `scheme://` paths go through `tf.io.gfile`.
    """

    def __init__(self, name: str):
        self.name = name = name.strip()
        self.position = 0
        self._temporary: str | None = None
        self._remote = bool(_REMOTE.match(name))
        self._raw: Any = None
        if name.startswith("|"):
            self._file: Any = _Process(name[1:], "w")
        elif is_pipe(name):
            raise InputError(f"{name!r} reads from a command, but it is to be written.")
        elif name in ("", "-"):
            self._file = sys.stdout.buffer
        else:
            self._open(name)

    def _open(self, name: str) -> None:
        if self._remote:
            self._temporary = f"{name}.{uuid.uuid4().hex[:8]}.part"
            self._target = name
            self._file = _RemoteFile(self._temporary, "wb")
            self._remote_file = self._file
        else:
            self._target = target = os.path.realpath(name)
            if not os.path.exists(target) or os.path.isfile(target):
                self._temporary = f"{target}.{uuid.uuid4().hex[:8]}.part"
            try:
                self._file = open(self._temporary or target, "wb", 1 << 20)
            except OSError as error:
                raise InputError(_cannot("write", name, error)) from None
        if name.endswith(".gz"):
            self._raw = self._file
            self._file = gzip.GzipFile(fileobj=self._raw, mode="wb", mtime=0)

    def write(self, data: Any) -> None:
        """Writes bytes."""
        try:
            self._file.write(data)
        except OSError as error:
            raise InputError(_cannot("write", self.name, error)) from None
        self.position += len(data) if isinstance(data, bytes) else data.nbytes

    def flush(self) -> None:
        """Hands on what is written, to a command or a terminal."""
        self._file.flush()

    def _close(self) -> None:
        if self._file is sys.stdout.buffer:
            self._file.flush()
            return
        self._file.close()
        if self._raw is not None:
            self._raw.close()

    def commit(self) -> None:
        """Closes the file under its own name.

        Raises:
            InputError: if that fails, or the command written to does.
        """
        try:
            self._close()
            if self._temporary is not None and self._remote:
                import tensorflow as tf

                rename = tf.io.gfile.rename
                self._remote_file.call(
                    rename, self._temporary, self._target, overwrite=True
                )
            elif self._temporary is not None:
                os.replace(self._temporary, self._target)
        except OSError as error:
            self.discard()
            raise InputError(_cannot("write", self.name, error)) from None
        self._temporary = None

    def discard(self) -> None:
        """Closes the file and leaves nothing of it."""
        if isinstance(self._file, _Process):
            self._file.kill()
            return
        try:
            self._close()
        except OSError:
            pass
        if self._temporary is not None:
            try:
                if self._remote:
                    import tensorflow as tf

                    self._remote_file.call(tf.io.gfile.remove, self._temporary)
                else:
                    os.remove(self._temporary)
            except OSError:
                pass
            self._temporary = None


@contextlib.contextmanager
def written(name: str) -> Iterator[Output]:
    """An output that takes its name at the end, if all went well; else none is left.

    Args:
        name: as `Output` takes it.

    Raises:
        InputError: if it cannot be written.
    """
    output = Output(name)
    try:
        yield output
    except BaseException:
        output.discard()
        raise
    output.commit()


def write_text(name: str, text: str) -> None:
    """Writes a text, whole or not at all; names in it may be bytes that are no text."""
    with written(name) as output:
        output.write(text.encode(errors="surrogateescape"))


class _Process:
    """A shell command's output, or its input, as a file."""

    def __init__(self, command: str, mode: str):
        self._command = command.strip()
        if not self._command:
            raise InputError("a pipe '|' without a command; give one.")
        sys.stdout.flush()
        reading = mode == "r"
        self._process = subprocess.Popen(
            ["/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh", "-c", command],
            stdout=subprocess.PIPE if reading else None,
            stdin=None if reading else subprocess.PIPE,
            bufsize=0 if reading else 1 << 20,
        )
        self._pipe: Any = self._process.stdout if reading else self._process.stdin
        self._ended = False

    def read(self, n: int) -> bytes:
        """Up to `n` bytes; at the end the command must have succeeded."""
        data = self._pipe.read(n)
        if not data and n and not self._ended:
            self._ended = True
            self._finish()
        return data

    def write(self, data: Any) -> None:
        """Feeds the command."""
        self._feed(self._pipe.write, data)

    def flush(self) -> None:
        """Hands on what is written."""
        self._feed(self._pipe.flush)

    def _feed(self, do: Any, *args: Any) -> None:
        try:
            do(*args)
        except BrokenPipeError:
            self._finish()  # Tells how it failed, if it did.
            raise

    def _finish(self) -> None:
        code = self._process.wait()
        if code:
            raise InputError(f"the command {self._command!r} failed (exit {code}).")

    def close(self) -> None:
        """Ends the command; a writer's must succeed, a reader's may be cut short."""
        writing = self._pipe is self._process.stdin
        try:
            self._feed(self._pipe.close)
        finally:
            if not writing and self._process.poll() is None:
                self._process.terminate()
            self._process.wait()
        if writing:
            self._finish()

    def kill(self) -> None:
        """Ends the command at once."""
        self._process.kill()
        try:
            self._pipe.close()
        except OSError:
            pass
        self._process.wait()
