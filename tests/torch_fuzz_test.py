"""Damaged Torch7 files: a value or an error of one line, and no memory beyond them."""

import pathlib
import tracemalloc

import numpy as np
import pytest

from seqzoo.datasets import torch_file
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import torch_rnn, torch_tree, xplog

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
_FILES = sorted([*_GOLDENS.glob("t7/*.t7"), _GOLDENS / "gbw_tiny" / "word_map.th7"])
_DAMAGED = 5_000
_NUMBERS = (-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 127, 2**31 - 1, -(2**31))


def _mutated(data, rng):
    data = bytearray(data)
    text = data[:1].isdigit()
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(data))) if data else 0
        how = rng.integers(6)
        if how == 0:
            data[place : place + 1] = rng.bytes(1)
        elif how == 1:
            del data[place : place + int(rng.integers(1, 40))]
        elif how == 2:
            data[place:place] = rng.bytes(int(rng.integers(1, 8)))
        elif how == 3:
            start = int(rng.integers(max(1, len(data))))
            data[place:place] = data[start : start + 40]
        elif how == 4:
            del data[place:]
        else:
            number = _NUMBERS[rng.integers(len(_NUMBERS))]
            if text:
                data[place : place + 1] = b"%d" % number
            else:
                place -= place % 4  # Most of what counts stands there.
                data[place : place + 4] = number.to_bytes(4, "little", signed=True)
    return bytes(data)


def _use(data):
    """Everything that is done with a file; the error there was, or None."""
    try:
        value = torch_file.parse(data, "x.t7")
    except InputError as error:
        assert str(error).startswith("x.t7:")
        assert "\n" not in str(error) and len(str(error)) < 1000
        return str(error)
    text = torch_tree.tree(value)
    assert text.endswith("\n") and text.isprintable() is False
    for read in (xplog.parse, torch_rnn.parse):
        with pytest.raises(InputError):
            read(value, "x.t7")
    return None


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name)
def test_damaged_files_are_input_errors_or_values(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(len(whole))
    count = -(-_DAMAGED // len(_FILES))
    tracemalloc.start()
    try:
        errors = [_use(_mutated(whole, rng)) for _ in range(count // 10)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    errors += [_use(_mutated(whole, rng)) for _ in range(count - len(errors))]
    assert sum(error is not None for error in errors) > count / 10
    assert peak < 45 * len(whole) + 500_000


def test_damaged_logs_are_input_errors_or_values():
    whole = (_GOLDENS / "gbw_tiny" / "xplog_tiny.t7").read_bytes()
    rng = np.random.default_rng(1)
    read = 0
    for _ in range(150):
        try:
            log = xplog.parse(torch_file.parse(_mutated(whole, rng), "x"), "x")
            assert len(log.words) == log.layers[-1].bias.size
            read += 1
        except InputError as error:
            assert str(error).startswith("x:") and "\n" not in str(error)
    assert 0 < read < 150
