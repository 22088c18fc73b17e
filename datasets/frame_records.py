"""Blocks as TFRecords: a local copy of a set that every epoch reads."""

from collections.abc import Callable, Iterable

import numpy as np
import tensorflow as tf

from seqzoo.datasets.frame_blocks import Block

_TYPES = {
    "feats": tf.float32,
    "lengths": tf.int32,
    "ids": tf.int32,
    "values": tf.float32,
    "weights": tf.float32,
}
# tf.train.Example is a protobuf message, which ends at 2 GB; a block is far below.


def write(blocks: Iterable[Block], path: str) -> None:
    """Writes blocks under a temporary name, then renames: never half a file.

    Args:
        blocks: of one set.
        path: of the record file; any path of `tf.io.gfile`.
    """
    partial = f"{path}.partial"
    try:
        with tf.io.TFRecordWriter(partial) as writer:
            for block in blocks:
                writer.write(_serialize(block))
        tf.io.gfile.rename(partial, path, overwrite=True)
    except BaseException:
        if tf.io.gfile.exists(partial):
            tf.io.gfile.remove(partial)
        raise


def read(path: str, dim: int) -> tf.data.Dataset:
    """The blocks of a record file, one element each.

    Args:
        path: what `write` wrote.
        dim: features per frame.

    Returns:
        Dataset of dicts as `element_spec(dim)` has them.
    """
    records = tf.data.TFRecordDataset(path)
    return records.map(lambda record: _parse(record, dim), num_parallel_calls=1)


def stream(make_blocks: Callable[[], Iterable[Block]], dim: int) -> tf.data.Dataset:
    """The same elements made anew from the tables in each epoch, without a copy.

    Args:
        make_blocks: called at the start of each epoch.
        dim: features per frame.
    """

    def generate():
        for block in make_blocks():
            yield {name: getattr(block, name) for name in (*_TYPES, "last")}

    return tf.data.Dataset.from_generator(generate, output_signature=element_spec(dim))


def element_spec(dim: int) -> dict[str, tf.TensorSpec]:
    """What a block looks like in a dataset: the fields of `Block`."""
    return {
        "feats": tf.TensorSpec((None, dim), tf.float32),
        "lengths": tf.TensorSpec((None,), tf.int32),
        "ids": tf.TensorSpec((None, None), tf.int32),
        "values": tf.TensorSpec((None, None), tf.float32),
        "weights": tf.TensorSpec((None,), tf.float32),
        "last": tf.TensorSpec((), tf.bool),
    }


def _serialize(block: Block) -> bytes:
    def raw(array: np.ndarray) -> tf.train.Feature:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[array.tobytes()]))

    features = {
        name: raw(np.asarray(getattr(block, name), kind.as_numpy_dtype))
        for name, kind in _TYPES.items()
    }
    features["last"] = tf.train.Feature(
        int64_list=tf.train.Int64List(value=[int(block.last)])
    )
    example = tf.train.Example(features=tf.train.Features(feature=features))
    return example.SerializeToString()


def _parse(record: tf.Tensor, dim: int) -> dict[str, tf.Tensor]:
    fields = {name: tf.io.FixedLenFeature((), tf.string) for name in _TYPES}
    fields["last"] = tf.io.FixedLenFeature((), tf.int64)
    parsed = tf.io.parse_single_example(record, fields)
    block = {
        name: tf.io.decode_raw(parsed[name], kind) for name, kind in _TYPES.items()
    }
    frames = tf.shape(block["weights"])[0]
    block["feats"] = tf.reshape(block["feats"], [-1, dim])
    block["ids"] = tf.reshape(block["ids"], [frames, -1])
    block["values"] = tf.reshape(block["values"], [frames, -1])
    block["last"] = tf.cast(parsed["last"], tf.bool)
    return block
