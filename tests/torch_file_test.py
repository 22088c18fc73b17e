"""Torch7 object files: hand-made ones, round trips, and what is wrong with others."""

import gzip
import struct

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis.extra import numpy as hnp

from seqzoo.datasets import torch_file, torch_writer
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.torch_values import (
    TableKey,
    TorchFunction,
    TorchObject,
    as_list,
)

_DTYPES = ["u1", "i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8"]


def _ints(*values):
    return struct.pack(f"<{len(values)}i", *values)


def _longs(*values):
    return struct.pack(f"<{len(values)}q", *values)


def _string(text):
    return _ints(len(text)) + text


def _number(value):
    return _ints(1) + struct.pack("<d", value)


def _storage(index, kind=b"Float", data=b"\0\0\x80\x3f\0\0\0\x40", size=2):
    head = _ints(4, index) + _string(b"V 1") + _string(b"torch.%sStorage" % kind)
    return head + _longs(size) + data


def _tensor(shape, strides, offset, storage, index=1, kind=b"Float"):
    head = _ints(4, index) + _string(b"V 1") + _string(b"torch.%sTensor" % kind)
    sizes = _ints(len(shape)) + _longs(*shape, *strides, offset)
    return head + sizes + storage


def _parse(data, **options):
    return torch_file.parse(data, "x.t7", **options)


def _arrays():
    shapes = hnp.array_shapes(min_dims=1, max_dims=4, max_side=4)
    return st.sampled_from(_DTYPES).flatmap(
        lambda dtype: (
            hnp.arrays(dtype, shapes, elements={"allow_nan": False})
            if "f" in dtype
            else hnp.arrays(dtype, shapes)
        )
    )


_KEYS = st.one_of(
    st.text(max_size=6),
    st.integers(-5, 12),
    st.floats(allow_nan=False, allow_infinity=False).map(
        lambda value: int(value) if value.is_integer() else value
    ),
    st.booleans().map(TableKey),
)
_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.floats(allow_nan=False),
        st.text(max_size=8),
        st.binary(max_size=8).filter(lambda data: _as_read(data) == data),
        _arrays(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4),
        st.dictionaries(_KEYS, inner, max_size=4).filter(
            lambda d: as_list(d) in ([], None)
        ),
        st.dictionaries(st.text(max_size=4), inner, max_size=3).map(
            lambda fields: TorchObject("nn.Thing", fields)
        ),
    ),
    max_leaves=12,
)


def _as_read(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _check_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, strict=True)
    elif isinstance(one, TorchObject):
        assert one.class_name == other.class_name
        _check_same(one.fields, other.fields)
    elif isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            _check_same(a, b)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            _check_same(one[key], other[key])
    else:
        assert one == other


@hypothesis.settings(max_examples=150, deadline=None, derandomize=True)
@hypothesis.given(value=_VALUES, ascii=st.booleans())
def test_what_is_written_is_read(value, ascii):
    _check_same(value, _parse(torch_writer.to_bytes(value, ascii=ascii)))


def test_a_file_is_mapped_and_its_arrays_are_views(tmp_path):
    path = str(tmp_path / "x.t7")
    base = np.arange(12, dtype="<f4").reshape(3, 4)
    torch_writer.write(path, {"a": base, "again": base})
    found = torch_file.read(path)
    assert found["a"] is found["again"] and not found["a"].flags.writeable
    np.testing.assert_array_equal(found["a"], base)


def test_packed_files_and_pipes(tmp_path):
    data = torch_writer.to_bytes([1.0, "two"])
    (tmp_path / "x.t7.gz").write_bytes(gzip.compress(data))
    (tmp_path / "x.t7").write_bytes(data)
    assert torch_file.read(str(tmp_path / "x.t7.gz")) == [1.0, "two"]
    assert torch_file.read(f"cat {tmp_path}/x.t7 |") == [1.0, "two"]
    with pytest.raises(InputError, match="would run a command"):
        torch_file.read(f"cat {tmp_path}/x.t7 |", allow_pipes=False)


def test_lists_are_tables_with_keys_from_one_on():
    one, two = _number(1), _number(2)
    assert _parse(_ints(3, 1, 2) + two + _number(7) + one + _number(8)) == [8, 7]
    assert _parse(_ints(3, 1, 1) + two + _number(7)) == {2: 7}
    assert _parse(_ints(3, 1, 0)) == {}
    assert as_list({}) == [] and as_list({2: 1, 1: 0}) == [0, 1]
    assert as_list({2: 7}) is None and as_list("x") is None
    inside = _parse(_ints(3, 1, 1) + one + _ints(3, 1))  # t[1] = t
    assert inside == {1: inside} and as_list(inside)[0] is inside


def test_keys_that_python_would_mix_up():
    found = _parse(_ints(3, 1, 2) + _number(1) + _number(5) + _ints(5, 1) + _number(6))
    assert found == {1: 5, TableKey(True): 6} and TableKey(False) not in found
    (key,) = _parse(_ints(3, 1, 1, 3, 2, 0) + _number(5))
    assert key.value == {} and key != TableKey({}) and key == TableKey(key.value)


def test_views_of_one_storage():
    pair = _tensor((2,), (1,), 1, _storage(2))
    second = _tensor((1, 2), (0, -1), 2, _ints(4, 2), index=3)
    first, last = _parse(_ints(3, 9, 2) + _number(1) + pair + _number(2) + second)
    np.testing.assert_array_equal(first, np.array([1, 2], "f4"), strict=True)
    np.testing.assert_array_equal(last, np.array([[2, 1]], "f4"), strict=True)
    assert np.shares_memory(first, last)


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("Tensor", "f8"),
        ("CudaTensor", "f4"),
        ("CudaDoubleTensor", "f8"),
        ("CudaLongTensor", "i8"),
        ("CudaByteTensor", "u1"),
        ("CudaHalfTensor", "f2"),
        ("HalfTensor", "f2"),
        ("ShortTensor", "i2"),
    ],
)
def test_classes_of_tensors(name, dtype):
    kind = name.removesuffix("Tensor").encode()
    values = np.array([1, 2], dtype)
    storage = _storage(2, kind, values.tobytes())
    found = _parse(_tensor((2,), (1,), 1, storage, kind=kind))
    np.testing.assert_array_equal(found, values, strict=True)


def test_tensors_without_elements():
    for shape, expected in [((), (0,)), ((0,), (0,)), ((3, 0), (3, 0))]:
        found = _parse(_tensor(shape, shape, 1, _ints(0)))
        assert found.shape == expected and found.dtype == np.float32
    assert _parse(_storage(1, data=b"", size=0)).shape == (0,)


def test_old_files_have_no_versions():
    data = _tensor((2,), (1,), 1, _storage(2)).replace(_string(b"V 1"), b"")
    np.testing.assert_array_equal(_parse(data), [1, 2])
    thing = _parse(_ints(4, 1) + _string(b"nn.Thing") + _ints(3, 2, 0))
    assert thing.class_name == "nn.Thing" and thing.fields == {}


@pytest.mark.parametrize(
    "head",
    [
        _ints(6),  # without an index
        _ints(6, 1),
        _ints(7, 1),
        _ints(8, 1),
    ],
)
def test_functions_are_passed_over(head):
    data = _ints(3, 9, 2) + _ints(2) + _string(b"f")
    data += head + _string(b"\x1bLJ-code") + _ints(3, 10, 1) + _number(1) + _number(2)
    data += _ints(2) + _string(b"g") + _number(4)
    found = _parse(data)
    assert isinstance(found["f"], TorchFunction) and found["g"] == 4
    assert found["f"].code == b"\x1bLJ-code" and found["f"].upvalues == [2]
    with pytest.raises(InputError, match=r"x.t7:21: a Lua function, and none is taken"):
        _parse(data, functions=False)


def test_a_function_that_holds_itself():
    found = _parse(_ints(8, 1) + _string(b"\x1bLua") + _ints(8, 1))
    assert found.upvalues is found


def test_longs_of_four_bytes_are_found_out():
    value = {
        "sizes": np.array([7, 8, 9]),
        "none": np.zeros(0, "f4"),
        "zeros": np.zeros((2, 3), "f4"),
        "text": "after",
    }
    data = torch_writer.to_bytes(value, long_bytes=4)
    for options in ({}, {"long_bytes": 4}):
        found = _parse(data, **options)
        assert found["sizes"].tolist() == [7, 8, 9] and found["text"] == "after"
        np.testing.assert_array_equal(found["zeros"], value["zeros"], strict=True)
    with pytest.raises(InputError, match="x.t7:"):
        _parse(data, long_bytes=8)
    with pytest.raises(InputError, match="takes 9 bytes, but 8 are left"):
        _parse(data[:-1])  # Not what reading with longs of 8 bytes met.


def test_tensors_in_parts_are_joined():
    fields = _ints(3, 2, 1, 2) + _string(b"catdim") + _number(2)
    parts = [np.array([[1, 2], [3, 4]], "f4"), np.array([[5], [6]], "f4")]
    data = _ints(4, 1) + _string(b"V 1") + _string(b"torch.MultiCudaTensor")
    data += fields + _number(2)
    for i, part in enumerate(parts):
        storage = _storage(11 + 2 * i, data=part.tobytes(), size=part.size)
        tensor = _tensor(part.shape, (part.shape[1], 1), 1, storage, 10 + 2 * i)
        data += _number(i + 1) + tensor
    found = _parse(data)
    expected = np.array([[1, 2, 5], [3, 4, 6]], "f4")
    np.testing.assert_array_equal(found, expected, strict=True)
    with pytest.raises(InputError, match="parts that do not fit"):
        _parse(data.replace(_number(2) + _number(2), _number(1) + _number(2)))


def test_tds_vectors_and_hashes():
    head = _ints(4, 1) + _string(b"V 0")
    vec = head + _string(b"tds.Vec") + _longs(2) + _number(5) + _ints(4, 1)
    found = _parse(vec)
    assert found[0] == 5 and found[1] is found
    table = head + _string(b"tds.Hash") + _longs(1) + _number(1) + _ints(0)
    assert _parse(table) == {1: None}


def test_objects_nested_deeply():
    depth = 20_000
    data = b"".join(_ints(3, i, 1) + _number(1) for i in range(depth)) + _ints(0)
    value = _parse(data)
    for _ in range(depth):
        (value,) = value
    assert value is None


def test_text_of_other_systems_and_odd_numbers():
    data = b"3\r\n1\r\n1\r\n2\r\n1\r\na\r\n1\r\n-nan\r\n"
    assert np.isnan(_parse(data)["a"])
    tensor = b"4\n1\n3\nV 1\n17\ntorch.FloatTensor\n1\n2\n1\n1\n"
    storage = b"4\n2\n3\nV 1\n18\ntorch.FloatStorage\n2\n"
    found = _parse(tensor + storage + b"-inf 1e39\n")
    np.testing.assert_array_equal(found, np.array([-np.inf, np.inf], "f4"), strict=True)
    for line in (b"1\n", b"1 2 3\n", b"1 x\n", b"1 1_0\n", b""):
        with pytest.raises(InputError, match="x.t7:"):
            _parse(tensor + storage + line)
    with pytest.raises(InputError, match="where a number should be"):
        _parse(b"1\n1_0\n")


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "x.t7:0: the file is empty"),
        (b"PK\3\4....", "a file of PyTorch"),
        (b"\x1f\x8b......", "the file is packed"),
        (b"\0\0\0\3\0\0\0\1", "the file is big-endian"),
        (b"<Nnet> ", "begins with the type of an object, 0 to 8"),
        (_ints(9), "begins with the type of an object, 0 to 8"),
        (_ints(3, 1, 1, 77), "x.t7:12: an object of type 77, but the types are 0 to 8"),
        (_ints(3, 1, -1), "x.t7:8: a table of -1 entries"),
        (_ints(3, 1, 2**31 - 1), "a table of 2147483647 entries"),
        (_ints(3, 1, 1, 0, 0), "nil as a table's key"),
        (_ints(3, 1, 1) + _number(float("nan")) + _ints(0), "NaN as a table's key"),
        (_ints(2, 9) + b"abc", "a string takes 13 bytes, but 7 are left"),
        (_ints(2, -9) + b"abc", "a string takes -9 bytes"),
        (_ints(1, 0), "a number takes 8 bytes, but 4 are left"),
        (_ints(3), "the index of an object takes 4 bytes, but 0 are left"),
        (
            _ints(4, 1) + _string(b"V 1") + _string(b"a.B") + _ints(0),
            "'a.B' is written",
        ),
        (_tensor((2,), (1,), 2, _storage(2)), "reaches over elements 2 to 3 of a stor"),
        (_tensor((2,), (-1,), 1, _storage(2)), "reaches over elements 0 to 1"),
        (_tensor((-2,), (1,), 1, _storage(2)), "a negative size"),
        (_tensor((2**40, 2**40), (0, 0), 1, _storage(2)), "beyond all memory"),
        (_tensor((1,), (1,), 1, _ints(0)), "of a storage with 0"),
        (_tensor((1,), (1,), 1, _number(5)), "without a storage of its kind"),
        (_tensor((1,), (1,), 1, _storage(2, b"Int")), "without a storage of its kind"),
        (_tensor((1,), (1,), 1, _ints(4, 1)), "a tensor that stands inside itself"),
        (_storage(1, size=-2), "a storage of -2 numbers"),
        (_storage(1, size=3), "a storage of 3 numbers takes 12 bytes, but 8 are left"),
        (b"4\n1\n3\nV 1\n4\nnn.X\n", "the file ends where the type of an object"),
        (b"3\n1\nx\n", "x.t7:4: 'x' where the size of a table, a whole number"),
        (b"2\n-1\n", "a string takes -1 bytes"),
    ],
)
def test_what_is_wrong_is_told(data, message):
    with pytest.raises(InputError) as error:
        _parse(data)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot read it"):
        torch_file.read(str(tmp_path / "none.t7"))
    (tmp_path / "empty.t7").touch()
    with pytest.raises(InputError, match="empty.t7:0: the file is empty"):
        torch_file.read(str(tmp_path / "empty.t7"))


def test_which_files_are_torchs(tmp_path):
    for name, data, expected in [
        ("a.t7", b"", True),
        ("net", torch_writer.to_bytes({}), True),
        ("text", torch_writer.to_bytes({}, ascii=True), True),
        ("kaldi", b"\0B<Nnet> ", False),
        ("words", b"<Nnet> 4 4", False),
    ]:
        (tmp_path / name).write_bytes(data)
        assert torch_file.is_one(str(tmp_path / name)) == expected
    assert not torch_file.is_one("cat x |")


def test_values_that_torch_does_not_have():
    for value in (object(), np.array(1.0), np.zeros(2, "c8"), {1, 2}):
        with pytest.raises(TypeError, match="no such value|no .-D tensors"):
            torch_writer.to_bytes(value)
