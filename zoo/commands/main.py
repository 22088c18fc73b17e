"""The command `seqzoo`: runs the command named with its flags, tells its errors."""

import importlib
import io
import os
import re
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line, common, help_page

COMMANDS = {
    "models": "lists the models, or one model's settings",
    "train": "trains a model",
    "eval": "scores a set of utterances, or a text, with a model",
    "sample": "draws text from a language model",
    "forward": "turns features into a model's outputs",
    "import": "makes a run folder of a model of an old toolkit",
    "export": "makes a SavedModel of a trained model",
    "info": "prints what a network is made of",
    "curves": "draws the learning curves of several runs",
    "copy": "copies a network: text or binary, cut, with another dropout rate",
    "data": "lists the bundled corpora, or copies one",
}
"""What each command does. The command NAME is the module `NAME_command` beside this
one: its `USAGE` text, `define(flag_values)` and `run(args, flags)`; maybe also
`settings(words)`, the names that its `--set` takes, and `instead(words)`, the module
that takes these words in its place. It is imported when it is run, and imports
TensorFlow only when it needs that."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line.

    Args:
        argv: its words after `seqzoo`; None takes those of this process.

    Returns:
        The exit code: 0, 1 after an error that was told in a line on standard error,
        2 after a usage error, 130 when interrupted, 141 when nobody reads the output.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    # NumPy's own threads would fight TensorFlow's, and `--threads` does not reach them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    asked = words[:1] == ["help"]
    if asked:
        words = [*words[1:2], "--help"]
    if not words:
        print(_overview(), file=sys.stderr)
        return 2
    if words[0] in ("-h", "--help"):
        return _print(_overview())
    if words[0] == "--version":
        return _print(f"seqzoo {_version()}")
    name = words[0]
    if name not in COMMANDS:
        kind = "flag before a command" if name.startswith("-") else "command"
        near = command_line.nearest(name, COMMANDS)
        hint = f"did you mean {near}?" if near else "`seqzoo --help` lists them."
        return _fail("seqzoo", f"{name!r} is not a {kind}; {hint}")
    return _run(name, words[1:])


def load(
    name: str, words: Sequence[str] = ()
) -> tuple[ModuleType, absl.flags.FlagValues]:
    """A command's module, and its flags with those that every command has.

    Args:
        name: of the command.
        words: those after it, which may choose among modules.
    """
    module = importlib.import_module(f"seqzoo.zoo.commands.{name}_command")
    if other := getattr(module, "instead", lambda _: None)(words):
        module = importlib.import_module(f"seqzoo.zoo.commands.{other}")
    flag_values = absl.flags.FlagValues()
    module.define(flag_values)
    common.define_general(flag_values)
    return module, flag_values


def _run(name: str, words: Sequence[str]) -> int:
    full_name = f"seqzoo {name}"
    common.command[:] = ["seqzoo", name, *words]
    show_traceback = "--traceback" in words
    try:
        module, flags = load(name, words)
        settings = getattr(module, "settings", None)
        args = command_line.parse(words, flags, full_name, settings)
        if flags.help:
            return _print(help_page.page(module.USAGE, flags))
        show_traceback = flags.traceback
        common.start_logging(full_name, flags)
        code = module.run(args, flags) or 0
        sys.stdout.flush()
        return code
    except common.UsageError as error:
        usage = module.USAGE.strip().splitlines()[0]
        return _fail(full_name, f"{error}\nusage: {usage}", code=2)
    except KeyboardInterrupt:
        return _fail(full_name, "interrupted.", show_traceback, code=130)
    except Exception as error:
        if _nobody_reads(error):
            return _close_output()
        message = _message(error)
        if message is None:
            raise
        return _fail(full_name, message, show_traceback)


def _message(error: Exception) -> str | None:
    """What to tell of an error; None if it is a fault of the program."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and isinstance(error, tensorflow.errors.OpError):
        # An input pipeline wraps what the reading of a file raised.
        raised = re.search(rf"\b{InputError.__name__}: (.+)", error.message)
        return raised[1] if raised else _line(error.message.strip().split("\n")[0])
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    if isinstance(error, MemoryError):
        return f"out of memory. {_line(str(error))}".strip()
    if isinstance(error, (ValueError, OSError)):
        return _line(str(error)) or type(error).__name__
    return None


def _line(text: str) -> str:
    return " ".join(text.split())


def _fail(name: str, message: str, show_traceback: bool = False, code: int = 1) -> int:
    if show_traceback and sys.exc_info()[0] is not None:
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError:
        pass
    print(f"{name}: {message}", file=sys.stderr)
    return code


def _print(text: str) -> int:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        return _close_output()
    return 0


def _nobody_reads(error: BaseException) -> bool:
    return isinstance(error, BrokenPipeError) or (
        isinstance(error, InputError) and isinstance(error.__context__, BrokenPipeError)
    )


def _close_output() -> int:
    """Keeps Python from reporting once more, at its end, that nobody reads."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except io.UnsupportedOperation:
        pass
    return 141


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("seqzoo")
    except metadata.PackageNotFoundError:
        return "run from its source, not installed"


def _overview() -> str:
    width = max(map(len, COMMANDS))
    return "\n".join(
        [
            "usage: seqzoo COMMAND ...",
            "",
            *(f"  {name:{width}}  {does}" for name, does in COMMANDS.items()),
            "",
            "`seqzoo COMMAND --help` tells what a command takes.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
