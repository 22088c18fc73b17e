"""Damaged network files: an error of one line, and no memory beyond what they hold."""

import io
import pathlib
import re
import struct
import tracemalloc

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, nnet1, nnet_info

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"
_NETS = sorted(_GOLDENS.glob("comp_*/nnet.???"))
_DAMAGED = 10_000


def _mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        if not data:
            break
        place = int(rng.integers(len(data)))
        how = rng.integers(5)
        if how == 0:
            data[place] = int(rng.integers(256))
        elif how == 1:
            del data[place : place + int(rng.integers(1, 40))]
        elif how == 2:
            data[place:place] = rng.bytes(int(rng.integers(1, 8)))
        elif how == 3:
            start = int(rng.integers(len(data)))
            data[place:place] = data[start : start + 20]
        else:
            # Another number: a digit of a text, or a byte of a size.
            numbers = [match.start() for match in re.finditer(rb"\d|\x04", data)]
            if numbers:
                at = numbers[int(rng.integers(len(numbers)))]
                data[at : at + 1] = (b"0", b"9", b"-", b"99", b"1e9")[rng.integers(5)]
    return bytes(data)


def _use(data):
    """Everything that is done with a network; the error there was, or None."""
    try:
        nnet = nnet1.parse(io.BytesIO(data), "net")
    except InputError as error:
        assert "\n" not in str(error) and len(str(error)) < 2000
        return str(error)
    for binary in (True, False):
        again = nnet1.to_bytes(nnet, binary)
        assert nnet1.to_bytes(nnet1.parse(io.BytesIO(again), "net"), binary) == again
    with np.errstate(all="ignore"):
        nnet_info.info(nnet)
        if nnet.input_dim < 1000 and nnet.output_dim < 1000:
            outputs = nnet.propagate(np.ones((3, nnet.input_dim), np.float32))
            assert outputs.shape == (3, nnet.output_dim)
    return None


def test_the_goldens_hold_all_components():
    text = b"".join(path.read_bytes() for path in _NETS if path.suffix == ".txt")
    assert not [m for m in components.supported() if m.encode() not in text]
    assert len(components.supported()) == 27


@pytest.mark.parametrize(
    "path", _NETS, ids=lambda path: f"{path.parent.name}{path.suffix}"
)
def test_damaged_files_are_input_errors_and_nothing_else(path):
    whole = path.read_bytes()
    rng = np.random.default_rng(len(whole))
    count = -(-_DAMAGED // len(_NETS))
    errors = [_use(_mutated(whole, rng)) for _ in range(count)]
    assert sum(error is not None for error in errors) > count / 10


def _with_large_numbers(path):
    """The file with each of its whole numbers in turn made huge."""
    whole = path.read_bytes()
    for value in (2**31 - 1, 100_000_007, -1):
        if path.suffix == ".bin":
            for match in re.finditer(rb"\x04(?=....)", whole, re.DOTALL):
                at = match.end()
                yield whole[:at] + struct.pack("<i", value) + whole[at + 4 :]
        else:
            for match in re.finditer(rb"(?<= )\d+(?= )", whole):
                yield whole[: match.start()] + b"%d" % value + whole[match.end() :]


@pytest.mark.parametrize(
    "path", _NETS, ids=lambda path: f"{path.parent.name}{path.suffix}"
)
def test_large_numbers_in_files_take_no_memory(path):
    tracemalloc.start()
    try:
        for data in _with_large_numbers(path):
            try:
                nnet1.parse(io.BytesIO(data), "net")
            except InputError:
                pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(path.read_bytes()) + 300_000
