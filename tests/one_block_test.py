"""One language of several: which it is, and what its network gives."""

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import one_block, trained_model
from seqzoo.zoo.checkpoints import nnet1, nnet_proto

PROTO = """
<AffineTransform> <InputDim> 3 <OutputDim> 9 <ParamStddev> 1
<BlockSoftmax> <InputDim> 9 <OutputDim> 9 <BlockDims> 4:2:3
"""
FEATS = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


@pytest.fixture
def nnet():
    return nnet_proto.initialize(PROTO, 1)


@pytest.mark.parametrize("block, columns", [(1, (0, 4)), (2, (4, 6)), (3, (6, 9))])
def test_a_block_alone_gives_what_it_gave_beside_others(nnet, block, columns):
    whole = nnet.propagate(FEATS)[:, slice(*columns)]
    alone = one_block.select(nnet, block)
    assert [c.marker for c in alone.components[1:]] == ["<Copy>", "<Softmax>"]
    np.testing.assert_allclose(alone.propagate(FEATS), whole, rtol=1e-6)
    assert nnet.components[-1].marker == "<BlockSoftmax>"


def test_blocks_by_name_and_number():
    assert one_block.number("es", ["en", "es"], 2) == 2
    assert one_block.number("1", ["en", "es"], 2) == 1
    assert one_block.number("2", [], 2) == 2
    with pytest.raises(InputError, match="no block 'fr'; en, es are taken"):
        one_block.number("fr", ["en", "es"], 2)
    with pytest.raises(InputError, match="no block '3'; 1 to 2 are taken"):
        one_block.number("3", [], 2)


def test_a_network_without_blocks():
    softmax = PROTO.replace("BlockSoftmax>", "Softmax>").replace(
        "<BlockDims> 4:2:3", ""
    )
    net = nnet_proto.initialize(softmax, 1)
    with pytest.raises(InputError, match="a.nnet: ends in <Softmax>; only of <Block"):
        one_block.dims(net, "a.nnet")


def test_a_folder_with_the_counts_of_each_language(nnet, tmp_path):
    nnet1.write(str(tmp_path / "final.nnet"), nnet)
    (tmp_path / "languages").write_text("en\nes\nfr\n")
    for name, size in (("", 9), ("en.", 4), ("es.", 2), ("fr.", 3)):
        path = str(tmp_path / f"ali_train_pdf.{name}counts")
        tables.write_object(path, np.ones(size, np.float32))
    model = trained_model.read(str(tmp_path), block="es")
    assert model.nnet.output_dim == 2
    assert model.class_frame_counts == f"{tmp_path}/ali_train_pdf.es.counts"
    assert trained_model.read(str(tmp_path)).nnet.output_dim == 9
    short = trained_model.read(str(tmp_path), remove_last_components=1)
    assert [c.marker for c in short.nnet.components] == ["<AffineTransform>"]
    assert short.class_frame_counts is None
