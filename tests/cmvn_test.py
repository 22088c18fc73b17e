import logging

import numpy as np
import pytest

from seqzoo.datasets import cmvn
from seqzoo.datasets.errors import InputError

FEATS = np.array([[1, 0], [3, 4], [5, 8]], np.float32)
STATS = np.array([[9, 12, 3], [35, 80, 0]], np.float64)


def test_statistics_by_hand():
    stats = cmvn.accumulate(FEATS)
    np.testing.assert_array_equal(stats, STATS)
    assert stats.dtype == np.float64
    np.testing.assert_array_equal(cmvn.accumulate(FEATS, stats), 2 * STATS)
    np.testing.assert_array_equal(stats, STATS)


def test_the_mean_goes():
    np.testing.assert_allclose(cmvn.apply(FEATS, STATS), [[-2, -4], [0, 0], [2, 4]])


def test_mean_and_variance_of_the_result():
    feats = np.random.default_rng(3).normal(5, 3, (500, 4)).astype(np.float32)
    result = cmvn.apply(feats, cmvn.accumulate(feats), norm_vars=True)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(result.var(0), 1, rtol=1e-5)


@pytest.mark.parametrize("norm_vars", [False, True])
def test_reverse_undoes(norm_vars):
    there = cmvn.apply(FEATS, STATS, norm_vars=norm_vars)
    back = cmvn.apply(there, STATS, norm_vars=norm_vars, reverse=True)
    np.testing.assert_allclose(back, FEATS, rtol=1e-6, atol=1e-6)


def test_no_means_leaves_the_features():
    np.testing.assert_array_equal(cmvn.apply(FEATS, STATS, norm_means=False), FEATS)


def test_variance_alone_is_refused():
    with pytest.raises(InputError, match="norm-vars without norm-means"):
        cmvn.apply(FEATS, STATS, norm_means=False, norm_vars=True)


def test_skipped_dimensions_stay():
    result = cmvn.apply(FEATS, STATS, norm_vars=True, skip_dims="1")
    np.testing.assert_array_equal(result[:, 1], FEATS[:, 1])
    np.testing.assert_allclose(result[:, 0], cmvn.apply(FEATS, STATS, True, True)[:, 0])
    with pytest.raises(InputError, match="outside the 2 dimensions"):
        cmvn.apply(FEATS, STATS, skip_dims="2")
    with pytest.raises(InputError, match="ints separated by colons"):
        cmvn.apply(FEATS, STATS, skip_dims="1,2")


def test_a_constant_dimension_is_floored_and_told(caplog):
    feats = np.full((4, 1), 2, np.float32)
    with caplog.at_level(logging.WARNING):
        result = cmvn.apply(feats, cmvn.accumulate(feats), norm_vars=True)
    np.testing.assert_array_equal(result, np.zeros((4, 1)))
    assert "dimensions [0] floored" in caplog.text


def test_statistics_of_nothing():
    with pytest.raises(InputError, match="hold 0 frames"):
        cmvn.apply(FEATS, np.zeros((2, 3)))


def test_statistics_of_another_dimension():
    with pytest.raises(InputError, match=r"\(2, 4\), but features of 2 dimensions"):
        cmvn.apply(FEATS, np.zeros((2, 4)))
    with pytest.raises(InputError, match="need"):
        cmvn.accumulate(FEATS, np.zeros((2, 4)))


def test_options_are_read_as_kaldi_takes_them():
    options = cmvn.Options.parse("--norm-means=true --norm-vars=true")
    assert options == cmvn.Options(norm_means=True, norm_vars=True)
    assert cmvn.Options.parse("--norm-vars").norm_vars
    assert not cmvn.Options.parse("--norm_means=false").norm_means
    with pytest.raises(InputError, match="did you mean --norm-vars"):
        cmvn.Options.parse("--norm-var=true")
    with pytest.raises(InputError, match="takes true or false"):
        cmvn.Options.parse("--norm-vars=yes")
    with pytest.raises(InputError, match="norm-vars without norm-means"):
        cmvn.Options.parse("--norm-means=false --norm-vars=true")


def write(path, text):
    path.write_text(text)
    return f"ark:{path}"


def test_by_utterance_by_speaker_and_of_all(tmp_path, caplog):
    feats = write(tmp_path / "feats", "a  [\n 1 0\n 3 4 ]\nb  [\n 5 8 ]\n")
    spk2utt = write(tmp_path / "spk2utt", "s a b c\nnobody d\n")
    by_utt = dict(cmvn.compute(feats))
    np.testing.assert_array_equal(by_utt["b"], [[5, 8, 1], [25, 64, 0]])
    with caplog.at_level(logging.WARNING):
        by_speaker = dict(cmvn.compute(feats, spk2utt))
    assert list(by_speaker) == ["s"]
    np.testing.assert_array_equal(by_speaker["s"], STATS)
    assert "no features of c" in caplog.text
    assert "nobody: no statistics" in caplog.text
    np.testing.assert_array_equal(cmvn.compute_global(feats), STATS)


def test_nothing_to_sum(tmp_path):
    with pytest.raises(InputError, match="no features"):
        cmvn.compute_global(write(tmp_path / "empty", ""))
