"""`.keras` files as Kaldi networks again."""

import pathlib

import keras
import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn, keras_file
from seqzoo.zoo.checkpoints import keras_layers, nnet1
from seqzoo.zoo.checkpoints.nnet1 import Nnet

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"
CASES = [pytest.param(c, id=c.name) for c in sorted(GOLDENS.glob("comp_*"))]


# Keras's own: how it turns its variables into arrays.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_golden_kaldi_components_are_found():
    assert len(CASES) >= 34


@pytest.mark.parametrize("case", CASES)
def test_golden_kaldi_networks_come_back_from_a_keras_file(case, tmp_path):
    """The same bytes, as text too, also through a second model."""
    path = f"{tmp_path}/final.keras"
    nnet = nnet1.read(str(case / "nnet.bin"))
    dnn.assemble([], keras_layers.to_layers(nnet, "net_")).save(path)
    again, transform = keras_file.read(path)
    assert transform is None
    for name, binary in (("nnet.bin", True), ("nnet.txt", False)):
        assert nnet1.to_bytes(again, binary) == (case / name).read_bytes()


def test_a_feature_transform_is_told_by_its_names(tmp_path):
    path = f"{tmp_path}/final.keras"
    model = registry.make("acoustic/dnn", ["hidden_layers=1", "hidden_dim=4"])[1]
    model.save(path)
    net, transform = keras_file.read(path)
    assert [c.marker for c in transform.components] == [
        "<Splice>",
        "<AddShift>",
        "<Rescale>",
    ]
    assert [c.marker for c in net.components] == [
        "<AffineTransform>",
        "<Sigmoid>",
        "<AffineTransform>",
        "<Softmax>",
    ]
    affine = net.components[0]
    assert isinstance(net, Nnet)
    np.testing.assert_array_equal(
        affine.linearity, model.get_layer("net_1_affinetransform").linearity.numpy()
    )


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="gone.keras: cannot read a Keras model"):
        keras_file.read(f"{tmp_path}/gone.keras")
    (tmp_path / "odd.keras").write_text("odd")
    with pytest.raises(InputError, match="odd.keras: cannot read a Keras model"):
        keras_file.read(f"{tmp_path}/odd.keras")
    feats = keras.Input((None, 2), name="feats")
    outputs = keras.layers.Dense(2, name="head")(feats)
    keras.Model({"feats": feats}, {"outputs": outputs}).save(f"{tmp_path}/x.keras")
    with pytest.raises(InputError, match=r"x.keras: layer head \(Dense\) has no comp"):
        keras_file.read(f"{tmp_path}/x.keras")
