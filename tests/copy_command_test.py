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


_TOOLS = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "tools"


@pytest.mark.parametrize(
    "words, expected",
    [
        (["feature_transform.txt", "dnn.txt"], "concat.txt"),
        (["--input_format=transform", "m.mat"], "transf.nnet.txt"),
        (["--input_format=cmvn", "global.stats"], "cmvn.nnet.txt"),
        (
            ["--input_format=cmvn", "--std-dev=0.5", "--learn-rate-coef=0.1"]
            + ["global.stats"],
            "cmvn_std.nnet.txt",
        ),
        (["--input_format=proto", "--rng=kaldi", "dnn.proto"], "dnn.txt"),
        (
            ["--input_format=proto", "--rng=kaldi", "--seed=778", "dnn.proto"],
            "dnn_seed778.txt",
        ),
        (["--from-parallel-component=2", "par.txt"], "transf.nnet.txt"),
        (
            ["--components=1:4", "--coef=0.5", "--bias-coef=0.1", "dnn.txt"],
            "dnn_lr.txt",
        ),
        (["--keep_components=1:3", "dnn.txt"], "dnn_rm2.txt"),
        (["--format=nnet2_raw", "conv_full.txt"], "conv_full.txt.raw"),
    ],
)
def test_what_the_small_programs_of_kaldi_write(words, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(_TOOLS)
    out = tmp_path / "out"
    assert main.main(["copy", "--binary=false", *words, str(out)]) == 0
    assert out.read_bytes() == (_TOOLS / expected).read_bytes()


def test_rbms_become_layers(tmp_path):
    recipe = _TOOLS.parent / "recipe"
    words = ["--input-format=rbm", "--binary=false"]
    rbms = [str(recipe / f"dbn.{n}.rbm.txt") for n in (1, 2)]
    assert main.main(["copy", *words, *rbms, str(tmp_path / "2.dbn")]) == 0
    expected = (recipe / "dbn.2.dbn.txt").read_bytes()
    assert (tmp_path / "2.dbn").read_bytes() == expected


def test_components_without_rates_is_a_wrong_use(net, tmp_path, capsys):
    assert main.main(["copy", "--components=1", net, str(tmp_path / "x")]) == 2
    assert "--keep_components cuts" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["copy", "forward"])
def test_a_language_model_is_not_taken(command, net, tmp_path, capsys):
    (tmp_path / "config.json").write_text('{"model": "language/rnn"}')
    others = [str(tmp_path / "out")] * (2 if command == "forward" else 1)
    for path in (str(tmp_path), "preset:any", "x.t7"):
        assert main.main([command, path, *others]) == 1
        err = capsys.readouterr().err
        assert f"{path}: is a language model; `seqzoo eval`, " in err
        assert err.count("\n") == 1
    assert main.main(["copy", net, str(tmp_path), others[0]]) == 1
    assert not os.path.exists(others[0])


@pytest.mark.parametrize(
    "words, message",
    [
        (["--keep_components=1,6"], "<AffineTransform> puts out 128"),
        (["--keep_components=7"], "'7' is not a number or first:last within 1:6"),
        (["--from_parallel_component=1"], "starts with <AffineTransform>"),
        (["--input_format=rbm"], "component 1 is <AffineTransform>; networks of"),
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
