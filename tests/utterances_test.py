import logging
import pathlib
import re

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.utterances import Utterances

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"
CASES = [
    case
    for case in sorted(GOLDENS.glob("train_*"))
    if "nnet-train-frmshuff" in (case / "README").read_text()
    and (case / "post.txt").exists()
]
DONE = re.compile(r"Done (\d+) files, (\d+) with no tgt_mats, (\d+) with other errors")
WARNING = re.compile(r"WARNING .*main\(\):\S+:\d+\) (.*)")
FRAMES = re.compile(r"Frames per-class: \[ (.*) \]")


def feats(frames, dim=2):
    return np.arange(frames * dim, dtype=np.float32).reshape(frames, dim)


def joined(features, targets, **options):
    return Utterances(list(features.items()), targets, **options)


def command_of(case):
    lines = (case / "README").read_text().splitlines()
    return next(line for line in lines if line.startswith("nnet-train-frmshuff "))


def golden_utterances(case):
    words = command_of(case).split()
    options = dict(word[2:].split("=", 1) for word in words if word.startswith("--"))
    feats_and_targets = [
        f"ark:{case}/{word[4:]}" for word in words if word.startswith("ark:")
    ]
    weights = {
        name.replace("-", "_"): f"ark:{case}/{value[4:]}"
        for name, value in options.items()
        if name in ("frame-weights", "utt-weights")
    }
    return Utterances(*feats_and_targets, **weights)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden_kaldi_counts(case, caplog):
    log = (case / "train.log").read_text()
    utterances = golden_utterances(case)
    with caplog.at_level(logging.WARNING):
        list(utterances)
    counted = (utterances.num_done, utterances.no_targets, utterances.other_errors)
    assert counted == tuple(map(int, DONE.search(log).groups()))
    assert caplog.messages == WARNING.findall(log)


def counts_classes(case) -> bool:
    """Whether a log tells the frames of each class, of minibatches in file order."""
    told = FRAMES.search((case / "train.log").read_text())
    in_order = "--randomize=false --minibatch-size=16" in command_of(case)
    return told is not None and in_order


@pytest.mark.parametrize(
    "case", [*filter(counts_classes, CASES)], ids=lambda case: case.name
)
def test_golden_kaldi_frames_of_each_class(case):
    log = FRAMES.search((case / "train.log").read_text())
    theirs = np.array(log[1].split(), float)
    parts = list(golden_utterances(case))
    dense = np.concatenate([part.targets.to_dense(len(theirs)) for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    dense, weights = dense[weights != 0], weights[weights != 0]
    used = len(dense) // 16 * 16  # the rest does not fill a minibatch
    weights *= dense.sum(1)
    ours = (dense[:used] * weights[:used, None]).sum(0)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_the_golden_kaldi_cases_are_there():
    assert {"train_xent_mismatch", "train_xent_frame_weights"} <= {
        c.name for c in CASES
    }


def test_parts_are_cut_to_the_shortest():
    (utterance,) = joined(
        {"a": feats(6)},
        {"a": np.arange(8)},
        frame_weights={"a": np.array([1, 0, 2, 3, 4, 5, 6], np.float32)},
        utt_weights={"a": 0.5},
        num_targets=8,
    )
    assert utterance.key == "a"
    np.testing.assert_array_equal(utterance.feats, feats(6))
    assert utterance.targets == Posterior.from_labels(np.arange(6))
    np.testing.assert_array_equal(utterance.weights, [0.5, 0, 1, 1.5, 2, 2.5])
    assert utterance.weights.dtype == np.float32


@pytest.mark.parametrize(
    "tolerance, difference, taken", [(5, 4, 1), (5, 5, 0), (1, 1, 0)]
)
def test_the_length_tolerance(tolerance, difference, taken):
    utterances = joined(
        {"a": feats(10), "b": feats(3)},
        {"a": np.zeros(10 + difference, int), "b": np.zeros(3, int)},
        length_tolerance=tolerance,
    )
    assert len(list(utterances)) == 1 + taken
    assert utterances.other_errors == 1 - taken


def test_the_counts_of_two_without_labels_and_one_of_wrong_length():
    features = {name: feats(10) for name in "abcdef"}
    labels = {name: np.zeros(10, int) for name in "abcd"} | {"d": np.zeros(20, int)}
    utterances = joined(features, labels)
    for _ in range(2):
        assert [utterance.key for utterance in utterances] == list("abc")
        counted = (utterances.num_done, utterances.no_targets, utterances.other_errors)
        assert counted == (3, 2, 1)


def test_missing_weights_are_other_errors(caplog):
    features = {name: feats(2) for name in "abc"}
    targets = {name: [0, 1] for name in "abc"}
    utterances = joined(
        features,
        targets,
        frame_weights={"a": np.ones(2), "c": np.ones(2)},
        utt_weights={"a": 1, "b": 1},
    )
    assert [utterance.key for utterance in utterances] == ["a"]
    assert utterances.other_errors == 2
    assert caplog.messages == [
        "b, missing frame weights",
        "c, missing utterance weight",
    ]


def test_long_and_empty_utterances_are_passed_over(caplog):
    utterances = joined(
        {"a": feats(3), "b": feats(4), "c": feats(0)},
        {"a": [0] * 3, "b": [0] * 4, "c": []},
        max_frames=3,
    )
    assert [utterance.key for utterance in utterances] == ["a"]
    assert utterances.other_errors == 2
    assert caplog.messages == ["b, 4 frames, over the limit of 3", "c, no frames"]


def test_an_empty_matrix_in_front_says_nothing_about_the_dimension():
    empty = np.zeros((0, 0), np.float32)
    utterances = joined({"a": empty, "b": feats(2)}, {"a": [], "b": [0, 0]})
    assert [utterance.key for utterance in utterances] == ["b"]
    assert utterances.other_errors == 1


def test_utterances_of_weight_zero_count_nowhere():
    utterances = joined(
        {"a": feats(2), "b": feats(2)},
        {"a": [0, 0], "b": [0, 0]},
        utt_weights={"a": 0, "b": 1},
    )
    assert [utterance.key for utterance in utterances] == ["b"]
    assert (utterances.num_done, utterances.other_errors) == (1, 0)


def spoilt(value):
    matrix = feats(5, 3)
    matrix[2, 1] = value
    return {"a": feats(5, 3), "b": matrix}


@pytest.mark.parametrize(
    "features, targets, options, message",
    [
        (
            {"a": feats(3)},
            {"a": [0, 4, 5]},
            {"num_targets": 4},
            "utterance a, frame 1: .* index is 4, .* 0 to 3, 4 in all",
        ),
        ({"a": feats(2)}, {"a": [0, -1]}, {}, "frame 1: .* index is -1, .* at least 0"),
        (
            {"a": feats(2)},
            {"a": Posterior.from_frames([[(0, 1.0), (1, 1.0)], [(2, np.nan)]])},
            {},
            "utterance a, frame 1: target 2 has the value nan",
        ),
        (
            spoilt(np.nan),
            dict.fromkeys("ab", [0] * 5),
            {},
            "b, frame 2, dimension 1: .* nan",
        ),
        (
            spoilt(np.inf),
            dict.fromkeys("ab", [0] * 5),
            {},
            "b, frame 2, dimension 1: .* inf",
        ),
        (
            {"a": feats(2, 3), "b": feats(2, 4)},
            dict.fromkeys("ab", [0, 0]),
            {},
            "utterance b: features of 4 dimensions, .* a, the first, have 3",
        ),
        (
            {"a": feats(2)},
            {"a": [0, 0]},
            {"frame_weights": {"a": np.array([1, np.nan])}},
            "utterance a, frame 1: its weight is nan",
        ),
        ({"a": feats(2)}, {"a": [0, 0]}, {"utt_weights": {"a": "-1"}}, "weight is -1"),
        ({"a": feats(2)}, {"a": [0, 0]}, {"utt_weights": {"a": "x"}}, "weight is x"),
        (
            {"a": feats(2), "b": feats(9)},
            {"x": [0, 0], "b": [0]},
            {},
            "2 with features read, 1 without targets, 1 with other errors; are the",
        ),
        (
            {"a": feats(2), "b": feats(9)},
            {"a": [0] * 9, "b": [0]},
            {},
            "0 without targets, 2 with other errors; the warnings tell why",
        ),
        ({}, {"a": [0]}, {}, "no features at all"),
        ({"a": feats(2)}, {"a": [0, 0]}, {"length_tolerance": 0}, "at least 1"),
    ],
)
def test_what_is_wrong_is_named(features, targets, options, message):
    with pytest.raises(InputError, match=message):
        list(joined(features, targets, **options))


def test_soft_targets_may_be_any_numbers():
    post = Posterior.from_frames([[(0, -3.5), (1, 2.0)], [(1, 0.25)]])
    (utterance,) = joined({"a": feats(2)}, {"a": post}, num_targets=2)
    np.testing.assert_array_equal(utterance.targets.to_dense(2), [[-3.5, 2], [0, 0.25]])


def test_tables_all_the_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tables.Writer("ark,scp:f.ark,f.scp", "matrix") as writer:
        for utt in "ab":
            writer.write(utt, feats(3))
    pathlib.Path("ali").write_text("b 1 0 1\na 0 0 1\n")
    pathlib.Path("weights").write_text("a 0.5\nb 2\n")
    pipeline = FeaturePipeline("scp:f.scp").shuffled(1)
    utterances = Utterances(pipeline, "ark:ali", utt_weights="ark:weights")
    assert utterances.replayable
    for _ in range(2):
        read = {part.key: part for part in utterances}
        assert list(read) == pipeline.order
        assert read["b"].targets == Posterior.from_labels([1, 0, 1])
        assert read["b"].weights.tolist() == [2, 2, 2]
    assert not Utterances("ark:cat f.ark |", "ark:ali").replayable
    assert not Utterances(iter([]), "ark:ali").replayable
