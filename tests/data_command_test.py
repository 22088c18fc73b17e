import pathlib

from seqzoo.zoo.commands import main


def test_the_list(capsys):
    assert main.main(["data"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("prompts ") and " MB" in line and "CC BY-SA 3.0" in line


def test_a_copy(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.main(["data", "prompts"]) == 0
    assert capsys.readouterr().out == "data/prompts\n"
    scp = pathlib.Path("data/prompts/en/cv/feats.scp").read_text().split()
    assert scp[1].startswith("data/prompts/en/cv/feats.ark:")
    assert main.main(["data", "prompts"]) == 0


def test_another_directory(tmp_path):
    assert main.main(["data", "prompts", str(tmp_path / "here")]) == 0
    assert (tmp_path / "here" / "LICENSE.txt").exists()


def test_a_directory_that_is_taken(tmp_path, capsys):
    (tmp_path / "x").write_text("mine")
    assert main.main(["data", "prompts", str(tmp_path)]) == 1
    assert "already there" in capsys.readouterr().err
    assert (tmp_path / "x").read_text() == "mine"


def test_an_unknown_corpus(capsys):
    assert main.main(["data", "promts"]) == 1
    assert capsys.readouterr().err == (
        "seqzoo data: no corpus 'promts'; did you mean prompts?\n"
    )
