"""Networks with layers along time on whole utterances, against the components."""

import numpy as np
import pytest

from seqzoo.zoo.acoustic.nnet_scores import NnetScores
from seqzoo.zoo.checkpoints import nnet_proto

SPLICE = "<Splice> <InputDim> 3 <OutputDim> 9 <BuildVector> -1:1 </BuildVector>\n"
LSTM = "<LstmProjected> <InputDim> 9 <OutputDim> 3 <CellDim> 5 <ParamRange> 0.5\n"
BLSTM = "<BlstmProjected> <InputDim> 9 <OutputDim> 6 <CellDim> 5 <ParamRange> 0.5\n"
AVERAGE = "<SimpleSentenceAveragingComponent> <InputDim> 3 <OutputDim> 3\n"
WIDE = """
<Splice> <InputDim> 6 <OutputDim> 12 <BuildVector> 0 2 </BuildVector>
<AffineTransform> <InputDim> 12 <OutputDim> 4 <BiasMean> 0 <BiasRange> 0
"""
FEATS = [
    np.random.default_rng(n).normal(size=(length, 3)).astype(np.float32)
    for n, length in enumerate((7, 1, 12, 7, 5))
]


@pytest.mark.parametrize("limit", [8192, 16, 1])
@pytest.mark.parametrize("proto", [LSTM + AVERAGE, BLSTM + WIDE])
def test_utterances_do_not_touch_each_other(proto, limit, monkeypatch):
    monkeypatch.setattr("seqzoo.zoo.acoustic.nnet_scores._GROUP", limit)
    nnet = nnet_proto.initialize(SPLICE + proto, 1)
    scores = NnetScores(nnet)
    for feats in (FEATS, FEATS[::-1], FEATS[1:2]):
        for found, utterance in zip(scores(feats), feats, strict=True):
            expected = nnet.propagate(utterance)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    # Splices, then all the rest.
    assert scores.traces == 2
