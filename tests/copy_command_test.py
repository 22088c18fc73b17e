import os
import pathlib
import shutil

import pytest

from seqzoo.datasets import prompts
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.commands import main


@pytest.fixture
def net():
    return prompts.path("en") + "/lattices/final.nnet"


def test_binary_to_text_and_back(net, tmp_path):
    text, binary = str(tmp_path / "text"), str(tmp_path / "binary")
    assert main.main(["copy", net, text, "--binary=false"]) == 0
    assert pathlib.Path(text).read_text().startswith("<Nnet> \n<AffineTransform> 128")
    assert main.main(["copy", text, binary]) == 0
    assert pathlib.Path(binary).read_bytes()[:2] == b"\0B"
    assert len(nnet1.read(binary).components) == 6


def test_a_copy_is_the_same_file(net, tmp_path):
    shutil.copy(net, tmp_path / "final.nnet")
    assert main.main(["copy", str(tmp_path), str(tmp_path / "x")]) == 0
    assert (tmp_path / "x").read_bytes() == pathlib.Path(net).read_bytes()


def test_components_are_left_out(net, tmp_path):
    out = str(tmp_path / "x")
    words = ["--remove-first-components=2", "--remove-last-components", "1"]
    assert main.main(["copy", *words, net, out]) == 0
    markers = [c.marker for c in nnet1.read(out).components]
    assert markers == ["<AffineTransform>", "<Sigmoid>", "<AffineTransform>"]


def test_another_dropout_rate(tmp_path):
    text = "<Nnet>\n<Dropout> 2 2\n<DropoutRate> 0.1 <!EndOfComponent>\n</Nnet>\n"
    (tmp_path / "in").write_text(text)
    words = ["copy", str(tmp_path / "in"), str(tmp_path / "out"), "--binary", "false"]
    assert main.main([*words, "--dropout_rate=0.5"]) == 0
    assert "0.5" in (tmp_path / "out").read_text()


@pytest.mark.parametrize(
    "words, message",
    [
        (["--remove_last_components=6"], "6 components cannot be removed of 6"),
        (["--dropout_rate=2"], "dropout rate 2"),
        (["--remove_last_components=-1"], "a non-negative integer is taken"),
    ],
)
def test_errors_leave_nothing(net, words, message, tmp_path, capsys):
    assert main.main(["copy", net, str(tmp_path / "x"), *words]) == 1
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1
    assert os.listdir(tmp_path) == []
