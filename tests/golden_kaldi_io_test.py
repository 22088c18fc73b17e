"""The recorded Kaldi commands of goldens/kaldi/io, run through our tables.

Each line of commands.txt is run in a copy of the folder. What it writes is compared
with the recorded file of that name, byte for byte; what goes to tmp.ark, with the
values of `<input>.expected.txt`; what a `.log` tells (exit code, output), with that.
"""

import functools
import pathlib
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError

FOLDER = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "io"
COMMANDS = FOLDER.joinpath("commands.txt").read_text().splitlines()

# Kaldi writes 20 bytes for an empty compressed matrix and cannot read on itself.
# We write the 16 that both can read, and read both.
OURS_IS_BETTER = {"empty_cm.ark"}


@functools.cache
def logs():
    """The recorded (exit code, standard output) of the commands that have a log."""
    found = {}
    for log in FOLDER.glob("*.log"):
        text = log.read_text()
        command = text.split("\n", 1)[0].removeprefix("$ ")
        code = int(re.search(r"\[rc=(-?\d+)\]", text)[1])
        stdout = re.search(r"\[stdout\]\n(.*)\n\[rc=", text, re.DOTALL)
        found[command] = code, stdout[1] if stdout else ""
    return found


def copy_table(kind, options, source, target):
    method = 0
    if options.get("compress") == "true":
        method = int(options.get("compression-method", 1))
    with tables.Writer(target, kind, method) as writer:
        for key, value in tables.read(source, kind, allow_pipes=True):
            writer.write(key, value)


def is_table(name):
    return re.match(r"[a-z,]*\b(ark|scp)\b[a-z,]*:", name)


def copy_matrix(options, source, target):
    if is_table(source):
        return copy_table("matrix", options, source, target)
    binary = options.get("binary") != "false"
    tables.write_object(target, tables.read_object(source), binary)


def feat_to_len(options, source, target):
    with tables.Writer(target, "int32_vector") as writer:
        for key, (rows, _) in tables.shapes(source):
            writer.write(key, [rows])


def feat_to_dim(options, source, target):
    _, (_, cols) = next(tables.shapes(source))
    pathlib.Path(target).write_text(f"{cols}\n")


PROGRAMS = {
    "copy-feats": functools.partial(copy_table, "matrix"),
    "copy-matrix": copy_matrix,
    "copy-vector": functools.partial(copy_table, "vector"),
    "copy-int-vector": functools.partial(copy_table, "int32_vector"),
    "copy-post": functools.partial(copy_table, "posterior"),
    "feat-to-len": feat_to_len,
    "feat-to-dim": feat_to_dim,
}


def files_of(specifier):
    """The files that an rspecifier or wspecifier names, if they are plain."""
    name = specifier.split(":", 1)[1] if is_table(specifier) else specifier
    return [] if "|" in name or name == "-" else name.split(",")


def assert_same_values(ours, recorded):
    """Two tables have the same keys and float32 values."""
    found, expected = list(tables.read(ours)), list(tables.read(recorded))
    assert [key for key, _ in found] == [key for key, _ in expected]
    for (key, left), (_, right) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(left, right, err_msg=key)


def assert_as_recorded(line, source, target, capsysbinary):
    checked = False
    for name in files_of(target):
        recorded = FOLDER / name
        if name == "tmp.ark":
            expected = FOLDER / (
                pathlib.Path(files_of(source)[0]).stem + ".expected.txt"
            )
            if expected.exists():
                assert_same_values("ark:tmp.ark", f"ark:{expected}")
                checked = True
        elif name in OURS_IS_BETTER:
            assert_same_values(f"ark:{name}", f"ark:{recorded}")
            checked = True
        elif name.endswith(".expected.txt"):
            assert_same_values(f"ark:{name}", f"ark:{recorded}")
            checked = True
        elif recorded.exists():
            assert pathlib.Path(name).read_bytes() == recorded.read_bytes(), name
            checked = True
    if target.endswith(":-"):
        stdout = capsysbinary.readouterr().out.decode()
        assert stdout == logs()[line][1]
        checked = True
    if "| gzip -c > out.gz" in target:
        assert_same_values("ark:out.gz", "ark:" + source.split(":", 1)[1])
        checked = True
    assert checked, f"nothing recorded to compare {line!r} with"


@pytest.mark.parametrize("line", COMMANDS)
def test_golden_kaldi_io(line, tmp_path, monkeypatch, capsysbinary):
    for path in FOLDER.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    program, *rest = shlex.split(line)
    if program not in PROGRAMS:
        subprocess.run(line, shell=True, check=True)
        for packed in re.findall(r"\S+\.ark\.gz", line):
            assert_same_values(f"ark:{packed}", f"ark:{FOLDER / packed}")
        return
    pairs = [word[2:].split("=", 1) for word in rest if word.startswith("--")]
    source, target = (word for word in rest if not word.startswith("--"))
    run = functools.partial(PROGRAMS[program], dict(pairs), source, target)
    code, stdout = logs().get(line, (0, ""))
    if code and "empty_cm" in line:
        run()
        lines = stdout.splitlines()
        assert (
            capsysbinary.readouterr().out.decode().splitlines()[: len(lines)] == lines
        )
    elif code:
        with pytest.raises(InputError):
            run()
    else:
        run()
        assert_as_recorded(line, source, target, capsysbinary)


def test_golden_kaldi_io_writes_what_kaldi_recorded_as_float():
    assert_same_values(
        f"ark:{FOLDER / 'src_float.ark'}", f"ark:{FOLDER / 'expected_float.txt'}"
    )
