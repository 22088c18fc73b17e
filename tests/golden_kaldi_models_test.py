"""Components as Keras models, saved, read again and exported, with padding or not."""

import pathlib
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets import tables
from seqzoo.export import saved_model
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.checkpoints import keras_layers, nnet1

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"
CASES = [
    pytest.param(case, id=case.name)
    for case in sorted(GOLDENS.glob("comp_*"))
    if (case / "nnet.bin").exists()
]
# Those in whose padding something could go wrong.
EXPORTED = ("lengthnorm", "multibasis", "parallel", "sentenceaveraging")


def _model(case: pathlib.Path) -> keras.Model:
    net = keras_layers.to_layers(nnet1.read(str(case / "nnet.bin")))
    return dnn.assemble([], net)


def _padded(case: pathlib.Path) -> tuple[np.ndarray, list[int]]:
    """All utterances of a case in one batch with NaN behind them, and their lengths."""
    utts = [feats for _, feats in tables.read(f"ark:{case}/in.ark", "matrix")]
    lengths = [len(feats) for feats in utts]
    batch = np.full((len(utts), max(lengths) + 2, utts[0].shape[1]), np.nan, np.float32)
    for row, feats in zip(batch, utts, strict=True):
        row[: len(feats)] = feats
    return batch, lengths


def _check_outputs(case: pathlib.Path, outputs: np.ndarray, lengths) -> None:
    expected = tables.read(f"ark:{case}/out.ark", "matrix")
    for found, length, (_, wanted) in zip(outputs, lengths, expected, strict=True):
        np.testing.assert_allclose(found[:length], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_golden_kaldi_components_are_the_same_when_saved(case, tmp_path):
    path = f"{tmp_path}/model.keras"
    with warnings.catch_warnings():
        # Keras's own: how it turns its variables into arrays.
        warnings.simplefilter("ignore", DeprecationWarning)
        _model(case).save(path)
    model = keras.models.load_model(path)
    batch, lengths = _padded(case)
    mask = tf.sequence_mask(lengths, batch.shape[1])
    # By `call`: calling a Functional model with a mask warns that it drops it.
    [outputs] = model.call(
        {"feats": tf.constant(np.nan_to_num(batch))}, mask={"feats": mask}
    ).values()
    if "logits" in model.output:
        outputs = tf.nn.softmax(outputs)
    else:
        again = nnet1.to_bytes(keras_layers.to_nnet(model.layers[1:]))
        assert again == (case / "nnet.bin").read_bytes()
    _check_outputs(case, outputs.numpy(), lengths)


@pytest.mark.parametrize("name", EXPORTED)
def test_golden_kaldi_components_are_the_same_when_exported(name, tmp_path):
    case = GOLDENS / f"comp_{name}"
    folder = saved_model.export(_model(case), f"{tmp_path}/model")
    batch, lengths = _padded(case)
    found = tf.saved_model.load(folder).signatures["serving_default"](
        feats=tf.constant(batch), lengths=tf.constant(lengths, tf.int32)
    )
    _check_outputs(case, found["outputs"].numpy(), lengths)
