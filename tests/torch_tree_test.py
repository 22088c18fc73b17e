import pathlib

import numpy as np

from seqzoo.datasets.torch_values import TableKey, TorchFunction, TorchObject
from seqzoo.zoo.checkpoints import torch_tree
from seqzoo.zoo.commands import main

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"


def test_what_is_printed():
    linear = TorchObject("nn.Linear", {"weight": np.zeros((2, 9), "f4"), "bias": None})
    value = {
        "model": TorchObject("nn.Sequential", {"modules": [linear, linear]}),
        "lr": 0.1,
        "flag": True,
        "name": "x\n",
        "z": np.array([1, 2]),
        TableKey(True): b"\xff",
        2: TorchFunction(b"\x1bLJ", [5.0]),
        "empty": {},
    }
    assert torch_tree.tree(value) == (
        "table of 8\n"
        "  model: nn.Sequential\n"
        "    modules: list of 2\n"
        "      1: nn.Linear\n"
        "        weight: float32 2 x 9\n"
        "        bias: nil\n"
        "      2: nn.Linear, the same as model.modules.1\n"
        "  lr: 0.10000000000000001\n"
        "  flag: true\n"
        "  name: 'x\\n'\n"
        "  z: int64 2 = 1 2\n"
        "  [true]: b'\\xff'\n"
        "  2: function of 3 bytes, not run\n"
        "    upvalues: list of 1\n"
        "      1: 5\n"
        "  empty: table of 0\n"
    )
    assert torch_tree.tree(value, 1).splitlines()[:3] == [
        "table of 8",
        "  model: nn.Sequential ...",
        "  lr: 0.10000000000000001",
    ]


def test_long_lists_are_cut_and_cycles_end():
    loop: dict = {"long": [0.0] * 10, "text": "x" * 100}
    loop["me"] = loop
    lines = torch_tree.tree(loop).splitlines()
    assert "    ... 4 more" in lines and len(lines) == 11
    assert lines[-2] == f"  text: {'x' * 60!r} ..."
    assert lines[-1] == "  me: table of 3, the same as the whole"


def test_info_prints_it(capsys):
    path = str(_GOLDENS / "gbw_tiny" / "xplog_tiny.t7")
    assert main.main(["info", path]) == 0
    out = capsys.readouterr().out
    assert (
        "  dataset: 'GoogleBillionWords'\n" in out and "\n  model: nn.Serial\n" in out
    )
    assert main.main(["info", "--depth=0", path]) == 0
    assert capsys.readouterr().out == "table of 10 ...\n"


def test_info_tells_what_is_wrong(tmp_path, capsys):
    data = (_GOLDENS / "t7" / "tds_bin.t7").read_bytes()
    (tmp_path / "cut.t7").write_bytes(data[:-3])
    assert main.main(["info", str(tmp_path / "cut.t7")]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"seqzoo info: {tmp_path}/cut.t7:") and err.count("\n") == 1
