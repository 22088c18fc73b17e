import os

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.posterior import Posterior
from seqzoo.zoo.acoustic.frame_set import Copy, FrameSet

LENGTHS = {"a": 9, "b": 12, "c": 10, "d": 11, "untold": 9, "odd": 20}
TOLD = ("a", "b", "c", "d")


@pytest.fixture
def feats(tmp_path):
    random = np.random.default_rng(0)
    made = {
        key: random.normal(size=(frames, 3)).astype(np.float32)
        for key, frames in LENGTHS.items()
    }
    with tables.Writer(
        f"ark,scp:{tmp_path}/feats.ark,{tmp_path}/feats.scp", "matrix"
    ) as writer:
        for key, matrix in made.items():
            writer.write(key, matrix)
    return made


def frame_set(tmp_path, compress=None, identity="mine", rspecifier=None):
    """Four good ones, one without targets, one whose targets are too short."""
    targets = {
        key: Posterior.from_labels([n] * LENGTHS[key]) for n, key in enumerate(TOLD)
    }
    targets["odd"] = Posterior.from_labels([0] * 3)
    weights = {key: np.ones(frames, np.float32) for key, frames in LENGTHS.items()}
    weights["b"][:2] = 0
    copy = None
    if compress is not None:
        copy = Copy(str(tmp_path / "copy"), "train", compress)
    return FrameSet(
        FeaturePipeline(rspecifier or f"scp:{tmp_path}/feats.scp"),
        targets,
        15,
        4,
        copy,
        identity,
        frame_weights=weights,
    )


def lengths(made):
    return [block["lengths"].tolist() for block in made.dataset().as_numpy_iterator()]


@pytest.mark.parametrize("compress", [None, False, True])
def test_what_is_counted_and_read(tmp_path, feats, compress):
    made = frame_set(tmp_path, compress)
    made.prepare()
    counts = made.counts
    assert (counts.done, counts.no_targets, counts.other_errors) == (4, 1, 1)
    assert (counts.frames, counts.dim) == (40, 3)
    # As the priors count them, frames without weight are in.
    assert counts.classes == [9, 12, 10, 11]
    for _ in range(2):
        assert lengths(made) == [[9, 12], [10, 11]]
    for (_, found), key in zip(made.feats(), TOLD, strict=True):
        if compress:
            assert np.abs(found - feats[key]).max() < 0.1
        else:
            np.testing.assert_array_equal(found, feats[key])


def test_copies_lie_where_they_are_told_and_are_removed(tmp_path, feats):
    for compress, ends in ((False, ["blocks", "counts.json"]), (True, ["ark", "scp"])):
        made = frame_set(tmp_path, compress)
        made.prepare()
        names = sorted(os.listdir(tmp_path / "copy"))
        assert names == sorted(f"train.{end}" for end in [*ends, "json"])
        made.remove()
        assert not (tmp_path / "copy").exists()
    frame_set(tmp_path).remove()


def test_removal_spares_what_else_is_there(tmp_path, feats):
    made = frame_set(tmp_path, False)
    made.prepare()
    (tmp_path / "copy" / "held_out.ark").write_text("another set")
    made.remove()
    assert os.listdir(tmp_path / "copy") == ["held_out.ark"]


@pytest.mark.parametrize("compress", [False, True])
def test_a_copy_left_over_is_used_again(tmp_path, feats, compress):
    first = frame_set(tmp_path, compress)
    first.prepare()
    os.remove(tmp_path / "feats.ark")
    again = frame_set(tmp_path, compress)
    again.prepare()
    assert again.counts == first.counts
    assert lengths(again) == lengths(first)


@pytest.mark.parametrize("compress", [False, True])
def test_a_copy_of_another_set_is_made_anew(tmp_path, feats, compress):
    frame_set(tmp_path, compress, "another").prepare()
    os.remove(tmp_path / "feats.ark")
    with pytest.raises(InputError, match=r"feats\.ark"):
        frame_set(tmp_path, compress, "mine").prepare()


def test_a_copy_half_made_is_made_anew(tmp_path, feats):
    first = frame_set(tmp_path, False)
    first.prepare()
    os.remove(tmp_path / "copy" / "train.counts.json")
    again = frame_set(tmp_path, False)
    again.prepare()
    assert again.counts == first.counts


def test_a_pipe_needs_a_copy(tmp_path, feats):
    rspecifier = f"ark:cat {tmp_path}/feats.ark |"
    with pytest.raises(InputError, match="read only once; leave copy_feats on"):
        frame_set(tmp_path, rspecifier=rspecifier)
    for compress in (False, True):
        made = frame_set(tmp_path, compress, str(compress), rspecifier=rspecifier)
        made.prepare()
        assert lengths(made) == lengths(made) == [[9, 12], [10, 11]]


def test_a_small_set_is_read_once_and_a_large_one_again(tmp_path, feats, monkeypatch):
    passes = []
    read = FeaturePipeline.__iter__

    def counted(pipeline):
        passes.append(pipeline)
        yield from read(pipeline)

    monkeypatch.setattr(FeaturePipeline, "__iter__", counted)
    for limit, expected in ((40 * 100, 1), (40 * 3 * 4 - 1, 3)):
        monkeypatch.setattr("seqzoo.zoo.acoustic.frame_set._IN_MEMORY", limit)
        passes.clear()
        made = frame_set(tmp_path)
        made.prepare()
        dataset = made.dataset()
        for _ in range(2):
            blocks = list(dataset.as_numpy_iterator())
            assert [b["lengths"].tolist() for b in blocks] == [[9, 12], [10, 11]]
        assert len(passes) == expected
