"""Scores of utterances: against the NumPy forward pass, traces, and what is refused."""

import itertools
import logging

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import forward as forward_module
from seqzoo.zoo.acoustic import nnet_scores
from seqzoo.zoo.acoustic.forward import forward
from seqzoo.zoo.acoustic.nnet_scores import NnetScores
from seqzoo.zoo.acoustic.score_options import ScoreOptions
from seqzoo.zoo.checkpoints import components, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet

PROTO = """
<AffineTransform> <InputDim> 6 <OutputDim> 8 <BiasMean> 0 <BiasRange> 2 <ParamStddev> 1
<Sigmoid> <InputDim> 8 <OutputDim> 8
<Dropout> <InputDim> 8 <OutputDim> 8 <DropoutRate> 0.5
<AffineTransform> <InputDim> 8 <OutputDim> 5 <BiasMean> 0 <BiasRange> 2 <ParamStddev> 2
<Softmax> <InputDim> 5 <OutputDim> 5
"""


@pytest.fixture(scope="module")
def nnet():
    return nnet_proto.initialize(PROTO, 1)


@pytest.fixture(scope="module")
def transform():
    return Nnet(
        [
            components.Splice(2, 6, [-1, 0, 2]),
            components.AddShift(6, 6, np.arange(6, dtype=np.float32), 0.0),
        ]
    )


@pytest.fixture(scope="module")
def utterances():
    random = np.random.default_rng(3)
    return [
        (f"utt{n}", random.normal(size=(frames, 2)).astype(np.float32))
        for n, frames in enumerate([4, 1, 9, 30])
    ]


def run(scores, utterances):
    """The outputs by utterance, in order, and the report."""
    found = []
    report = forward(scores, utterances, lambda utt, y: found.append((utt, y)))
    return found, report


def by_numpy(nnet, transform, utterances):
    return [(utt, nnet.propagate(transform.propagate(x))) for utt, x in utterances]


def check_close(found, expected):
    assert [utt for utt, _ in found] == [utt for utt, _ in expected]
    for (_, actual), (_, wanted) in zip(found, expected, strict=True):
        assert actual.dtype == np.float32
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-7)


def test_equals_the_network_in_numpy(nnet, transform, utterances):
    found, report = run(NnetScores(nnet, transform), utterances)
    check_close(found, by_numpy(nnet, transform, utterances))
    assert (report.files, report.frames) == (4, 44)
    assert str(report).startswith("Done 4 files in ")
    assert " min, (fps " in str(report)


def test_utterances_in_several_blocks_and_batches(
    nnet, transform, utterances, monkeypatch
):
    monkeypatch.setattr(nnet_scores, "_BLOCK", 7)
    monkeypatch.setattr(forward_module, "_FRAMES", 5)
    found, _ = run(NnetScores(nnet, transform), utterances)
    check_close(found, by_numpy(nnet, transform, utterances))


def test_a_splice_in_the_middle_stays_within_its_utterance(nnet, utterances):
    spliced = Nnet(
        [
            components.LinearTransform(2, 2, np.float32([[1, 2], [3, 4]])),
            components.Splice(2, 6, [-4, 0, 4]),
        ]
    )
    found, _ = run(NnetScores(nnet, spliced), utterances)
    check_close(found, by_numpy(nnet, spliced, utterances))


def test_a_network_that_only_splices(transform, utterances):
    found, _ = run(NnetScores(transform), utterances)
    expected = [(utt, transform.propagate(x)) for utt, x in utterances]
    check_close(found, expected)


def test_lengths_are_not_traced_anew(nnet, transform):
    scores = NnetScores(nnet, transform)
    for frames in (3, 40, 7, 2100):
        scores([np.zeros((frames, 2), np.float32)] * 2)
    assert scores.traces == 2  # the part before the last splice, and the rest


def test_log_is_finite_where_a_posterior_is_0():
    nnet = Nnet(
        [
            components.AddShift(2, 2, np.float32([0, 500])),
            components.Softmax(2, 2),
        ]
    )
    feats = [("a", np.zeros((1, 2), np.float32))]
    [(_, posteriors)], _ = run(NnetScores(nnet), feats)
    assert posteriors.tolist() == [[0, 1]]
    [(_, logs)], _ = run(NnetScores(nnet, None, ScoreOptions(apply_log=True)), feats)
    np.testing.assert_allclose(logs, [[np.log(1e-20), 0]], rtol=1e-6)


def test_logits_are_log_posteriors_but_for_a_constant_a_frame(
    nnet, transform, utterances
):
    logits, _ = run(
        NnetScores(nnet, transform, ScoreOptions(no_softmax=True)), utterances
    )
    logs, _ = run(NnetScores(nnet, transform, ScoreOptions(apply_log=True)), utterances)
    for (_, logit), (_, log) in zip(logits, logs, strict=True):
        constants = np.ptp(logit - log, axis=1)
        np.testing.assert_allclose(constants, 0, atol=1e-4)


def test_no_softmax_without_one_is_told(transform, utterances, caplog):
    with caplog.at_level(logging.WARNING, "seqzoo"):
        scores = NnetScores(transform, None, ScoreOptions(no_softmax=True))
    assert "ends in <AddShift>, which is kept" in caplog.text
    check_close(
        run(scores, utterances)[0],
        [(utt, transform.propagate(x)) for utt, x in utterances],
    )


def test_priors_are_subtracted_last(nnet, transform, utterances):
    priors = np.arange(5, dtype=np.float32)
    options = ScoreOptions(apply_log=True, log_priors=priors)
    found, _ = run(NnetScores(nnet, transform, options), utterances)
    check_close(
        found,
        [
            (utt, np.log(y + 1e-20) - priors)
            for utt, y in by_numpy(nnet, transform, utterances)
        ],
    )


def test_priors_of_another_network(nnet):
    options = ScoreOptions(log_priors=np.zeros(4, np.float32))
    with pytest.raises(InputError, match=r"\(4,\), but the network puts out 5"):
        NnetScores(nnet, None, options)


def test_log_and_no_softmax():
    with pytest.raises(InputError, match="apply_log and no_softmax exclude each other"):
        ScoreOptions(apply_log=True, no_softmax=True)


def test_a_transform_of_another_network(nnet):
    transform = Nnet([components.Splice(2, 4, [0, 1])])
    with pytest.raises(InputError, match="puts out 4 .* the network takes 6"):
        NnetScores(nnet, transform)


def test_features_of_another_dimension(nnet, transform):
    feats = [("good", np.zeros((3, 2))), ("bad", np.zeros((3, 13)))]
    with pytest.raises(InputError, match=r"'bad': .* \(3, 13\); .* takes 2 numbers"):
        run(NnetScores(nnet, transform), feats)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_feature_that_is_not_finite(nnet, transform, value):
    feats = np.zeros((3, 2), np.float32)
    feats[1, 0] = value
    with pytest.raises(InputError, match=rf"'a': frame 1: feature 0 is {value}"):
        run(NnetScores(nnet, transform), [("a", feats)])


def test_an_output_that_is_not_finite(nnet):
    broken = Nnet([components.AddShift(2, 2, np.float32([0, np.nan]))])
    with pytest.raises(InputError, match="'a': frame 0: output 1 is nan"):
        run(NnetScores(broken), [("a", np.zeros((1, 2), np.float32))])


def test_no_utterances(nnet):
    with pytest.raises(InputError, match="the set is empty"):
        run(NnetScores(nnet), [])
    assert NnetScores(nnet)([]) == []


def test_utterances_are_written_on_the_way(nnet, transform):
    """A table of any length runs in the memory of a batch."""
    taken = itertools.count()
    feats = ((f"{next(taken)}", np.zeros((1500, 2), np.float32)) for _ in range(9))
    ahead = []
    forward(
        NnetScores(nnet, transform), feats, lambda utt, y: ahead.append(next(taken))
    )
    assert max(np.diff(ahead)) <= 3
