"""Components as Keras layers: the recorded outputs, and the same file again."""

import pathlib

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.zoo.checkpoints import keras_layers, nnet1

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"


CASES = [
    pytest.param(case, id=case.name)
    for case in sorted(GOLDENS.glob("comp_*"))
    if (case / "nnet.bin").exists()
]


def test_golden_kaldi_cases_are_found():
    assert len(CASES) >= 34


@pytest.mark.parametrize("case", CASES)
def test_golden_kaldi_layers_give_the_recorded_outputs(case):
    net = keras_layers.to_layers(nnet1.read(str(case / "nnet.bin")))
    expected = dict(tables.read(f"ark:{case}/out.ark", "matrix"))
    for utt, feats in tables.read(f"ark:{case}/in.ark", "matrix"):
        x = feats[np.newaxis]
        for layer in net:
            x = layer(x)
        np.testing.assert_allclose(
            x.numpy()[0], expected.pop(utt), rtol=1e-5, atol=1e-6
        )
    assert not expected


@pytest.mark.parametrize("case", CASES)
def test_golden_kaldi_layers_are_written_as_they_were_read(case):
    for name, binary in (("nnet.bin", True), ("nnet.txt", False)):
        net = keras_layers.to_layers(nnet1.read(str(case / name)))
        again = nnet1.to_bytes(keras_layers.to_nnet(net), binary=binary)
        assert again == (case / name).read_bytes()
