"""Trainings that Torch saved, and what it computed with them."""

import pathlib

import numpy as np
import pytest

from seqzoo.zoo.checkpoints import torch_modules, torch_scores, xplog

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
_LOGS = sorted(_GOLDENS.glob("*/xplog_*.t7"))


@pytest.fixture(params=_LOGS, ids=lambda path: path.stem)
def case(request):
    """A log, and what is expected of it: xplog_tiny.t7 and tinylm_expected.npz."""
    name = request.param.stem.removeprefix("xplog_")
    expected = dict(np.load(_GOLDENS / f"{name}lm_expected.npz"))
    return xplog.read(str(request.param)), expected


def _parameters(layers):
    for layer in layers:
        if isinstance(layer, torch_modules.Dropout):
            continue
        if isinstance(layer, torch_modules.LookupTable) and layer.mask_zero:
            yield np.concatenate([0 * layer.weight[:1], layer.weight])
            continue
        yield layer.weight
        if not isinstance(layer, torch_modules.LookupTable):
            yield layer.bias


def test_golden_torch_parameters(case):
    log, expected = case
    found = list(_parameters(log.layers))
    assert f"param{len(found)}" in expected and f"param{len(found) + 1}" not in expected
    for i, values in enumerate(found, 1):
        np.testing.assert_array_equal(values, expected[f"param{i}"], strict=True)


def test_golden_torch_history(case):
    log, expected = case
    np.testing.assert_array_equal(log.train_losses, expected["trainnceloss"])
    np.testing.assert_array_equal(log.valid_losses, expected["valnceloss"])
    assert log.best_valid_loss == expected["minvalnceloss"][0]
    assert log.epoch == expected["epoch"][0]


def test_golden_torch_perplexity(case):
    log, expected = case
    inputs, targets = expected["test_inputs"], expected["test_targets"]
    logs = torch_scores.target_log_probs(log.layers, inputs, targets)
    recorded = expected["test_logprob_or_0_masked"]
    np.testing.assert_allclose(logs, recorded, rtol=1e-12)
    assert (inputs > 0).sum() == expected["test_count"][0]
    found = np.exp(-logs.sum() / (inputs > 0).sum())
    assert f"{found:.12f}" == f"{expected['test_ppl'][0]:.12f}"


def test_golden_torch_next_words(case):
    log, expected = case
    start = log.words.index("<S>") + 1
    for key, values in expected.items():
        if key.startswith("next_logprob_after_S"):
            ids = [start, *map(int, key.split("_")[4:])]
            hidden = torch_scores.hidden_values(log.layers, np.array(ids))
            found = torch_scores.log_softmax(log.layers[-1], hidden)[-1]
            np.testing.assert_allclose(found, values, rtol=1e-12)


def test_the_perplexity_that_torch_printed():
    expected = np.load(_GOLDENS / "tinylm_expected.npz")["test_ppl"][0]
    assert f"{expected:.12f}" == "34.549896681596"
