"""`acoustic/lstm` and `acoustic/blstm`: defaults, and a golden of fixed weights.

`goldens/seqzoo/acoustic_lstm.npz` and `acoustic_blstm.npz` hold the logits of the
networks below with all weights set by `set_ramp`, so that a renamed or reordered weight
fails here. They were made once by

    python -c 'from tests import lstm_test; lstm_test.write_goldens()'
"""

import pathlib

import numpy as np
import pytest

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import blstm, lstm
from seqzoo.zoo.acoustic.blstm_config import BlstmConfig
from seqzoo.zoo.acoustic.lstm_config import LstmConfig
from seqzoo.zoo.checkpoints import keras_layers
from tests.dnn_test import MASK, golden_inputs, set_ramp

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "seqzoo"
SMALL = {"feature_dim": 3, "cell_dim": 5, "proj_dim": 4, "pdfs": 4}
MODELS = {
    "acoustic_lstm": lambda: lstm.build(LstmConfig(**SMALL, offsets=(1,))),
    "acoustic_blstm": lambda: blstm.build(BlstmConfig(**SMALL, proj_dim_last=3)),
}


def outputs(name: str) -> np.ndarray:
    model = MODELS[name]()
    set_ramp(model)
    feats = {"feats": golden_inputs()}
    logits = model.call(feats, mask={"feats": MASK})["logits"].numpy()
    logits[~MASK] = 0
    return logits


def write_goldens() -> None:
    for name in MODELS:
        np.savez(GOLDENS / f"{name}.npz", logits=outputs(name))


@pytest.mark.parametrize("name", MODELS)
def test_golden_seqzoo_acoustic(name):
    with np.load(GOLDENS / f"{name}.npz") as golden:
        np.testing.assert_allclose(outputs(name), golden["logits"], rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_the_golden_by_numpy(name):
    """The same weights through the components' own formulas, an utterance alone."""
    model = MODELS[name]()
    set_ramp(model)
    nnet = keras_layers.to_nnet(model.layers[1:])
    with np.load(GOLDENS / f"{name}.npz") as golden:
        for utterance, length in ((0, 5), (1, 3)):
            expected = nnet.propagate(golden_inputs()[utterance, :length])
            found = golden["logits"][utterance, :length]
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_defaults_are_the_published_recipes():
    config = LstmConfig()
    assert (config.cell_dim, config.proj_dim, config.num_layers) == (640, 400, 2)
    assert config.offsets == (5,)
    [first, second, tanh, affine, softmax] = config.proto().splitlines()
    assert first == "<LstmProjected> <InputDim> 40 <OutputDim> 400 <CellDim> 640"
    assert second == "<LstmProjected> <InputDim> 400 <OutputDim> 400 <CellDim> 640"
    assert [line.split()[0] for line in (tanh, affine, softmax)] == [
        "<Tanh>",
        "<AffineTransform>",
        "<Softmax>",
    ]
    both = BlstmConfig()
    assert (both.cell_dim, both.proj_dim, both.offsets) == (320, 200, (0,))
    [first, second, *_] = both.proto().splitlines()
    assert first == "<BlstmProjected> <InputDim> 40 <OutputDim> 400 <CellDim> 320"
    assert second == "<BlstmProjected> <InputDim> 400 <OutputDim> 640 <CellDim> 320"


def test_settings_and_options_of_the_script_reach_the_prototype():
    config = registry.config(
        "acoustic/lstm",
        ["grad_clip=5", "cell_dim=7", "proto_opts=--cell-dim 9 --num-layers=1"],
    )
    first, second, *_ = config.proto(11).splitlines()
    dims = "<LstmProjected> <InputDim> 11 <OutputDim> 400 <CellDim> 9"
    assert first.split() == f"{dims}<GradClip> 5.000000".split()
    assert second.startswith("<Tanh>")
