import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets import feats_to_records, tables
from seqzoo.datasets.errors import InputError

FEATS = {
    "utt1": np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32),
    "utt2": np.array([[np.pi, -0.0, 1e-42]], np.float32),
}


def test_there_and_back_is_equal_byte_for_byte(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tables.Writer("ark,scp:a.ark,a.scp", "matrix") as writer:
        for key, feats in FEATS.items():
            writer.write(key, feats)
    assert feats_to_records.ark_to_records("scp:a.scp", "a.tfrecord") == 2
    assert feats_to_records.records_to_ark("a.tfrecord", "ark:b.ark") == 2
    assert pathlib.Path("a.ark").read_bytes() == pathlib.Path("b.ark").read_bytes()
    example = tf.io.parse_single_example(
        next(iter(tf.data.TFRecordDataset("a.tfrecord"))),
        {
            "key": tf.io.FixedLenFeature([], tf.string),
            "shape": tf.io.FixedLenFeature([2], tf.int64),
            "feats": tf.io.FixedLenFeature([], tf.string),
        },
    )
    feats = tf.reshape(tf.io.decode_raw(example["feats"], tf.float32), example["shape"])
    np.testing.assert_array_equal(feats, FEATS["utt1"])


def test_nothing_half_written_stays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tables.Writer("ark:a.ark", "matrix") as writer:
        writer.write("utt1", FEATS["utt1"])
    data = pathlib.Path("a.ark").read_bytes()
    pathlib.Path("a.ark").write_bytes(data + data[:-5])
    with pytest.raises(InputError):
        feats_to_records.ark_to_records("ark:a.ark", "a.tfrecord")
    assert os.listdir() == ["a.ark"]


def test_other_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.io.TFRecordWriter("other") as writer:
        writer.write(b"other")
    with pytest.raises(InputError, match="other: record 0 is not an utterance"):
        feats_to_records.records_to_ark("other", "ark:b.ark")
    pathlib.Path("text").write_text("no records at all, but a text\n")
    with pytest.raises(InputError, match="text: record 0"):
        feats_to_records.records_to_ark("text", "ark:b.ark")


def test_reading_does_not_import_tensorflow():
    modules = "alignments cmvn data_dir deltas feats_to_records prompts utterances"
    code = "import sys\n" + "".join(
        f"import seqzoo.datasets.{module}\n" for module in modules.split()
    )
    code += "assert 'tensorflow' not in sys.modules"
    path = os.pathsep.join(sys.path)
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path}
    )
