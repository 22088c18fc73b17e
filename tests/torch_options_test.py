"""Options of Torch's scripts under our names."""

import dataclasses
import json

from seqzoo.datasets.torch_values import TableKey, TorchFunction, TorchObject
from seqzoo.zoo.language import torch_options
from seqzoo.zoo.language.train_options import LanguageTrainOptions

DEFAULTS = dataclasses.asdict(LanguageTrainOptions())


def test_options_of_the_language_model_script():
    opt = {
        "startlr": 1.0,
        "minlr": 0.001,
        "saturate": 300.0,
        "schedule": {5: 0.5, 8: 0.25},
        "momentum": 0.9,
        "maxnormout": -1.0,
        "cutoff": 10.0,
        "maxepoch": 1000.0,
        "earlystop": 50.0,
        "batchsize": 128.0,
        "seqlen": 50.0,
        "trainsize": 400000.0,
        "validsize": -1.0,
        "hiddensize": [250.0, 250.0],
        "cuda": True,
    }
    found = torch_options.of_script(opt)
    assert found.keys() == DEFAULTS.keys()
    assert found == DEFAULTS | {
        "startlr": 1.0,
        "minlr": 0.001,
        "saturate": 300,
        "schedule": "{[5]=0.5,[8]=0.25}",
        "momentum": 0.9,
        "tables": "dense_momentum",
        "cutoff": 10.0,
        "batchsize": [128],
        "trainsize": 400000,
        "validsize": -1,
    }
    LanguageTrainOptions(**found)


def test_schedules_and_values_of_other_types():
    for given, wanted in (
        ("", ""),
        ({}, ""),
        (None, ""),
        ([0.5, 0.25], "{[1]=0.5,[2]=0.25}"),
    ):
        assert torch_options.of_script({"schedule": given})["schedule"] == wanted
    odd = {
        "startlr": "x",
        "seqlen": 0.5,
        "momentum": -1.0,
        "batchsize": [8.0, 2.0, 1.0],
    }
    found = torch_options.of_script(odd)
    assert found["startlr"] == DEFAULTS["startlr"]
    assert found["seqlen"] == DEFAULTS["seqlen"]
    assert (found["tables"], found["batchsize"]) == ("sgd", [8, 2, 1])


def test_options_of_torch_rnn():
    opt = {
        "learning_rate": 0.002,
        "max_epochs": 12.0,
        "batch_size": 50.0,
        "seq_length": 25.0,
        "lr_decay_every": 5.0,
        "lr_decay_factor": 0.5,
    }
    found = torch_options.of_torch_rnn(opt)
    assert found == DEFAULTS | {
        "startlr": 0.002,
        "maxepoch": 12,
        "batchsize": [50],
        "seqlen": 25,
        "momentum": -1.0,
        "schedule": "{[5]=0.001,[10]=0.0005}",
    }
    assert torch_options.of_torch_rnn({})["schedule"] == ""


def test_plain_values():
    value = {
        "a": 2.0,
        "b": [1.5, TorchObject("nn.X"), {3: b"\xff"}],
        "f": TorchFunction(b""),
        TableKey(True): None,
    }
    found = torch_options.plain(value)
    assert found == {"a": 2, "b": [1.5, {"3": "\\xff"}], "TableKey(True)": None}
    assert json.loads(json.dumps(found)) == found
