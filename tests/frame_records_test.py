import os

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets import frame_records
from seqzoo.datasets.frame_blocks import blocks
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.utterances import Utterance

FIELDS = ("feats", "lengths", "ids", "values", "weights", "last")


def made():
    """Blocks of one pair a frame, of several, and without any weight."""
    random = np.random.default_rng(0)
    for number in range(3):
        yield from blocks(
            [
                Utterance(
                    f"{number}-{frames}",
                    random.normal(size=(frames, 3)).astype(np.float32),
                    Posterior.from_frames(
                        [[(i, 0.5) for i in range(number + 1)]] * frames
                    ),
                    np.full(frames, number / 2, np.float32),
                )
                for frames in (1, 4)
            ],
            100,
            4,
        )


def assert_equal(found, expected):
    found, expected = list(found), list(expected)
    assert len(found) == len(expected) > 0
    for ours, block in zip(found, expected, strict=True):
        for name in FIELDS:
            np.testing.assert_array_equal(ours[name], getattr(block, name))
            assert ours[name].dtype == np.asarray(getattr(block, name)).dtype


def test_what_is_written_is_read(tmp_path):
    path = f"{tmp_path}/blocks"
    frame_records.write(made(), path)
    dataset = frame_records.read(path, 3)
    assert dataset.element_spec == frame_records.element_spec(3)
    for _ in range(2):
        assert_equal(dataset.as_numpy_iterator(), made())


def test_a_stream_makes_the_same_anew_in_each_epoch():
    calls = []

    def again():
        calls.append(len(calls))
        return made()

    dataset = frame_records.stream(again, 3)
    assert dataset.element_spec == frame_records.element_spec(3)
    for _ in range(2):
        assert_equal(dataset.as_numpy_iterator(), made())
    assert calls == [0, 1]


def test_a_failure_leaves_nothing_behind(tmp_path):
    def broken():
        yield next(made())
        raise RuntimeError("the tables end here")

    with pytest.raises(RuntimeError, match="the tables end here"):
        frame_records.write(broken(), f"{tmp_path}/blocks")
    assert os.listdir(tmp_path) == []


def test_a_failure_leaves_the_old_file(tmp_path):
    path = f"{tmp_path}/blocks"
    frame_records.write(made(), path)
    with pytest.raises(ZeroDivisionError):
        frame_records.write((1 / 0 for _ in range(1)), path)
    assert os.listdir(tmp_path) == ["blocks"]
    assert_equal(frame_records.read(path, 3).as_numpy_iterator(), made())


def test_a_set_without_blocks(tmp_path):
    frame_records.write([], f"{tmp_path}/blocks")
    assert list(frame_records.read(f"{tmp_path}/blocks", 3)) == []


def test_features_of_another_width_are_refused(tmp_path):
    frame_records.write(made(), f"{tmp_path}/blocks")
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(frame_records.read(f"{tmp_path}/blocks", 4))
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(frame_records.stream(made, 4))
