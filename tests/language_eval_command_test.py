"""`seqzoo eval` of language models."""

import io
import math
import pathlib
import re
import shutil
import sys

import numpy as np
import pytest

from seqzoo.datasets import gbw
from seqzoo.datasets.sentences import Sentences
from seqzoo.datasets.text_sentences import text_sentences
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import trained_model
from seqzoo.zoo.language.evaluate import WordScorer
from tests.small_language_models import vocabulary, write_run

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
WORDS = 9  # a to f, and the marks.
TEXT = ["a b c d e f", "a a zebra", "", "f", "zebra zebra b a b a b a b a"]
COUNTED = [len(line.split()) + 1 for line in TEXT if line]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run folder; its training text is no text."""
    folder = tmp_path_factory.mktemp("run")
    write_run(folder / "lm", WORDS)
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "train.txt").write_bytes(b"\0\xff")
    (corpus / "valid.txt").write_text("a b\nc\n")
    (corpus / "test.txt").write_text("\n".join(TEXT))
    return folder


def seqzoo(*words):
    return main.main(["eval", *map(str, words)])


def fails(capsys, *words):
    """The line that the command ends with."""
    assert seqzoo(*words) == 1
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    return line.removeprefix("seqzoo eval: ")


def figures(out):
    """The values of the report."""
    head, *lines = out.splitlines()
    assert "full softmax" in head
    return {line[:15].strip(): line[15:] for line in lines}


def expected(run, lines, batch_size=128):
    """Log-probabilities of a text's words."""
    trained = trained_model.read(str(run / "lm"))
    words = trained.vocabulary
    text = Sentences.of(
        [words.start, *words.encode(line.split()), words.end] for line in lines if line
    )
    targets = np.concatenate([text[k][1:] for k in range(len(text))])
    logs = WordScorer(trained.model, batch_size).log_probs(text)
    return logs, targets == words.unknown


def test_the_report(run, capsys):
    assert seqzoo(run / "lm", run / "corpus") == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{run}/corpus, test set: full softmax over 9 words\n")
    assert "words/s" in err
    logs, unknown = expected(run, TEXT)
    found = figures(out)
    nats = -logs.mean()
    assert found["sentences"] == "4"
    assert found["words"] == str(len(logs)) == str(sum(COUNTED))
    assert found["unknown words"] == "3"
    # The scorer has other batches, so other roundings.
    for name, figure in (
        ("-log p, mean", nats),
        ("perplexity", np.exp(nats)),
        ("without <UNK>", np.exp(-logs[~unknown].mean())),
    ):
        assert float(found[name].split()[0]) == pytest.approx(figure, rel=1e-6), name
    bits = re.fullmatch(r"\d+\.\d{6} nats, (\d+\.\d{6}) bits", found["-log p, mean"])
    assert float(bits[1]) == pytest.approx(nats / math.log(2), rel=1e-6)
    assert re.fullmatch(r"\d+\.\d{6}", found["perplexity"])


def test_the_set_that_is_asked_for(run, capsys):
    assert seqzoo(run / "lm", run / "corpus", "--set=valid") == 0
    assert figures(capsys.readouterr().out)["words"] == "5"
    assert fails(capsys, run / "lm", run / "corpus", "--set=train").startswith(
        f"{run}/corpus/train.txt:1: byte 1 of the line is NUL"
    )


def test_valid_where_there_is_no_test(run, tmp_path, capsys):
    shutil.copytree(run / "corpus", tmp_path / "corpus")
    (tmp_path / "corpus" / "test.txt").unlink()
    assert seqzoo(run / "lm", tmp_path / "corpus") == 0
    out, err = capsys.readouterr()
    assert "valid set" in out
    assert "has no test set; its validation set is taken" in err
    line = fails(capsys, run / "lm", tmp_path / "corpus", "--set=test")
    assert line == f"{tmp_path}/corpus: has no test set; there is train, valid."


@pytest.mark.parametrize("batch_size", [1, 50])
def test_a_file_and_standard_input_in_any_batches(run, batch_size, capsys, monkeypatch):
    path = run / "corpus" / "test.txt"
    assert seqzoo(run / "lm", path, f"--batchsize={batch_size}") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{path}: full softmax")
    nats = -expected(run, TEXT)[0].mean()
    found = figures(out)
    assert float(found["perplexity"]) == pytest.approx(np.exp(nats), rel=1e-6)
    stdin = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert seqzoo(run / "lm", "-", f"--batchsize={batch_size}") == 0
    out = capsys.readouterr().out
    assert out.startswith("standard input: full softmax")
    assert figures(out) == found


def test_bfloat16(run, capsys):
    path = run / "corpus" / "test.txt"
    found = []
    for flag in ("--nobfloat16", "--bfloat16"):
        assert seqzoo(run / "lm", path, flag) == 0
        found.append(float(figures(capsys.readouterr().out)["perplexity"]))
    assert found[0] != found[1] == pytest.approx(found[0], rel=0.05)


def test_each_sentence(run, tmp_path, capsys):
    table = tmp_path / "table.tsv"
    words = run / "lm", run / "corpus", "--batchsize=2", "--per_sentence"
    assert seqzoo(*words, table) == 0
    printed = capsys.readouterr().out
    assert seqzoo(*words, "-") == 0
    out, err = capsys.readouterr()
    assert out == table.read_text()
    assert all(line in err for line in printed.splitlines())
    rows = [line.split("\t") for line in out.splitlines()]
    assert [row[:2] for row in rows] == [
        [str(k), str(n)] for k, n in enumerate(COUNTED, 1)
    ]
    logs = np.split(expected(run, TEXT)[0], np.cumsum(COUNTED)[:-1])
    sums = [part.sum() for part in logs]
    np.testing.assert_allclose([float(row[2]) for row in rows], sums, 1e-5)


def test_the_table_is_whole_or_not_there(run, tmp_path, monkeypatch, capsys):
    defaults = text_sentences.__kwdefaults__
    monkeypatch.setitem(defaults, "block_bytes", 80)
    text, table = tmp_path / "text", tmp_path / "table.tsv"
    text.write_bytes(b"a b\n" * 60 + b"\xff\n")
    words = run / "lm", text, "--per_sentence", table
    assert "61: byte 1 of the line, 0xff" in fails(capsys, *words)
    assert list(tmp_path.iterdir()) == [text]
    table.write_text("old")
    fails(capsys, *words)
    assert table.read_text() == "old"
    line = fails(capsys, run / "lm", text, "--per_sentence", tmp_path / "no" / "table")
    assert "cannot write it" in line


def test_the_data_of_training(run, tmp_path, capsys):
    for name in ("train", "valid", "test"):
        lines = [" ".join(word) for word in vocabulary(WORDS).words[:6]]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines))
    cache = tmp_path / "cache"
    gbw.open_data(str(tmp_path), str(cache), vocabulary=vocabulary(WORDS))
    write_run(tmp_path / "lm", WORDS, {"data": {"cache": str(cache)}})
    assert seqzoo(tmp_path / "lm") == 0
    found = capsys.readouterr().out
    assert figures(found)["words"] == "12"
    assert seqzoo(tmp_path / "lm", cache) == 0
    assert capsys.readouterr().out == found
    write_run(tmp_path / "other", 8)
    line = fails(capsys, tmp_path / "other", cache)
    assert line.startswith(f"{cache}/vocabulary.txt: its vocabulary is not that of")
    shutil.rmtree(cache)
    assert f"trained on the cache {cache}, which" in fails(capsys, tmp_path / "lm")
    assert "give DATA" in fails(capsys, run / "lm")


def test_a_set_of_torch(tmp_path, capsys):
    (torch,) = {path.parent for path in _GOLDENS.glob("gbw_tiny/xplog_tiny.t7")}
    (tmp_path / "set").mkdir()
    for name in ("test_data.th7", "word_map.th7"):  # The training set is not needed.
        shutil.copy(torch / name, tmp_path / "set")
    recorded = np.load(_GOLDENS / "tinylm_expected.npz")["test_ppl"][0]
    for data in (tmp_path / "set", tmp_path / "set" / "test_data.th7"):
        for batch_size in (1, 50):
            words = torch / "xplog_tiny.t7", data, f"--batchsize={batch_size}"
            assert seqzoo(*words) == 0
            found = float(figures(capsys.readouterr().out)["perplexity"])
            assert found == pytest.approx(recorded, rel=1e-5)
    write_run(tmp_path / "lm", WORDS)
    line = fails(capsys, tmp_path / "lm", tmp_path / "set")
    assert f"word_map.th7: its vocabulary is not that of {tmp_path}/lm" in line
    (tmp_path / "set" / "word_map.th7").unlink()
    assert "word_map.th7: is missing" in fails(
        capsys, torch / "xplog_tiny.t7", tmp_path / "set"
    )


@pytest.mark.parametrize(
    "words, message",
    [
        (["{lm}", "{text}", "--set=test"], "chooses among the sets of a folder"),
        (["{lm}", "{text}", "--cmvn=x"], "--cmvn is for an acoustic model, and"),
        (["{text}", "--bfloat16"], "--bfloat16 is for a language model, and"),
        (["{lm}x", "--batchsize=3"], "lmx is not there"),
        (["{lm}", "{lm}x"], "lmx: cannot read it: No such file"),
        (["{lm}", "{lm}"], "no text of a language model"),
        (["preset:none", "{text}"], "no preset 'none'"),
    ],
)
def test_bad_input(words, message, run, capsys):
    places = {"lm": run / "lm", "text": run / "corpus" / "test.txt"}
    assert message in fails(capsys, *(word.format(**places) for word in words))


def test_weights_that_ran_away(tmp_path, capsys):
    write_run(tmp_path / "lm", WORDS)
    bias = tmp_path / "lm" / "weights" / "best" / "output.bias.npy"
    np.save(bias, np.full(WORDS, np.nan, np.float32))
    (tmp_path / "text").write_text("a\n")
    line = fails(capsys, tmp_path / "lm", tmp_path / "text")
    assert "log-probability of sentence 1 is nan" in line


def test_words_to_give(run, capsys):
    assert seqzoo(run / "lm", "a", "b") == 2
    assert "give RUN, or RUN and DATA" in capsys.readouterr().err


def test_a_model_of_characters(tmp_path, capsys):
    model = write_run(tmp_path / "lm", WORDS, {"tokens": "characters"})
    text = tmp_path / "text"
    text.write_text("abcab")
    assert seqzoo(tmp_path / "lm", text) == 0
    found = figures(capsys.readouterr().out)
    assert found["characters"] == "4"
    logs = WordScorer(model).log_probs(Sentences.of([[1, 2, 3, 1, 2]]))
    assert found["perplexity"] == f"{np.exp(-logs.mean()):.6f}"
    assert "unknown words" not in found
    text.write_text("ab\nc")
    assert f"{text}:1: the model does not know" in fails(capsys, tmp_path / "lm", text)
    text.write_bytes(b"ab\n\xff")
    assert f"{text}:2: byte 0xff is not UTF-8" in fails(capsys, tmp_path / "lm", text)
