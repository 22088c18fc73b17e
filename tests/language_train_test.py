"""`seqzoo train language/...`: what it writes, how it goes on, when it ends."""

import csv
import json
import os

import keras
import numpy as np
import pytest

from seqzoo.datasets import gbw_cache
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import trained_model, training
from seqzoo.zoo.training import run_folder, weight_files
from tests.language_runs import SMALL, WORDS, train, unless, write_text


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_text(tmp_path_factory.mktemp("text") / "text")


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    """A run of three epochs that nothing stopped."""
    run = tmp_path_factory.mktemp("whole") / "run"
    assert train(text, run, *SMALL, "--valid_perplexity=2", "--dropout=0.1") == 0
    return run


def _history(run):
    with open(run / "history.csv", newline="") as file:
        return list(csv.DictReader(file))


def _state(run):
    return json.loads((run / "state.json").read_text())


def _weights(run):
    folder = run / "weights" / _state(run)["weights"]
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def test_the_run_folder(whole, text):
    names = {path.name for path in whole.iterdir()}
    assert names >= {
        "command.txt",
        "config.json",
        "curves.png",
        "data",
        "final.keras",
        "history.csv",
        "log",
        "resume",
        "state.json",
        "tensorboard",
        "vocabulary.txt",
        "weights",
    }
    config = json.loads((whole / "config.json").read_text())
    assert config["model"] == "language/lstm"
    assert config["settings"]["hiddensize"] == [8, 6]
    assert config["training"]["startlr"] == 0.5
    vocabulary = Vocabulary.load(str(whole / "vocabulary.txt"))
    assert config["settings"]["words"] == len(vocabulary) == len(WORDS) + 3
    assert "Speed : " in (whole / "log" / "train.log").read_text()
    state = _state(whole)
    kept = {path.name for path in (whole / "weights").iterdir()}
    assert kept == {state["weights"], state["last"]}


def test_the_history(whole, text):
    rows = _history(whole)
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    assert float(rows[-1]["train_error"]) < float(rows[0]["train_error"])
    rates = [float(row["learn_rate"]) for row in rows]
    np.testing.assert_allclose(rates, [0.5, 0.46, 0.42], 1e-12)
    assert [row["valid_perplexity"] != "" for row in rows] == [False, True, False]
    assert 1 < float(rows[1]["valid_perplexity"]) < len(WORDS) + 3
    sentences = gbw_cache.load(str(whole / "data")).sets["train"]
    # An epoch is a pass: its words are those of the text, but for its very ends.
    assert abs(int(rows[0]["words"]) - sentences.targets) <= 4 * 9
    for row in rows:
        rate = int(row["words"]) / float(row["seconds"])
        assert float(row["words_per_second"]) == pytest.approx(rate)


def test_the_keras_file_is_the_best_model(whole):
    found = trained_model.read(str(whole))
    loaded = keras.models.load_model(whole / "final.keras")
    words = np.array([[1, 5, 0, 3, 2]], np.int32)
    inputs = {"words": words, "targets": np.roll(words, -1)}
    expected = found.model(inputs)["losses"].numpy()
    np.testing.assert_allclose(loaded(inputs)["losses"], expected, 1e-6)
    assert expected.any()


def test_row_0_of_the_embedding_stays_zero(whole):
    folder = whole / "weights" / _state(whole)["weights"]
    table = weight_files.read(str(folder), "embedding/embeddings")
    assert not table[0].any()
    assert table[1:].any(axis=1).all()


class Killed(BaseException):
    """Nothing may catch it, as nothing catches a SIGKILL."""


@pytest.mark.parametrize(
    ("owner", "name", "call"),
    [
        (training.LanguageTrainer, "train", 30),
        (weight_files, "save", 4),
        (run_folder.RunFolder, "save_state", 2),
        (training.LanguageTraining, "_remove_old", 3),
        (run_folder.RunFolder, "write_history", 3),
        (training.LanguageTraining, "_finish", 1),
    ],
)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    whole, text, tmp_path, monkeypatch, owner, name, call
):
    real, calls = getattr(owner, name), 0

    def deadly(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == call:
            raise Killed
        return real(*args, **kwargs)

    run = tmp_path / "run"
    more = ("--valid_perplexity=2", "--dropout=0.1")
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, deadly)
        with pytest.raises(Killed):
            train(text, run, *SMALL, *more)
    assert train(text, run, *SMALL, *more) == 0
    assert _weights(run) == _weights(whole)
    same = ("epoch", "train_error", "valid_error", "valid_perplexity", "best")
    for found, expected in zip(_history(run), _history(whole), strict=True):
        assert [found[k] for k in same] == [expected[k] for k in same]


def test_more_epochs_go_on_from_the_end(whole, text, tmp_path):
    run = tmp_path / "run"
    short = [f for f in SMALL if "maxepoch" not in f]
    more = ("--valid_perplexity=2", "--dropout=0.1")
    assert train(text, run, *short, *more, "--maxepoch=2") == 0
    assert train("--maxepoch=3", "--continue", run) == 0
    assert _weights(run) == _weights(whole)


def test_other_options_are_another_run(whole, text, capsys):
    assert train(text, whole, *SMALL, "--dropout=0.1", "--momentum=0.5") == 1
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert "training.momentum 0.9, not 0.5; give another folder" in told


def test_a_run_that_is_refused_is_not_touched(whole, tmp_path, capsys):
    other = write_text(tmp_path / "other", 2, ["x", "y", "z"])
    cache = whole / "data" / "manifest.json"
    before = cache.read_bytes()
    assert train(other, whole, *SMALL) == 1
    assert "holds a run with data.source" in capsys.readouterr().err
    assert train(*SMALL, "--min_count=1", "--continue", whole) == 1
    assert "data.min_count 3, not 1" in capsys.readouterr().err
    assert cache.read_bytes() == before


def test_it_stops_early(text, tmp_path, monkeypatch):
    errors = iter([3.0, 2.0, 2.5, 2.5, 2.5, 1.0])
    real = training.LanguageTraining._pass

    def scored(self, streams, name, learn=True):
        sums, state = real(self, streams, name, learn)
        if not learn:
            sums.loss, sums.time_steps = next(errors), 1
        return sums, state

    monkeypatch.setattr(training.LanguageTraining, "_pass", scored)
    run = tmp_path / "run"
    more = ("--maxepoch=20", "--earlystop=3", "--trainsize=14", "--validsize=7")
    assert train(text, run, *SMALL, *more) == 0
    state = _state(run)
    assert (state["finished"], state["epoch"], state["best_epoch"]) == (
        "earlystop",
        5,
        2,
    )
    assert state["weights"] == "epoch_0002"
    assert [row["best"] for row in _history(run)] == ["True", "True"] + ["False"] * 3


def test_epochs_are_time_steps_that_go_on(text, tmp_path, monkeypatch):
    chunks = []
    real = training.LanguageTrainer.train

    def seen(self, words, targets, state, sums):
        chunks.append(words.numpy())
        return real(self, words, targets, state, sums)

    monkeypatch.setattr(training.LanguageTrainer, "train", seen)
    run = tmp_path / "run"
    more = ("--trainsize=17", "--batchsize=4,2,1", "--maxepoch=2")
    assert train(text, run, *SMALL, *more) == 0
    assert [len(words) for words in chunks] == [7, 7, 3, 7, 7, 3]
    sentences = gbw_cache.load(str(run / "data")).sets["train"]
    streams = training.MultiSequence(sentences, 4)
    expected = [streams.sub(len(words)).inputs for words in chunks]
    np.testing.assert_array_equal(np.concatenate(chunks), np.concatenate(expected))
    assert len(_state(run)["valid_state"]) == 2 + 2 * 2


@pytest.mark.parametrize(
    ("output", "more"),
    [
        ("nce", ("--rownoise", "--Z=-1")),
        ("nce", ("--bfloat16", "--eps=1e-7")),
        ("nce", ("--set", "unigram_bias=true", "--set", "noise_power=0.5")),
        ("sampled_softmax", ()),
        ("full_softmax", ("--bfloat16",)),
    ],
)
def test_all_outputs_learn(text, tmp_path, output, more):
    run = tmp_path / "run"
    options = (f"--output={output}", *more, "--valid_perplexity=1", "--startlr=1")
    small = [one for one in SMALL if "full" not in output or "--k" not in one]
    assert train(text, run, *small, *options) == 0
    rows = _history(run)
    first, last = (float(row["valid_perplexity"]) for row in (rows[0], rows[-1]))
    # Biases that start right leave little to learn of random words.
    bound = len(WORDS) + 3 if "unigram_bias=true" in more else first
    assert last < bound < len(WORDS) + 5


@pytest.mark.parametrize("tables", ["momentum", "adagrad", "dense_momentum"])
def test_rules_of_tables_have_their_slots(text, tmp_path, tables):
    run = tmp_path / "run"
    assert train(text, run, *SMALL, f"--tables={tables}", "--maxepoch=1") == 0
    slots = weight_files.names(str(run / "resume" / _state(run)["last"]))
    assert {"embedding/embeddings", "output/linearity", "output/bias"} <= set(slots)


def test_without_momentum_there_are_no_slots(text, tmp_path):
    run = tmp_path / "run"
    assert train(text, run, *SMALL, "--momentum=-1", "--maxepoch=1") == 0
    slots = weight_files.names(str(run / "resume" / _state(run)["last"]))
    assert slots == ["iterations"]


@pytest.mark.parametrize("tables", ["sgd", "dense_momentum"])
def test_rows_are_kept_within_a_norm(text, tmp_path, tables):
    run = tmp_path / "run"
    more = ("--maxnormout=0.2", "--startlr=5", "--maxepoch=1", f"--tables={tables}")
    assert train(text, run, *SMALL, *more) == 0
    folder = str(run / "weights" / _state(run)["weights"])
    for name, axis in (
        ("embedding/embeddings", 1),
        ("output/linearity", 1),
        ("lstm_1/w_ifco_x", 0),
        ("lstm_2/w_ifco_h", 0),
    ):
        norms = np.linalg.norm(weight_files.read(folder, name), axis=axis)
        assert norms.max() <= 0.2 + 1e-6, name
        assert norms.max() > 0.15, name


def test_a_run_that_was_moved_goes_on_and_is_evaluated(text, tmp_path, capsys):
    run, moved = tmp_path / "run", tmp_path / "moved"
    assert train(text, run, *SMALL, "--maxepoch=1") == 0
    run.rename(moved)
    assert main.main(["eval", str(moved)]) == 0
    captured = capsys.readouterr()
    assert "perplexity" in captured.out
    assert train("--continue", moved, "--maxepoch=2", "--silent") == 0
    assert _state(moved)["epoch"] == 2
    assert "LOG (" not in capsys.readouterr().err
    assert "epoch 2: training error" in (moved / "log" / "train.log").read_text()
    assert not run.exists()


def test_gru_and_simple_rnn(text, tmp_path):
    for cell in ("rnn", "gru"):
        run = tmp_path / cell
        options = ("--hiddensize=6", "--maxepoch=1", "--startlr=0.5")
        more = ("--set", f"cell={cell}")
        assert train(text, run, *options, *more, model="language/rnn") == 0
        config = json.loads((run / "config.json").read_text())
        assert config["settings"]["output"] == "full_softmax"
        assert config["training"]["seqlen"] == 5
        assert (run / "weights" / "epoch_0001" / f"{cell}_1.bias.npy").exists()


def test_it_is_written_under_savepath_and_id(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert train(text, *SMALL, "--maxepoch=1", "--savepath=save", "--id=mine") == 0
    assert (tmp_path / "save" / "mine" / "state.json").exists()
    assert train(text, *SMALL, "--maxepoch=1", "--dontsave") == 0
    assert {path.name for path in tmp_path.iterdir()} == {"save"}


@pytest.fixture
def fail(monkeypatch):
    """Makes the loss of a pass no number, by its name."""
    real = training.LanguageTraining._pass

    def fail_in(what):
        def scored(self, streams, name, learn=True):
            sums, state = real(self, streams, name, learn)
            if name == what:
                sums.loss = float("nan")
            return sums, state

        monkeypatch.setattr(training.LanguageTraining, "_pass", scored)

    return fail_in


@pytest.mark.parametrize(
    ("what", "kind"), [("epoch 2", "training"), ("validation 2", "validation")]
)
def test_errors_that_are_no_numbers_end_it(what, kind, text, tmp_path, capsys, fail):
    fail(what)
    run = tmp_path / "run"
    told = _error(capsys, text, run, *SMALL)
    assert f"the {kind} error of epoch 2 is nan, at a learning rate of 0.46" in told
    assert _state(run)["epoch"] == 1


def test_a_cache_outlives_an_error_in_the_first_epoch(text, tmp_path, capsys, fail):
    fail("epoch 1")
    run = tmp_path / "run"
    assert "the training error of epoch 1 is nan" in _error(capsys, text, run, *SMALL)
    assert os.listdir(run) == ["data"]
    made = os.stat(run / "data" / "manifest.json").st_mtime_ns
    fail(None)
    assert train(text, run, *SMALL, "--maxepoch=1") == 0
    assert os.stat(run / "data" / "manifest.json").st_mtime_ns == made


def test_the_constant_that_was_estimated_is_told(text, tmp_path):
    run = tmp_path / "run"
    assert train(text, run, *SMALL, "--Z=-1", "--maxepoch=1") == 0
    folder = str(run / "weights" / "epoch_0001")
    z = float(weight_files.read(folder, "output/z"))
    # The first time step is a separator everywhere: scores are the biases.
    assert z == pytest.approx(1, abs=1e-5)
    assert "Z = 1, as it was estimated" in (run / "log" / "train.log").read_text()


def _error(capsys, *words, code=1):
    assert train(*words) == code
    lines = capsys.readouterr().err.strip().splitlines()
    return next(line for line in lines if line.startswith("seqzoo train:"))


def test_bad_input(whole, text, tmp_path, capsys):
    run = tmp_path / "run"
    for words, told in (
        (("--hiddensize=0",), "hiddensize is (0,); a width of 1 or more"),
        (("--batchsize=1,2",), "one number, or three for training"),
        (("--batchsize=x",), "a whole number, or three"),
        (("--startlr=0",), "startlr is 0.0"),
        (("--schedule=x",), "learning rates by epoch"),
        (("--output=full_softmax",), "--k says nothing where the output is full_s"),
        (("--output=sampled_softmax", "--Z=1"), "--Z says nothing where"),
        (("--preset=gbw_2x25",), "did you mean gbw_2x250?"),
        (("--tables=momentum", "--momentum=0"), "give momentum"),
        (("--init", whole, "--hiddensize=9,9"), "hiddensize is (8, 6), not (9, 9)"),
        (("--init", tmp_path), "not the folder of a language model"),
        (("--vocabulary=init",), "is for --init"),
        (("--tiny",), "only a Torch set has"),
        (("--cuda",), "there are 0 GPUs"),
        (("--device=2",), "--device is for --cuda"),
        (("--id=mine",), "--id makes the name of a run folder, and RUN_DIR is one"),
        (("--savepath=a",), "--savepath makes the name of a run folder"),
        (("--continue", whole), "RUN_DIR and --continue name two run folders"),
        (("--continue", whole, "--init", whole), "--init and --continue name two"),
        (("--continue", whole, "--dontsave"), "--dontsave keeps none; give one"),
        (("--continue", tmp_path / "none"), "there is no such run folder"),
        (("--continue", tmp_path), "not the folder of a language model"),
    ):
        kept = unless(SMALL, words)
        assert told in _error(capsys, text, run, *kept, *words), words
        assert not run.exists(), words
    assert "no text of a language model" in _error(capsys, tmp_path, run, *SMALL)
    (tmp_path / "train.txt").write_text("a b\n")
    assert "held-out text is missing" in _error(capsys, tmp_path, run, *SMALL)
    told = _error(capsys, text, run, *SMALL, "--set", "words=5")
    assert "words is 5, but the data has 17 words; leave it out." in told
    assert os.listdir(run) == ["data"]  # It was read before, and is good.
    told = _error(capsys, text, *SMALL, "--continue", tmp_path / "none")
    assert "there is no such run folder" in told


def test_the_flags_of_the_scripts_are_all_there():
    _, flags = main.load("train", ["language/lstm"])
    for name in (
        "startlr minlr saturate schedule momentum maxnormout cutoff maxepoch earlystop "
        "uniform k Z rownoise seqlen inputsize hiddensize projsize dropout batchsize "
        "trainsize validsize cuda device profile progress silent continue savepath id "
        "tiny dontsave"
    ).split():
        assert name in flags, name


def test_the_recipes(capsys):
    assert main.main(["models"]) == 0
    page = capsys.readouterr().out
    for name in ("language/lstm", "language/rnn", "gbw_2x250", "gbw_4x2048"):
        assert name in page
