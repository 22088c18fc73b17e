"""Torch's layers as models of ours."""

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo import registry
from seqzoo.zoo.checkpoints import torch_scores
from seqzoo.zoo.checkpoints.torch_modules import (
    Dropout,
    Linear,
    LookupTable,
    Nce,
    SeqLstm,
)
from seqzoo.zoo.language import torch_weights

WORDS = 7


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def lstm(rng, inputs, outputs, cells=None, mask_zero=True):
    return SeqLstm(
        weight=rng.normal(size=(inputs + outputs, 4 * (cells or outputs))),
        bias=rng.normal(size=4 * (cells or outputs)),
        projection=None if cells is None else rng.normal(size=(cells, outputs)),
        mask_zero=mask_zero,
    )


def nce(rng, dim, **fields):
    fields = {"k": 5, "z": 1.0, "batch_noise": True} | fields
    return Nce(
        weight=rng.normal(size=(WORDS, dim)),
        bias=rng.normal(size=WORDS),
        unigrams=np.full(WORDS, 1 / WORDS, np.float32),
        **fields,
    )


def table(rng, dim, mask_zero=True):
    return LookupTable(weight=rng.normal(size=(WORDS, dim)), mask_zero=mask_zero)


def log_probs(model, inputs, targets):
    found, _ = model.log_probs(
        inputs[:, None], np.where(inputs == 0, 0, targets)[:, None], model.zero_state(1)
    )
    return found.numpy()[:, 0]


def test_scores_are_those_of_torch(rng):
    cases = {
        "projected": [
            table(rng, 3),
            Dropout(rate=0.2),
            lstm(rng, 3, 4, cells=6),
            lstm(rng, 4, 2, cells=6),
            nce(rng, 2),
        ],
        "plain": [table(rng, 3), lstm(rng, 3, 4), lstm(rng, 4, 2), nce(rng, 2)],
        "characters": [
            table(rng, 3, mask_zero=False),
            lstm(rng, 3, 4, mask_zero=False),
            Linear(weight=rng.normal(size=(WORDS, 4)), bias=rng.normal(size=WORDS)),
        ],
    }
    inputs = np.array([0, 3, 7, 1, 0, 1, 2, 5, 4, 6])
    targets = np.array([1, 7, 1, 2, 1, 2, 3, 4, 6, 1])
    for case, layers in cases.items():
        if case == "characters":
            inputs, targets = inputs[5:], targets[5:]
        name, config = torch_weights.config(layers, {})
        model = registry.build(name, config)
        torch_weights.set_weights(model, layers)
        assert not model.embedding.embeddings.value[0].numpy().any()
        expected = torch_scores.target_log_probs(layers, inputs, targets)
        found = log_probs(model, inputs, targets)
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=case)


def test_settings(rng):
    layers = [
        table(rng, 3),
        Dropout(rate=0.2),
        lstm(rng, 3, 4, cells=6),
        Dropout(rate=0.2),
        nce(rng, 4, k=9, z=2.5, batch_noise=False),
    ]
    name, config = torch_weights.config(layers, {"uniform": 0.05, "Z": 2.5})
    assert name == "language/lstm"
    assert (config.words, config.hiddensize, config.inputsize) == (WORDS, (4,), 3)
    assert (config.projsize, config.dropout, config.uniform) == (6, 0.2, 0.05)
    assert (config.output, config.k, config.Z) == ("nce", 9, 2.5)
    assert config.rownoise and not config.peepholes
    layers = [table(rng, 4), lstm(rng, 4, 4), nce(rng, 4)]
    _, config = torch_weights.config(layers, {})
    assert (config.inputsize, config.projsize, config.dropout) == (-1, -1, 0)


@pytest.mark.parametrize("found, kept", [(-1.0, 0.0), (1.25, 1.25)])
def test_a_constant_that_is_estimated_is_kept(rng, found, kept):
    layers = [table(rng, 2), lstm(rng, 2, 2), nce(rng, 2, z=found)]
    name, config = torch_weights.config(layers, {"Z": -1.0})
    assert config.Z == -1
    model = registry.build(name, config)
    torch_weights.set_weights(model, layers)
    assert model.output_layer.z.numpy() == kept


def test_what_has_no_counterpart(rng):
    layers = [table(rng, 3), lstm(rng, 3, 4, 6), lstm(rng, 4, 4), nce(rng, 4)]
    with pytest.raises(InputError, match="LSTMs of 6 cells projected to 4, 4 cells:"):
        torch_weights.config(layers, {})
    layers = [table(rng, 3), lstm(rng, 3, 4, mask_zero=False), nce(rng, 4)]
    with pytest.raises(InputError, match="LSTMs without maskzero behind a Lookup"):
        torch_weights.config(layers, {})
    with pytest.raises(InputError, match="does not begin with a lookup table"):
        torch_weights.config(layers[1:], {})
