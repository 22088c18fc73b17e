"""`seqzoo curves`: learning curves of several runs, in one picture or table."""

import os
import sys

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common

USAGE = """
seqzoo curves RUN... [--png FILE] [--csv FILE] [--dumpcsv]

Draws the learning curves of runs into one picture: errors of the training and the
validation set by epoch, beside them validation perplexities if a run has some, and of a
single run its learning rate. RUN is a run folder, or the .t7 file that Torch's scripts
saved. Without flags the picture is curves.png, here.
"""

_DUMPED = "learningcurves"


def define(flag_values: absl.flags.FlagValues) -> None:
    """Defines the command's flags."""
    absl.flags.DEFINE_string("png", None, "the picture's file", flag_values=flag_values)
    absl.flags.DEFINE_string(
        "csv",
        None,
        "write a table with the columns epoch, trainerr, validerr; that of several "
        "runs begins with a column run; - is standard output",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "dumpcsv",
        False,
        f"write a table for each run, {_DUMPED}/RUN.csv, as evaluate-rnnlm.lua does",
        flag_values=flag_values,
    )


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Draws and writes."""
    common.check_args(args, 1, None, "give runs")

    from seqzoo.zoo.language import curves_picture, learning_curves

    curves = learning_curves.read_all(args)
    png = flags.png
    if png is None and flags.csv is None and not flags.dumpcsv:
        png = "curves.png"
    if png is not None:
        if not png.endswith(".png"):
            raise InputError(f"--png={png}: a name that ends with .png is taken.")
        _make_folder(png)
        curves_picture.draw(curves, png)
        print(png)
    if flags.csv == "-":
        sys.stdout.write(learning_curves.table(curves))
    elif flags.csv is not None:
        _write(flags.csv, learning_curves.table(curves))
    if flags.dumpcsv:
        for one in curves:
            name = one.name.replace(os.sep, "_")
            _write(os.path.join(_DUMPED, f"{name}.csv"), learning_curves.table([one]))


def _write(path: str, text: str) -> None:
    from seqzoo.datasets import files

    _make_folder(path)
    files.write_text(path, text)
    print(path)


def _make_folder(path: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
