"""Kaldi features as TFRecord files, and back."""

import uuid

import numpy as np

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.scp_table import read_table


def ark_to_records(rspecifier: str, path: str) -> int:
    """Writes features to a TFRecord file, which is there whole or not at all.

    Each record is a `tf.train.Example` of one utterance: `key` (bytes), `shape` (two
    int64: frames, dim) and `feats` (bytes: float32, little-endian, row by row).

    Args:
        rspecifier: features.
        path: the file; any path of `tf.io.gfile`.

    Returns:
        The number of utterances.
    """
    import tensorflow as tf

    part = f"{path}.{uuid.uuid4().hex[:8]}.part"
    count = 0
    try:
        with tf.io.TFRecordWriter(part) as writer:
            for key, feats in read_table(rspecifier, "matrix"):
                feature = {
                    "key": _bytes(tf, key.encode()),
                    "shape": tf.train.Feature(
                        int64_list=tf.train.Int64List(value=feats.shape)
                    ),
                    "feats": _bytes(tf, feats.astype("<f4", copy=False).tobytes()),
                }
                features = tf.train.Features(feature=feature)
                writer.write(tf.train.Example(features=features).SerializeToString())
                count += 1
        tf.io.gfile.rename(part, path, overwrite=True)
    except BaseException:
        if tf.io.gfile.exists(part):
            tf.io.gfile.remove(part)
        raise
    return count


def records_to_ark(path: str, wspecifier: str) -> int:
    """Writes what `ark_to_records` wrote as a Kaldi table again.

    Returns:
        The number of utterances.

    Raises:
        InputError: the file cannot be read or holds other records.
    """
    import tensorflow as tf

    count = 0
    with tables.Writer(wspecifier, "matrix") as writer:
        try:
            for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
                writer.write(*_parse(tf, record, f"{path}: record {count}"))
                count += 1
        except tf.errors.OpError as error:
            raise InputError(f"{path}: record {count}: {error.message}.") from None
    return count


def _bytes(tf, value: bytes):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _parse(tf, record: bytes, where: str) -> tuple[str, np.ndarray]:
    try:
        feature = tf.train.Example.FromString(record).features.feature
        key = feature["key"].bytes_list.value[0].decode()
        frames, dim = feature["shape"].int64_list.value
        feats = np.frombuffer(feature["feats"].bytes_list.value[0], "<f4")
        return key, feats.reshape(frames, dim)
    except Exception:
        raise InputError(
            f"{where} is not an utterance with key, shape and feats, as "
            "ark_to_records writes them."
        ) from None
