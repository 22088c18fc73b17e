"""Our models with the weights of trainings that Torch saved, and what it computed."""

import contextlib
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets.sentences import Sentences
from seqzoo.zoo import registry
from seqzoo.zoo.checkpoints import xplog
from seqzoo.zoo.language import evaluate, torch_weights
from tests.small_language_models import float64

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "torch"
_LOGS = sorted(_GOLDENS.glob("*/xplog_*.t7"))
_TOLERANCE = {"float32": 1e-5, "float64": 1e-12}


@pytest.fixture(
    scope="module",
    params=[(path, dtype) for path in _LOGS for dtype in _TOLERANCE],
    ids=lambda param: f"{param[0].stem}-{param[1]}",
)
def case(request):
    """A model, the training, what is expected, and how near."""
    path, dtype = request.param
    log = xplog.read(str(path))
    with float64() if dtype == "float64" else contextlib.nullcontext():
        model = registry.build(*torch_weights.config(log.layers, log.opt))
    torch_weights.set_weights(model, log.layers)
    name = path.stem.removeprefix("xplog_")
    expected = dict(np.load(_GOLDENS / f"{name}lm_expected.npz"))
    return model, log, expected, _TOLERANCE[dtype]


def _sentences(expected):
    """Of the recorded stream, in which inputs of 0 stand between them."""
    inputs, targets = expected["test_inputs"], expected["test_targets"]
    return Sentences.of(
        np.concatenate([ids[1:2], target[1:]])
        for ids, target in zip(
            np.split(inputs, np.flatnonzero(inputs == 0))[1:],
            np.split(targets, np.flatnonzero(inputs == 0))[1:],
            strict=True,
        )
    )


@pytest.mark.parametrize("batch_size, positions", [(1, 8192), (50, 8192), (4, 9)])
def test_golden_torch_word_log_probs(case, batch_size, positions):
    model, _, expected, tolerance = case
    scorer = evaluate.WordScorer(model, batch_size, positions)
    recorded = expected["test_logprob_or_0_masked"][expected["test_inputs"] > 0]
    found = scorer.log_probs(_sentences(expected))
    np.testing.assert_allclose(found, recorded, rtol=tolerance)


@pytest.mark.parametrize("batch_size", [1, 50])
def test_golden_torch_model_perplexity(case, batch_size):
    model, _, expected, tolerance = case
    found = evaluate.evaluate(model, _sentences(expected), batch_size=batch_size)
    assert found.words == expected["test_count"][0]
    np.testing.assert_allclose(found.perplexity, expected["test_ppl"][0], tolerance)
    if tolerance < 1e-10:
        assert f"{found.perplexity:.12f}" == f"{expected['test_ppl'][0]:.12f}"


def test_golden_torch_next_word_log_probs(case):
    model, log, expected, tolerance = case
    start = log.words.index("<S>") + 1
    keys = [key for key in expected if key.startswith("next_logprob_after_S")]
    assert keys
    for key in keys:
        ids = [start, *map(int, key.split("_")[4:])]
        words = tf.constant(ids)[:, tf.newaxis]
        found, _ = model.next_log_probs(words, model.zero_state(1))
        np.testing.assert_allclose(found[0], expected[key], rtol=tolerance)
