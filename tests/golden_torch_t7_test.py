"""Object files that Torch7 wrote, as recorded in goldens/torch."""

import json
import pathlib

import numpy as np
import pytest

from seqzoo.datasets import torch_file
from seqzoo.datasets.torch_items import AsciiItems, BinaryItems
from seqzoo.datasets.torch_objects import ObjectReader
from seqzoo.datasets.torch_values import TorchFunction, TorchObject

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
_FILES = sorted([*_GOLDENS.glob("*/*.t7"), *_GOLDENS.glob("*/*.th7")])


def _name(path):
    return f"{path.parent.name}/{path.name}"


def _same(one, other, path="", seen=None):
    """Fails at the first difference between two objects of a file."""
    seen = seen if seen is not None else {}
    if id(one) in seen:
        assert seen[id(one)] == id(other), path
        return
    assert type(one) is type(other), path
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, path, strict=True)
    elif isinstance(one, TorchObject):
        assert one.class_name == other.class_name, path
        seen[id(one)] = id(other)
        _same(one.fields, other.fields, path, seen)
    elif isinstance(one, TorchFunction):
        assert one.code == other.code
    elif isinstance(one, dict | list):
        seen[id(one)] = id(other)
        if isinstance(one, list):
            one, other = dict(enumerate(one)), dict(enumerate(other))
        assert one.keys() == other.keys(), path
        for key in one:
            _same(one[key], other[key], f"{path}.{key}", seen)
    else:
        assert one == other, path


def _modules(value, found, seen):
    """All objects of Torch classes below `value`, by the ends of their names."""
    if id(value) in seen:
        return
    seen.append(id(value))
    if isinstance(value, TorchObject):
        found.setdefault(value.class_name.split(".")[-1], value)
        value = value.fields
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list | TorchObject):
            _modules(item, found, seen)


@pytest.mark.parametrize("path", _FILES, ids=_name)
def test_golden_torch_files_are_read_to_the_last_byte(path):
    data = path.read_bytes()
    kinds = [AsciiItems] if data[:1].isdigit() else [BinaryItems]
    items = kinds[0](data, path.name)
    if kinds == [BinaryItems] and "32" in path.stem:
        items = BinaryItems(data, path.name, long_bytes=4)
    value = ObjectReader(items).read()
    assert items.left() == 0
    _same(value, torch_file.read(str(path)))


_TWINS = [
    (path, twin)
    for path in _FILES
    if path.stem.endswith("_ascii")
    for end in ("_bin", "")
    if (twin := path.with_name(path.name.replace("_ascii", end))).exists()
]


@pytest.mark.parametrize("text, binary", _TWINS, ids=_name)
def test_golden_torch_text_holds_what_binary_holds(text, binary):
    _same(torch_file.read(str(text)), torch_file.read(str(binary)))


@pytest.mark.parametrize(
    "path", sorted(_GOLDENS.glob("t7/*_tensors.json")), ids=lambda path: path.stem
)
@pytest.mark.parametrize("form", ["bin", "ascii"])
def test_golden_torch_tensors(path, form):
    file = path.with_name(path.name.replace("_tensors.json", f"_{form}.t7"))
    found = torch_file.read(str(file))
    types = {"Byte": "u1", "Char": "i1", "Short": "i2", "Int": "i4", "Long": "i8"}
    types |= {"Float": "f4", "Double": "f8"}
    expected = json.loads(path.read_text())
    assert expected
    for key, tensor in expected.items():
        dtype = types[tensor["type"].removeprefix("torch.").removesuffix("Tensor")]
        shape = tensor["shape"] or [0]
        values = np.array(tensor["data"], np.float64).astype(dtype).reshape(shape)
        np.testing.assert_array_equal(found[key], values, key, strict=True)


def test_golden_torch_views_share_their_storage():
    for form in ("bin", "ascii"):
        found = torch_file.read(str(_GOLDENS / "t7" / f"all_types_{form}.t7"))
        for view in ("narrowed", "transposed", "selected"):
            assert np.shares_memory(found["base"], found[view])
        assert found["int"] is found["alias"]
        assert found["cycle"]["me"] is found["cycle"]
        assert found["str"] == "line1\nline2" and found["utf"] == "café 中"
        assert found["bin"] == b"\0\1\xff" and found["emptystr"] == ""


_CLASSES = {
    "lookup": "LookupTableMaskZero",
    "lstm": "SeqLSTM",
    "nce": "NCEModule",
}


@pytest.mark.parametrize(
    "path", [p for p in _FILES if p.stem.startswith("nn_")], ids=_name
)
def test_golden_torch_modules_have_the_weights_that_torch_printed(path):
    multi = "multicuda" in path.stem
    name = "t7_multicuda_expected" if multi else "t7_nn_expected"
    expected = dict(np.load(_GOLDENS / f"{name}.npz"))
    if multi:
        expected = {f"nce_{k}": v for k, v in expected.items() if k != "split_col"}
    modules: dict[str, TorchObject] = {}
    _modules(torch_file.read(str(path)), modules, [])
    compared = 0
    for key, values in expected.items():
        kind, field = key.split("_")
        if field in ("J", "q"):
            module = modules.get("AliasMultinomial")
        else:
            module = modules.get(_CLASSES[kind])
        if module is not None:
            np.testing.assert_array_equal(module[field], values, key, strict=True)
            compared += 1
    assert compared >= 2
