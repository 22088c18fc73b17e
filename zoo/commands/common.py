"""What commands share: flags, logging, TensorFlow's start, finding networks."""

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError

GENERAL_FLAGS = ("help", "verbose", "traceback")
"""Flags that every command has."""


command: list[str] = []
"""The words of the command that runs, `seqzoo` first; `main` sets them."""


class UsageError(Exception):
    """The command was given the wrong words; it ends with its usage and exit code 2."""


def check_args(args: Sequence[str], least: int, most: int | None, what: str) -> None:
    """Checks how many words that are no flags a command was given.

    Args:
        args: the words.
        least: fewer are an error.
        most: more are an error; None is any number.
        what: what the command takes, as in "give IN and OUT".

    Raises:
        UsageError: if it is another number.
    """
    if len(args) < least or (most is not None and len(args) > most):
        found = f"{len(args)}: {' '.join(args)}" if args else "none"
        raise UsageError(f"{what}; found {found}.")


def define_general(flag_values: absl.flags.FlagValues) -> None:
    """Defines `GENERAL_FLAGS`."""
    absl.flags.DEFINE_bool("help", False, "print this", flag_values=flag_values)
    absl.flags.DEFINE_integer(
        "verbose",
        0,
        "how much to log: 0 what happens, 1 and more details, -1 warnings only",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "traceback",
        False,
        "print where in the program an error arose",
        flag_values=flag_values,
    )


def define_threads(flag_values: absl.flags.FlagValues) -> None:
    """Defines `--threads`, which `start_tensorflow` reads."""
    absl.flags.DEFINE_integer(
        "threads",
        0,
        "threads to compute with; 0 is one for each core",
        lower_bound=0,
        flag_values=flag_values,
    )


def define_allow_pipes(flag_values: absl.flags.FlagValues) -> None:
    """Defines `--allow_pipes`."""
    absl.flags.DEFINE_bool(
        "allow_pipes",
        False,
        "run the commands (`... |`) that stand in scp files; one given as a table "
        "itself always runs",
        flag_values=flag_values,
    )


def define_part(flag_values: absl.flags.FlagValues) -> None:
    """Which part of a network is used."""
    absl.flags.DEFINE_string(
        "block",
        None,
        "of a network for several languages the one to use, by name or number from 1",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_alias("blocksoftmax_active", "block", flag_values=flag_values)
    absl.flags.DEFINE_integer(
        "remove_last_components",
        0,
        "leave out so many at the end of the network; 4 gives bottleneck features",
        lower_bound=0,
        flag_values=flag_values,
    )


def part(flags: absl.flags.FlagValues) -> dict[str, Any]:
    """What `trained_model.read` is told of it."""
    return {
        "block": flags.block,
        "remove_last_components": flags.remove_last_components,
    }


def define_use_gpu(flag_values: absl.flags.FlagValues, default: str) -> None:
    """Defines `--use_gpu`, which `choose_device` reads."""
    absl.flags.DEFINE_enum(
        "use_gpu",
        default,
        ["no", "yes", "optional"],
        "compute on a GPU; optional is where there is one",
        flag_values=flag_values,
    )


def choose_device(tf: ModuleType, use_gpu: str) -> None:
    """Hides the GPUs, or raises InputError if one is wanted and there is none."""
    gpus = tf.config.list_physical_devices("GPU")
    if use_gpu == "yes" and not gpus:
        raise InputError("--use_gpu=yes: there is no GPU; optional takes one if it is.")
    if use_gpu == "no" and gpus:
        tf.config.set_visible_devices([], "GPU")


def choose_training_device(tf: ModuleType, flags: absl.flags.FlagValues) -> None:
    """The same by the flags of training, of which one wants a GPU too."""
    choose_device(tf, flags.use_gpu)
    if not flags.skip_cuda_check and not tf.config.list_physical_devices("GPU"):
        raise InputError(
            "--skip_cuda_check=false: there is no GPU; leave the flag out to train on "
            "the CPU."
        )


def start_tensorflow(flags: absl.flags.FlagValues) -> ModuleType:
    """Imports TensorFlow without its start-up lines, with `--threads` threads.

    With `TF_CPP_MIN_LOG_LEVEL` in the environment, lines of that level and above come.
    """
    quiet = "TF_CPP_MIN_LOG_LEVEL" not in os.environ
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    with _no_stderr() if quiet else contextlib.nullcontext():
        import tensorflow as tf

        tf.config.list_physical_devices()  # Says that it looks for GPUs.
    if flags.threads:
        try:
            tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
            tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
        except RuntimeError:
            raise InputError(
                f"--threads={flags.threads}: TensorFlow is running already, with "
                f"{tf.config.threading.get_intra_op_parallelism_threads()} (0: all)."
            ) from None
    return tf


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """Keeps what libraries write to standard error, and drops it if all goes well.

    The first lines of TensorFlow's libraries heed no setting.
    """
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), 2)
        try:
            yield
        except BaseException:
            written.seek(0)
            os.write(stderr, written.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def start_logging(name: str, flags: absl.flags.FlagValues) -> None:
    """Sends the program's log to standard error, as `LOG (seqzoo train) ...`."""
    logger = logging.getLogger("seqzoo")
    logger.handlers = [_Handler(name)]
    logger.propagate = False
    if flags.verbose > 0:
        logger.setLevel(logging.DEBUG)
    else:
        logger.setLevel(logging.WARNING if flags.verbose < 0 else logging.INFO)


class _Handler(logging.Handler):
    _LEVELS = {logging.DEBUG: "VLOG", logging.INFO: "LOG"}

    def __init__(self, name: str):
        super().__init__()
        self._name = name

    def emit(self, record: logging.LogRecord) -> None:
        level = self._LEVELS.get(record.levelno, record.levelname)
        line = f"{level} ({self._name}) {record.getMessage()}"
        if record.exc_info:
            line += "\n" + logging.Formatter().formatException(record.exc_info)
        try:
            if tqdm := sys.modules.get("tqdm"):
                tqdm.tqdm.write(line, file=sys.stderr)  # Above a progress bar.
            else:
                print(line, file=sys.stderr, flush=True)
        except OSError:
            pass  # Nobody reads it.


def check_acoustic(path: str) -> None:
    """Raises InputError if `path` is a language model, and no network of Kaldi's kind.

    Args:
        path: a model that a command was given.
    """
    from seqzoo.zoo.training import run_kind

    if run_kind.is_language(path):
        raise InputError(
            f"{path}: is a language model; `seqzoo eval`, `sample`, `info`, `curves` "
            "and `export` take it."
        )


def nnet_file(path: str) -> str:
    """The nnet1 file that `path` names: itself, or `final.nnet` of a run folder."""
    check_acoustic(path)
    if not os.path.isdir(path):
        return path
    inside = os.path.join(path, "final.nnet")
    if not os.path.exists(inside):
        raise InputError(
            f"{path}: a folder without final.nnet; give a network's file or the folder "
            "of a run that ended."
        )
    return inside
