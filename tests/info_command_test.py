import shutil

import pytest

from seqzoo.datasets import prompts
from seqzoo.zoo.checkpoints import nnet1, nnet_info
from seqzoo.zoo.commands import main


@pytest.fixture
def net():
    return prompts.path("en") + "/lattices/final.nnet"


def test_the_text_of_nnet_info(net, capsys):
    assert main.main(["info", net]) == 0
    assert capsys.readouterr().out == nnet_info.info(nnet1.read(net))


def test_a_run_folder(net, tmp_path, capsys):
    shutil.copy(net, tmp_path / "final.nnet")
    assert main.main(["info", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("num-components 6\n")


def test_several_files_are_named(net, capsys):
    assert main.main(["info", net, net]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines.count(f"{net}:") == 2
    assert lines[:2] == [f"{net}:", "num-components 6"]


def test_errors_are_one_line(tmp_path, capsys):
    (tmp_path / "x").write_bytes(b"\0B<Nnet> <AffineTransform> ")
    for path, found in [
        (tmp_path, "a folder without final.nnet"),
        (tmp_path / "none", "cannot read it: No such file"),
        (tmp_path / "x", "(component 1 <AffineTransform>)"),
    ]:
        assert main.main(["info", str(path)]) == 1
        err = capsys.readouterr().err
        assert err.startswith(f"seqzoo info: {path}")
        assert found in err and err.count("\n") == 1
