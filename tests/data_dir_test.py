import numpy as np
import pytest

from seqzoo.datasets import prompts
from seqzoo.datasets.data_dir import DataDir
from seqzoo.datasets.errors import InputError


def test_a_directory_is_read_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = DataDir(f"{prompts.path('fr')}/cv")
    pipeline = data.pipeline("--norm-vars=true", "--delta-order=1")
    assert pipeline.dim == 80
    feats = np.concatenate([feats for _, feats in pipeline])
    assert feats.shape == (2999, 80)
    np.testing.assert_allclose(feats[:, :40].mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(feats[:, :40].var(0), 1, atol=2e-3)
    assert pipeline.num_done == 15


def test_without_options_features_are_plain():
    data = DataDir(f"{prompts.path('fr')}/cv")
    assert data.pipeline().cmvn is None
    assert data.spk2utt == f"ark:{prompts.path('fr')}/cv/spk2utt"


def test_what_is_missing(tmp_path):
    with pytest.raises(InputError, match="no such data directory"):
        DataDir(str(tmp_path / "x"))
    with pytest.raises(InputError, match="neither feats.scp nor feats.ark"):
        DataDir(str(tmp_path))
    (tmp_path / "feats.ark").touch()
    data = DataDir(str(tmp_path))
    assert (data.feats, data.cmvn, data.utt2spk) == (
        f"ark:{tmp_path}/feats.ark",
        None,
        None,
    )
    with pytest.raises(InputError, match="cmvn.scp is missing"):
        data.pipeline("--norm-means=true")
