"""Run folders: what a training run writes, so that it can be resumed at any moment."""

import contextlib
import csv
import dataclasses
import io
import json
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from seqzoo.datasets import files
from seqzoo.datasets.errors import InputError

_STATE = "state.json"


class RunFolder:
    """The folder of one run.

    It holds `config.json`, `command.txt`, `nnet/` and `log/` as Kaldi's scripts leave
    them, `history.csv` and `state.json`, from which the run goes on after a kill.
    All but the logs are replaced whole, never half-written.

    Args:
        path: made if it is not there.
        command: the words of the command that trains, for the logs.
        folders: to make inside.

    Raises:
        InputError: it cannot be made or written.
    """

    def __init__(
        self,
        path: str,
        command: Sequence[str],
        folders: Sequence[str] = ("nnet", "log", "weights"),
    ):
        self.path = path
        self.command = shlex.join(command)
        self._new = not os.path.exists(path)
        try:
            for folder in folders:
                os.makedirs(os.path.join(path, folder), exist_ok=True)
            if self.load_state() is None:
                self._write_command()
        except OSError as error:
            raise InputError(
                f"{path}: the run folder cannot be written ({error.strerror}); give "
                "another."
            ) from None

    @contextlib.contextmanager
    def removed_on_failure(
        self, kept: Callable[[str], bool] = lambda path: False
    ) -> Iterator[None]:
        """Inside, an error before the first state removes a folder made for the run.

        Args:
            kept: whether a folder inside, with its path, is dear and stays.
        """
        try:
            yield
        except Exception:
            if self._new and not os.path.exists(self.file(_STATE)):
                self._remove(kept)
            raise

    def _remove(self, kept: Callable[[str], bool]) -> None:
        with contextlib.suppress(OSError):
            for name in os.listdir(self.path):
                path = self.file(name)
                if not os.path.isdir(path):
                    os.remove(path)
                elif not kept(path):
                    shutil.rmtree(path)
            os.rmdir(self.path)  # Fails where something stays.

    def file(self, *parts: str) -> str:
        """A path inside."""
        return os.path.join(self.path, *parts)

    def begin(self, config: Mapping[str, Any], free: Sequence[str] = ()) -> None:
        """Keeps what the run is made from; on a resumed run checks it is the same.

        Args:
            config: plain values.
            free: those that may differ, as `training.maxepoch`.

        Raises:
            InputError: the folder holds a run of something else.
        """
        plain = json.loads(json.dumps(config))
        self._check(plain, free, part=False)
        self._write_command()
        self.write_text("config.json", json.dumps(plain, indent=2) + "\n")

    def check(self, config: Mapping[str, Any], free: Sequence[str] = ()) -> None:
        """The check of `begin`, with a part of what the run is made from.

        Args:
            config: what is known before anything inside is touched.
            free: as in `begin`.

        Raises:
            InputError: as `begin`.
        """
        self._check(json.loads(json.dumps(config)), free, part=True)

    def _check(self, plain: Any, free: Sequence[str], part: bool) -> None:
        path = self.file("config.json")
        if self.load_state() is None or not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            before = json.load(file)
        told = _first_difference(
            _inside(before, plain) if part else before, plain, free
        )
        if told:
            raise InputError(
                f"{self.path}: holds a run with {told}; give another folder, or "
                "remove this one to start anew."
            )

    def _write_command(self) -> None:
        self.write_text("command.txt", self.command + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Replaces a text file."""
        files.write_text(self.file(name), text)

    def save_state(self, state: Mapping[str, Any]) -> None:
        """Replaces the state that `load_state` gives."""
        self.write_text(_STATE, json.dumps(state, indent=1) + "\n")

    def load_state(self) -> dict[str, Any] | None:
        """The last saved state; None in a new folder."""
        path = self.file(_STATE)
        if not os.path.exists(path):
            return None
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
        except ValueError as error:
            raise InputError(
                f"{path}: cannot be read ({error}); remove the folder to start anew."
            ) from None

    def write_history(self, rows: Sequence[Any]) -> None:
        """Replaces `history.csv`; the rows are dataclasses of one kind."""
        text = io.StringIO()
        fields = [field.name for field in dataclasses.fields(rows[0])]
        writer = csv.DictWriter(text, fields, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(dataclasses.asdict(row))
        self.write_text("history.csv", text.getvalue())

    def link(self, target: str, name: str) -> None:
        """Points `name` at `target`, both inside; a copy where links cannot be."""
        at = self.file(name)
        relative = os.path.relpath(self.file(target), os.path.dirname(at))
        partial = f"{at}.partial"
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)
        try:
            os.symlink(relative, partial)
        except OSError:
            shutil.copyfile(self.file(target), partial)
        os.replace(partial, at)

    @contextlib.contextmanager
    def log(self, name: str) -> Iterator["Log"]:
        """Opens `log/NAME` anew; its first line is the command."""
        path = self.file("log", name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            log = Log(file)
            log.write(self.command)
            yield log


class Log:
    """One log file; every line is on disk at once."""

    def __init__(self, file: TextIO):
        self._file = file

    def write(self, text: str) -> None:
        """Writes lines."""
        self._file.write(text + "\n")
        self._file.flush()


def _inside(values: Any, part: Any) -> Any:
    """`values` without what `part` does not name."""
    if not isinstance(values, dict) or not isinstance(part, dict):
        return values
    return {
        key: _inside(value, part[key]) for key, value in values.items() if key in part
    }


def _first_difference(
    before: Any, now: Any, free: Sequence[str], path: str = ""
) -> str:
    """What differs, in words; '' if nothing."""
    if path in free:
        return ""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in {**before, **now}:
            name = f"{path}.{key}" if path else key
            told = _first_difference(before.get(key), now.get(key), free, name)
            if told:
                return told
        return ""
    return "" if before == now else f"{path} {before!r}, not {now!r}"
