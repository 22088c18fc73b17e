"""`seqzoo import torch`: the run folder, what comes of its model, what is refused."""

import csv
import json
import pathlib
import struct

import numpy as np
import pytest

from seqzoo.datasets import torch_file, torch_writer
from seqzoo.datasets.torch_values import TorchFunction
from seqzoo.zoo import registry
from seqzoo.zoo.checkpoints import torch_rnn, torch_scores, xplog
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import (
    encoding,
    evaluate,
    torch_weights,
    trained_model,
)
from seqzoo.zoo.training import run_kind
from tests.language_runs import train, write_text
from tests.torch_logs import (
    make_checkpoint,
    make_log,
    make_lstm,
    make_model,
    make_nce,
    module,
)

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
TINY = str(GOLDENS / "gbw_tiny" / "xplog_tiny.t7")
TOKENS = ["a", "\n", " ", "\\", "é", "n"]


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def run(*words):
    return main.main(["import", "torch", *words])


def write(value, path="x.t7"):
    torch_writer.write(path, value)
    return path


def refused(capsys, *words):
    """What is said, in a line, when nothing is made."""
    before = set(pathlib.Path().iterdir())
    assert run(*words) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert set(pathlib.Path().iterdir()) == before
    return err.removeprefix("seqzoo import: ").rstrip()


def test_what_a_training_leaves_is_in_the_run_folder(capsys):
    assert run(TINY, "run") == 0
    out, err = capsys.readouterr()
    assert out.startswith("run: language/lstm, 40 words, 1,776 parameters; log-prob")
    assert out.count("\n") == 1 and err == ""
    about = json.loads(pathlib.Path("run/config.json").read_text())
    log = xplog.read(TINY)
    assert about["model"] == "language/lstm" and about["tokens"] == "words"
    assert about["settings"] | {"hiddensize": [8, 8], "k": 10} == about["settings"]
    assert about["epoch"] == log.epoch == 17
    assert about["best_valid_error"] == log.best_valid_loss
    assert about["data"] == {"source": "GoogleBillionWords"}
    assert about["opt"] == log.opt and about["opt"]["id"] == "gbw:tiny"
    assert about["imported"] == {"from": "torch", "kind": "rnn", "file": TINY}
    training = about["training"]
    wanted = {"startlr": 1.0, "saturate": 20, "cutoff": 10.0, "trainsize": 60}
    wanted |= {"batchsize": [4], "momentum": 0.9, "tables": "dense_momentum"}
    assert training | wanted == training
    with open("run/history.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["epoch"]) for row in rows] == list(range(1, 18))
    assert [float(row["train_error"]) for row in rows] == log.train_losses
    assert [float(row["valid_error"]) for row in rows] == log.valid_losses
    least = np.minimum.accumulate([np.inf, *log.valid_losses])
    for row, before in zip(rows, least, strict=False):
        assert row["best"] == str(float(row["valid_error"]) < before)
        assert row["learn_rate"] == row["words"] == ""
    command = pathlib.Path("run/command.txt").read_text()
    assert command.startswith("seqzoo import torch /") and command.endswith("run\n")
    assert out.removeprefix("run: ") in pathlib.Path("run/log/import.log").read_text()


def test_the_model_is_the_same_by_the_file_and_by_the_folder():
    run(TINY, "run")
    assert run_kind.is_language("run") and run_kind.is_language(TINY)
    by_file, by_folder = (trained_model.read(path, True) for path in (TINY, "run"))
    assert by_file.about.keys() == by_folder.about.keys()
    assert by_file.config == by_folder.config
    counts = torch_file.read(str(GOLDENS / "gbw_tiny" / "word_freq.th7"))
    words = torch_file.read(str(GOLDENS / "gbw_tiny" / "word_map.th7"))
    for one in (by_file, by_folder):
        assert one.vocabulary.words == words
        np.testing.assert_array_equal(one.vocabulary.counts, counts)
        probs = one.model.output_layer.sampler.probs.value
        np.testing.assert_allclose(probs, counts / counts.sum(), rtol=1e-6)
    weights = [one.model.named_weights() for one in (by_file, by_folder)]
    assert weights[0].keys() == weights[1].keys()
    for name, weight in weights[0].items():
        np.testing.assert_array_equal(weight.value, weights[1][name].value)


def test_characters(capsys):
    write(make_checkpoint(tokens=TOKENS, opt={"learning_rate": 0.002, "seq_length": 9}))
    assert run("x.t7", "run") == 0
    assert "language/lstm, 6 characters, " in capsys.readouterr().out
    assert pathlib.Path("run/vocabulary.txt").read_bytes() == (
        "a 1\n\\n 1\n  1\n\\\\ 1\né 1\nn 1\n".encode()
    )
    model = trained_model.read("run")
    assert model.characters and model.vocabulary.words == TOKENS
    assert model.config.output == "full_softmax"
    assert model.about["training"]["startlr"] == 0.002
    assert model.about["training"]["seqlen"] == 9 and model.about["iteration"] == 40
    text = ["an é\n", "\\n aa\n"]
    sentences = encoding.encode_characters(model.vocabulary, text)
    assert sentences.ids.tolist() == [1, 6, 3, 5, 2, 4, 6, 3, 1, 1, 2]
    layers = torch_rnn.read("x.t7").layers
    logs = torch_scores.target_log_probs(layers, sentences.ids[:-1], sentences.ids[1:])
    found = evaluate.evaluate(model.model, sentences)
    assert found.words == 10
    np.testing.assert_allclose(found.nats, -logs.mean(), rtol=1e-5)


def test_a_history_of_checkpoints():
    losses = {"train_loss_history": [4.0, 2.0, 3.0, 1.0, 5.0], "i": 5}
    valid = {"val_loss_history": [2.0, 2.5, 1.0]}
    write(make_checkpoint(opt={"checkpoint_every": 2}, **losses, **valid))
    run("x.t7", "run")
    with open("run/history.csv", newline="") as file:
        rows = [
            (r["train_error"], r["valid_error"], r["best"])
            for r in csv.DictReader(file)
        ]
    assert rows == [
        ("3.0", "2.0", "True"),
        ("2.0", "2.5", "False"),
        ("5.0", "1.0", "True"),
    ]


def test_bytes_that_are_no_utf8_in_words(rng):
    vocab = {b"caf\xe9": 1, "b\\n": 2, "<UNK>": 3, "<S>": 4, "</S>": 5}
    write(make_log(make_model(rng), vocab=vocab))
    assert run("x.t7", "run") == 0
    words = trained_model.read("run").vocabulary.words
    assert [w.encode("utf-8", "surrogateescape") for w in words[:2]] == [
        b"caf\xe9",
        b"b\\n",
    ]


def as_cuda(data):
    """A file of floats as one that a GPU's tensors were saved in."""
    for kind in ("Tensor", "Storage"):
        names = f"torch.Float{kind}".encode(), f"torch.Cuda{kind}".encode()
        before, after = (struct.pack("<i", len(name)) + name for name in names)
        assert before in data
        data = data.replace(before, after)
    return data


def test_cuda_tensors_are_floats():
    data = torch_writer.to_bytes(make_checkpoint())
    assert b"Float" in data
    for name, content in {"float": data, "cuda": as_cuda(data)}.items():
        pathlib.Path(f"{name}.t7").write_bytes(content)
        assert run(f"{name}.t7", name) == 0
    for path in pathlib.Path("float/weights/best").iterdir():
        again = pathlib.Path("cuda/weights/best", path.name)
        assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("kind", ["cuda", "multicuda"])
def test_the_output_layer_of_a_model_on_gpus(kind, rng):
    nce = torch_file.read(str(GOLDENS / "t7" / f"nn_nce_{kind}_synthetic.t7"))
    words, dim = nce["weight"].shape
    table = module("LookupTableMaskZero", weight=rng.normal(size=(words + 1, 3)))
    value = make_log(make_model(rng, table, [make_lstm(rng, 3, dim)], nce))
    value["vocab"] = {f"w{n}": float(n) for n in range(1, words + 1)}
    value["epoch"] = 2.0
    layers = xplog.parse(value, "x.t7").layers
    model = registry.build(*torch_weights.config(layers, {}))
    torch_weights.set_weights(model, layers)
    expected = np.float32(nce["weight"])
    np.testing.assert_array_equal(model.output_layer.linearity.value, expected)
    np.testing.assert_array_equal(
        model.output_layer.bias.value, np.float32(nce["bias"])
    )


def test_a_wrong_order_of_gates_is_found(monkeypatch, capsys):
    monkeypatch.setattr(torch_weights, "_gates", lambda values: values)
    told = refused(capsys, TINY, "run")
    assert told.startswith("self-check: word ") and "Torch's model gives -" in told


def test_a_folder_that_is_there(capsys):
    pathlib.Path("run").mkdir()
    assert run(TINY, "run") == 0
    capsys.readouterr()
    told = refused(capsys, TINY, "run")
    assert told == "run: is there already; give a new folder."


def test_flags_of_another_toolkit(capsys):
    told = refused(capsys, TINY, "run", "--cmvn_opts=--norm-vars")
    assert told == "--cmvn_opts is for `import kaldi`; leave it out."


def test_a_file_that_is_cut_off(capsys):
    data = pathlib.Path(TINY).read_bytes()
    for size in (3, 2000, len(data) // 2, len(data) - 5):
        pathlib.Path("x.t7").write_bytes(data[:size])
        assert refused(capsys, "x.t7", "run").startswith("x.t7:")


def cases():
    rng = np.random.default_rng(3)
    other = "x.t7: nn.Linear; the log of a training, a table with opt, vocab and model"
    yield module("Linear"), other
    yield {"model": 5}, "x.t7: a table with 'model'; the log of a training"
    yield [1.0], "x.t7: a list; the log"
    for name in ("SeqGRU", "gModule"):
        lstms = [module(name)]
        message = f"the module nn.{name} is not known here; known are LookupTable, "
        yield make_log(make_model(rng, lstms=lstms)), message
    lstm = module("LSTM", modules=[])  # The rnn package's, of many modules.
    yield make_log(make_model(rng, lstms=[lstm])), "weight: a missing value, no tensor"
    lstms = [make_lstm(rng, 3, 4, 4), make_lstm(rng, 4, 4)]
    yield make_log(make_model(rng, lstms=lstms)), "x.t7: LSTMs of 4 cells projected to"
    vocab = {word: n for n, word in enumerate("abcd", 1)}
    yield make_log(make_model(rng), vocab=vocab), "a vocabulary of 4 words for a model"
    vocab = {word: n for n, word in enumerate("abcde", 1)}
    message = "x.t7: vocab: there is no word <UNK>; all of <UNK> <S> </S> are needed."
    yield make_log(make_model(rng), vocab=vocab), message
    nce = make_nce(rng, 4)
    nce.fields["unigrams"] = np.array([0.5, -0.5, 1, 0, 0], "f4")
    message = "x.t7: the noise probability of word 2 is -0.5; 0 or more is taken"
    yield make_log(make_model(rng, output=nce)), message
    nce = make_nce(rng, 4)
    nce.fields["k"] = 0
    yield make_log(make_model(rng, output=nce)), "x.t7: k is 0; 1 or more is taken."
    yield make_checkpoint(tokens=["a", ""]), "idx_to_token: a character that is empty"
    yield (
        make_checkpoint(tokens=["a", "a"]),
        "idx_to_token: the word 'a' is there twice",
    )
    nan = make_checkpoint()
    nan["model"]["net"]["modules"][0]["weight"][:] = np.nan
    yield nan, "self-check: word "


@pytest.mark.parametrize("value, message", list(cases()))
def test_what_is_no_model_here(value, message, capsys):
    assert message in refused(capsys, write(value), "run")


def test_functions_are_never_a_model(capsys, rng, monkeypatch):
    path = str(GOLDENS / "t7" / "function.t7")
    assert refused(capsys, path, "run").startswith(
        f"{path}: a table with 'after', 'fn'"
    )
    value = make_log(TorchFunction(b"\x1bLJ"))
    monkeypatch.setattr(torch_file, "read", lambda path: value)
    assert "model: a function, but a module of nn is due" in refused(capsys, "x", "run")


@pytest.mark.parametrize("init", ["file", "folder"])
def test_training_goes_on_from_it(init, tmp_path, capsys):
    """With the words of the text; the recurrent layers and words in common stay."""
    assert run(TINY, "folder") == 0
    text = write_text(tmp_path / "text", words=["the", "w1", "new", "."], lines=20)
    start = {"file": TINY, "folder": "folder"}[init]
    options = ("--init", start, "--maxepoch=1", "--batchsize=4")
    assert train(text, "run", *options, "--startlr=1e-9", "--minlr=0") == 0
    report = pathlib.Path("run/vocabulary_change.txt").read_text()
    assert "words: 6 kept, 1 new, 34 dropped" in report
    old, new = (trained_model.read(path) for path in ("folder", "run"))
    for word in ("the", ".", "</S>"):
        rows = [
            one.model.output_layer.linearity.value[one.vocabulary.ids[word] - 1]
            for one in (old, new)
        ]
        np.testing.assert_allclose(*rows, atol=1e-6)
    with open("run/history.csv", newline="") as file:
        (row,) = csv.DictReader(file)
    assert float(row["learn_rate"]) == 1e-9
