import numpy as np
import pytest

from seqzoo.datasets import torch_file, torch_writer
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.torch_values import TorchFunction, TorchObject
from seqzoo.zoo.checkpoints import torch_modules, torch_scores, xplog
from seqzoo.zoo.checkpoints.torch_modules import Dropout, LookupTable, Nce, SeqLstm
from tests.torch_logs import (
    WORDS,
    chain,
    make_log,
    make_lstm,
    make_model,
    make_nce,
    make_table,
    module,
)


def _read(log):
    return xplog.parse(torch_file.parse(torch_writer.to_bytes(log), "x"), "x.t7")


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_what_a_log_holds(rng):
    log = _read(make_log(make_model(rng)))
    assert log.words == ["a", "b", "<UNK>", "<S>", "</S>"]
    assert log.opt == {"lr": 0.5, "hiddensize": [4]} and log.epoch == 2
    assert log.train_losses == [3, 2] and log.valid_losses == []
    assert log.best_valid_loss == 2.5 and log.dataset == "GoogleBillionWords"
    table, lstm, nce = log.layers
    assert isinstance(table, LookupTable) and table.weight.shape == (WORDS, 3)
    assert isinstance(lstm, SeqLstm) and (lstm.inputs, lstm.cells) == (3, 4)
    assert isinstance(nce, Nce) and (nce.k, nce.z, nce.batch_noise) == (7, 1, True)


def test_weights_are_copies_that_may_be_changed(rng):
    for layer in _read(make_log(make_model(rng))).layers:
        assert layer.weight.flags.writeable and layer.weight.flags.aligned


def test_words_that_are_no_utf8_are_kept(rng):
    vocab = {b"caf\xe9": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    log = _read(make_log(make_model(rng), vocab=vocab))
    assert log.words[0].encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_models_on_several_devices(rng):
    halves = [make_table(rng, 1), make_table(rng, 2)]
    table = chain("Concat", *(chain("GPU", half) for half in halves))
    lstms = [
        chain("GPU", make_lstm(rng, 3, 4)),
        chain("GPU", module("Dropout", p=0.2, v2=True)),
    ]
    table, _, dropout, _ = _read(make_log(make_model(rng, table, lstms))).layers
    expected = np.concatenate([half["weight"][1:] for half in halves], 1)
    np.testing.assert_array_equal(table.weight, expected)
    assert isinstance(dropout, Dropout) and dropout.rate == 0.2


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_scores_of_a_projected_lstm(rng):
    log = _read(make_log(make_model(rng, lstms=[make_lstm(rng, 3, 6, 4)])))
    table, lstm, nce = log.layers
    inputs = np.array([4, 1, 0, 4, 2])
    targets = np.array([1, 5, 1, 2, 5])
    expected = []
    h, c = np.zeros(4), np.zeros(6)
    for word, target in zip(inputs, targets, strict=True):
        if word == 0:
            h, c = np.zeros(4), np.zeros(6)
            expected.append(0)
            continue
        x = np.concatenate([table.weight[word - 1], h])
        gates = lstm.bias + sum(x[j] * lstm.weight[j] for j in range(7))
        i, f, o, g = (gates[6 * n : 6 * n + 6] for n in range(4))
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = (_sigmoid(o) * np.tanh(c)) @ lstm.projection
        scores = np.exp(nce.weight @ h + nce.bias)
        expected.append(np.log(scores[target - 1] / scores.sum()))
    found = torch_scores.target_log_probs(log.layers, inputs, targets)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_logs_only():
    for value, found in [
        (5.0, "a number, but"),
        (TorchFunction(b""), "a function, but"),
        (np.zeros(2, "f4"), "a tensor of float32, but"),
        ({}, "a table with nothing"),
        ({"a": 1.0, "b\n": 2.0}, r"a table with 'a', 'b\\n', but"),
        (TorchObject("nn.Linear"), "nn.Linear, but"),
    ]:
        with pytest.raises(InputError, match=f"x.t7: {found}") as error:
            xplog.parse(value, "x.t7")
        assert "\n" not in str(error.value)


def _wrong_models():
    rng = np.random.default_rng(4)
    other = module("BatchNormalization")
    yield dict(lstms=[other]), r"modules\[2\]: the module nn.BatchNormalization is not"
    yield dict(lstms=[make_lstm(rng, 2, 4)]), "a SeqLstm takes 2 values, but gets 3"
    yield dict(output=module("Identity")), "does not end with an NCEModule"
    yield dict(table=module("Identity")), "does not begin with a lookup table"
    yield (
        dict(lstms=[module("Identity")], output=make_nce(rng, 3)),
        "there are not LSTMs",
    )
    lstm = make_lstm(rng, 3, 4)
    lstm.fields["bias"] = np.zeros(12)
    yield dict(lstms=[lstm]), "nn.SeqLSTM with shapes"
    nce = make_nce(rng, 4)
    nce.fields["unigrams"] = np.zeros(3)
    yield dict(output=nce), "3 unigrams for 5 words"
    nce = make_nce(rng, 4)
    nce.fields["k"] = "seven"
    yield dict(output=nce), "a str, no number"
    table = module("LookupTableMaskZero", weight=np.zeros((3, 3)))
    yield dict(table=table), "its table has 2 words and its output 5"
    table = module("LookupTableMaskZero", weight=np.zeros((6, 3), "i4"))
    yield dict(table=table), "a tensor of int32, no tensor of floats"
    yield dict(table=chain("Concat", make_nce(rng, 3))), "only of lookup tables"
    loop = chain("Sequential")
    loop["modules"].append(loop)
    yield dict(table=loop), "more than 1000 modules in one another"
    old = module("Dropout", p=0.5)
    yield dict(lstms=[old]), "nn.Dropout of a version before 2"
    yield dict(lstms=[module("SeqGRU")]), "the module nn.SeqGRU is not known here"
    yield dict(table=module("Sequential")), "nn.Sequential without its modules"


@pytest.mark.parametrize("parts, message", list(_wrong_models()))
def test_models_that_are_none(rng, parts, message):
    with pytest.raises(InputError, match=message) as error:
        _read(make_log(make_model(rng, **parts)))
    assert str(error.value).startswith("x.t7: model")


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"vocab": {"a": 1, "b": 1}}, "vocab: 'b' has id 1.0, but the ids of 2 words"),
        ({"vocab": {"a": 2}}, "vocab: 'a' has id 2.0"),
        ({"vocab": {"a": "x"}}, "vocab: 'a' has id x"),
        ({"vocab": {"a": 1}}, "a vocabulary of 1 words for a model of 5"),
        ({"vocab": {}}, "vocab: no table of words"),
        ({"trainnceloss": ["x"]}, "trainnceloss: no list of numbers"),
        ({"epoch": "x"}, "the log.epoch: a str, no number"),
    ],
)
def test_what_is_wrong_is_told(rng, fields, message):
    with pytest.raises(InputError, match=message):
        _read(make_log(make_model(rng), **fields))


def test_nothing_of_a_function_is_taken_for_a_model(rng):
    value = torch_file.parse(torch_writer.to_bytes(make_log(make_model(rng))), "x.t7")
    with pytest.raises(InputError, match="model: a function, but a module of nn is"):
        xplog.parse({**value, "model": TorchFunction(b"")}, "x.t7")


def test_a_tensor_larger_than_its_storage_is_not_copied():
    weight = np.lib.stride_tricks.as_strided(np.zeros(4), (10**6, 10**6), (0, 0))
    reader = torch_modules.ModuleReader("x.t7")
    with pytest.raises(InputError, match="larger than its storage"):
        reader.layers(module("LookupTable", weight=weight), "model")
