import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo.acoustic import feature_set
from seqzoo.zoo.acoustic.feature_set import FeatureSet


@pytest.mark.parametrize("kept", [True, False])
def test_what_a_pass_leaves_out_is_counted_once(tmp_path, monkeypatch, kept):
    """An utterance is too long and one has no statistics, in memory or read again."""
    if not kept:
        monkeypatch.setattr(feature_set, "_IN_MEMORY", 0)
    lengths = {"a": 8, "b": 30, "c": 5, "d": 6}
    with tables.Writer(f"ark,scp:{tmp_path}/f.ark,{tmp_path}/f.scp") as writer:
        for utt, length in lengths.items():
            writer.write(utt, np.full((length, 2), length, np.float32))
    with tables.Writer(f"ark:{tmp_path}/cmvn.ark") as writer:
        for utt in "abc":
            writer.write(utt, np.array([[0, 0, 1], [1, 1, 0]], np.float64))
    pipeline = FeaturePipeline(
        f"scp:{tmp_path}/f.scp", "", f"ark:{tmp_path}/cmvn.ark", None, None
    )
    data = FeatureSet(pipeline, 100, 4, 20, None, False)
    data.prepare()
    for _ in range(2):
        assert [utt for utt, _ in data.feats()] == ["a", "c"]
    assert (data.lengths, data.skipped) == ([8, 5], 2)
