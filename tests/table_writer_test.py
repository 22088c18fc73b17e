import os
import time

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.table_writer import Writer, write_object


def test_scp_offsets_point_at_the_objects(tmp_path):
    with Writer(f"ark,scp:{tmp_path / 'a'},{tmp_path / 's'}", "vector") as writer:
        writer.write("k", [1, 2])
        writer.write("key2", [3])
    assert (tmp_path / "s").read_text() == (
        f"k {tmp_path / 'a'}:2\nkey2 {tmp_path / 'a'}:25\n"
    )
    assert (tmp_path / "a").read_bytes()[25:27] == b"\0B"


def test_nothing_is_left_after_an_exception(tmp_path):
    with pytest.raises(RuntimeError):
        with Writer(f"ark,scp:{tmp_path / 'a'},{tmp_path / 's'}") as writer:
            writer.write("k", np.ones((2, 2)))
            raise RuntimeError
    assert os.listdir(tmp_path) == []
    with pytest.raises(InputError):
        Writer(f"ark,scp:{tmp_path / 'a'},{tmp_path / 'none' / 's'}")
    assert os.listdir(tmp_path) == []


def test_a_writer_that_is_dropped_leaves_nothing(tmp_path):
    writer = Writer(f"ark:{tmp_path / 'a'}")
    writer.write("k", np.ones((2, 2)))
    del writer
    assert os.listdir(tmp_path) == []


def test_targets_named_by_an_scp(tmp_path):
    (tmp_path / "s").write_text(f"a {tmp_path / 'a.mat'}\n")
    with Writer(f"scp,t:{tmp_path / 's'}") as writer:
        writer.write("a", [[1, 2]])
        with pytest.raises(InputError, match="there is no line for 'b'"):
            writer.write("b", [[1, 2]])
    assert (tmp_path / "a.mat").read_bytes() == b" [\n  1 2 ]\n"
    with Writer(f"scp,p:{tmp_path / 's'}") as writer:
        writer.write("b", [[1, 2]])


def test_a_command_and_standard_output(tmp_path, capsysbinary):
    with Writer(f"ark,t:| cat > {tmp_path / 'a'}", "int32_vector") as writer:
        writer.write("k", [1, -2])
    assert (tmp_path / "a").read_bytes() == b"k 1 -2 \n"
    with Writer("ark,t:-", "tokens") as writer:
        writer.write("k", ["a", "b"])
    assert capsysbinary.readouterr().out == b"k a b \n"


# Before the first byte is written, while many are, and at the end.
@pytest.mark.parametrize("command", ["exit 1", "head -c 9 > /dev/null; exit 1"])
@pytest.mark.parametrize("rows", [1, 1 << 20])
@pytest.mark.parametrize("wait", [0, 0.2])
def test_a_command_that_fails(command, rows, wait):
    with pytest.raises(InputError, match=r"failed \(exit 1\)"):
        with Writer(f"ark:| {command}") as writer:
            time.sleep(wait)
            writer.write("k", np.zeros((rows, 1), np.float32))
            writer.write("l", np.zeros((rows, 1), np.float32))


@pytest.mark.parametrize("key", ["", "a b", " a", "a\n", "\0"])
def test_what_cannot_be_a_key(tmp_path, key):
    with pytest.raises(InputError, match="cannot be a key"):
        with Writer(f"ark:{tmp_path / 'a'}") as writer:
            writer.write(key, [[1]])


@pytest.mark.parametrize(
    "kind, value, message",
    [
        ("matrix", [1, 2], r"'k': a matrix has 2 axes, but the value has shape \(2,\)"),
        ("vector", [[1]], "a vector has 1 axes"),
        ("int32_vector", [0.5], "1 axis of integers.* float64"),
        ("int32_vector", [2**31], "beyond int32"),
        ("token", "a b", "'a b' is not one word"),
        ("tokens", ["a", ""], "'' is not one word"),
    ],
)
def test_values_of_another_kind(tmp_path, kind, value, message):
    with pytest.raises(InputError, match=message):
        with Writer(f"ark:{tmp_path / 'a'}", kind) as writer:
            writer.write("k", value)


def test_numbers_of_any_type_are_taken(tmp_path):
    value = np.arange(6).reshape(3, 2)
    for given in (value, value.astype(np.float16), value.T.copy().T, value.tolist()):
        write_object(f"{tmp_path / 'm'}", given, kind="matrix")
        assert tables.read_object(f"{tmp_path / 'm'}").tolist() == value.tolist()


def test_compressed_single_objects(tmp_path):
    write_object(f"{tmp_path / 'm'}", np.ones((2, 2)), compression_method=3)
    assert (tmp_path / "m").read_bytes()[:6] == b"\0BCM2 "
    with pytest.raises(InputError, match="compression method 9"):
        Writer(f"ark:{tmp_path / 'a'}", compression_method=9)
