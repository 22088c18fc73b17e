"""What Torch's scripts save, with random weights, as values that are written."""

import numpy as np

from seqzoo.datasets.torch_values import TorchObject

WORDS = 5


def module(name, **fields):
    return TorchObject(f"nn.{name}", fields)


def chain(name, *modules):
    return module(name, modules=list(modules))


def make_table(rng, dim):
    return module("LookupTableMaskZero", weight=rng.normal(size=(WORDS + 1, dim)))


def make_lstm(rng, inputs, cells, outputs=None, **fields):
    if outputs is not None:
        fields["weightO"] = rng.normal(size=(cells, outputs))
    weight = rng.normal(size=(inputs + (outputs or cells), 4 * cells))
    name = "SeqLSTM" if outputs is None else "SeqLSTMP"
    bias = rng.normal(size=4 * cells)
    return module(name, weight=weight, bias=bias, maskzero=True, **fields)


def make_nce(rng, dim, **fields):
    return module(
        "NCEModule",
        weight=rng.normal(size=(WORDS, dim)),
        bias=rng.normal(size=WORDS),
        unigrams=np.full(WORDS, 0.2, "f4"),
        k=7,
        Z=np.array([1.0]),
        batchnoise=True,
        **fields,
    )


def make_model(rng, table=None, lstms=None, output=None):
    """As the script builds it."""
    lm = chain(
        "Sequential", table or make_table(rng, 3), *(lstms or [make_lstm(rng, 3, 4)])
    )
    lm["modules"].append(module("SplitTable", dimension=1))
    masked = chain("MaskZero", output or make_nce(rng, 4))
    recursor = module("Recursor", module=masked, modules=[masked])
    both = chain("ParallelTable", lm, module("Identity"))
    steps = module("Sequencer", module=recursor, modules=[recursor])
    return chain("Serial", chain("Sequential", both, module("ZipTable"), steps))


def make_log(model, **fields):
    vocab = {word: i for i, word in enumerate(["a", "b", "<UNK>", "<S>", "</S>"], 1)}
    log = {
        "opt": {"lr": 0.5, "hiddensize": [4]},
        "dataset": "GoogleBillionWords",
        "vocab": vocab,
        "model": model,
        "epoch": 2,
        "trainnceloss": [3.0, 2.0],
        "valnceloss": {},
        "minvalnceloss": 2.5,
    }
    return log | fields


def make_checkpoint(tokens="ab\n", **fields):
    """As train.lua saves it: two layers, characters from 1 on."""
    rng = np.random.default_rng(5)
    words = len(tokens)

    def floats(*shape):
        return rng.normal(size=shape).astype("f4")

    table = module("LookupTable", weight=floats(words, 2))
    first = module("LSTM", weight=floats(5, 12), bias=floats(12), input_dim=2)
    second = module("LSTM", weight=floats(6, 12), bias=floats(12), input_dim=3)
    linear = module("Linear", weight=floats(words, 3), bias=floats(words))
    modules = [table, first, second, module("View"), linear, module("View")]
    net = module(
        "LanguageModel",
        net=module("Sequential", modules=modules),
        rnns=[first, second],
        idx_to_token=list(tokens),
    )
    value = {
        "opt": {"rnn_size": 3, "checkpoint_name": "cv/x"},
        "i": 40,
        "model": net,
        "train_loss_history": [2.0, 1.0],
        "val_loss_history": [1.5],
    }
    return value | fields
