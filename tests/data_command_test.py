import pathlib

from seqzoo.datasets import gbw_fetch
from seqzoo.zoo.commands import main


def test_the_list(capsys):
    assert main.main(["data"]) == 0
    prompts, kjv, gbw = capsys.readouterr().out.splitlines()
    assert prompts.startswith("prompts ") and " MB" in prompts
    assert "CC BY-SA 3.0" in prompts
    assert kjv.startswith("kjv ") and "public domain" in kjv
    assert gbw.startswith("gbw ") and "to be fetched" in gbw


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


def test_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main.main(["data", "kjv"]) == 0
    assert capsys.readouterr().out == "data/kjv\n"
    assert len(list(pathlib.Path("data/kjv").rglob("news.en*"))) == 6


def test_a_corpus_that_cannot_be_fetched(tmp_path, monkeypatch, capsys):
    fetch = gbw_fetch.fetch
    nowhere = "http://127.0.0.1:9/gbw.tar.gz"
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(gbw_fetch, "fetch", lambda d: fetch(d, url=nowhere))
    assert main.main(["data", "gbw", str(tmp_path / "gbw")]) == 1
    shown = capsys.readouterr()
    assert shown.out == gbw_fetch.instructions(str(tmp_path / "gbw")) + "\n"
    assert shown.err.startswith(f"seqzoo data: {nowhere}: cannot fetch it: ")
    assert len(shown.err.splitlines()) == 1


def test_a_corpus_that_is_fetched(monkeypatch, capsys):
    monkeypatch.setattr(gbw_fetch, "fetch", lambda directory: f"{directory}/r13output")
    assert main.main(["data", "gbw"]) == 0
    assert capsys.readouterr().out == "data/gbw/r13output\n"
