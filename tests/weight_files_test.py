"""Weights in a folder of .npy files."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.training import weight_files


@pytest.fixture
def weights():
    random = np.random.default_rng(0)
    return {
        "table/rows": tf.Variable(random.normal(size=(1000, 7)).astype("float32")),
        "table/bias": tf.Variable(random.normal(size=1000)),
        "lstm_1/bias": tf.Variable(random.normal(size=3).astype("float32")),
        "seed/noise": tf.Variable([3, 4], dtype=tf.uint32),
        "iterations": tf.Variable(5, dtype=tf.int64),
    }


def _zeros(weights):
    return {name: tf.Variable(tf.zeros_like(w)) for name, w in weights.items()}


@pytest.mark.parametrize("piece", [100, 1 << 25])
def test_what_is_saved_is_loaded(tmp_path, monkeypatch, weights, piece):
    monkeypatch.setattr(weight_files, "_PIECE", piece)
    folder = str(tmp_path / "w")
    weight_files.save(folder, weights)
    assert weight_files.names(folder) == sorted(weights)
    loaded = _zeros(weights)
    weight_files.load(folder, loaded)
    for name, weight in weights.items():
        np.testing.assert_array_equal(loaded[name], weight)
        plain = np.load(tmp_path / "w" / f"{name.replace('/', '.')}.npy")
        np.testing.assert_array_equal(plain, weight, strict=True)


def test_half_precision_is_taken(tmp_path, weights):
    folder = tmp_path / "w"
    weight_files.save(str(folder), weights)
    path = folder / "table.rows.npy"
    np.save(path, np.load(path).astype("float16"))
    loaded = _zeros(weights)
    weight_files.load(str(folder), loaded)
    expected = weights["table/rows"].numpy().astype("float16")
    np.testing.assert_array_equal(loaded["table/rows"], expected)


def test_other_shapes_and_broken_files(tmp_path, weights):
    folder = tmp_path / "w"
    weight_files.save(str(folder), weights)
    wrong = {"lstm_1/bias": tf.Variable([0.0, 0.0])}
    with pytest.raises(InputError, match=r"has shape \(3,\).* has \(2,\)"):
        weight_files.load(str(folder), wrong)
    with pytest.raises(InputError, match="lstm_9.bias.npy: cannot be read"):
        weight_files.load(str(folder), {"lstm_9/bias": tf.Variable(0.0)})
    path = folder / "lstm_1.bias.npy"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="is damaged"):
        weight_files.load(str(folder), {"lstm_1/bias": weights["lstm_1/bias"]})


def test_the_folder_appears_when_it_is_whole(tmp_path, weights):
    weights["zz"] = tf.Variable(1.0, dtype=tf.bfloat16)
    with pytest.raises(TypeError, match="bfloat16"):
        weight_files.save(str(tmp_path / "w"), weights)
    assert not (tmp_path / "w").exists()


def test_nothing_stays_of_a_save_that_was_killed(tmp_path, weights):
    (tmp_path / "w.partial").mkdir()
    (tmp_path / "w.partial" / "other.npy").write_bytes(b"half")
    weight_files.save(str(tmp_path / "w"), weights)
    assert weight_files.names(str(tmp_path / "w")) == sorted(weights)
