import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets import compressed_matrix, feats_copy, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.utterances import Utterances


def matrices(shapes=((30, 5), (9, 5), (8, 5), (1, 5), (300, 5)), seed=0):
    random = np.random.default_rng(seed)
    for number, shape in enumerate(shapes):
        scale = 10.0 ** (number - 2)
        yield f"utt{number}", (3 + scale * random.normal(size=shape)).astype("float32")


def written_by_kaldi_rules(path, feats, method):
    """An archive with the compression asked for, and what is read from it."""
    with tables.Writer(f"ark:{path}", "matrix") as writer:
        for key, matrix in feats:
            writer.write(key, matrix, compression_method=method)
    return dict(tables.read(f"ark:{path}", "matrix"))


def assert_same(found, expected):
    found, expected = dict(found), dict(expected)
    assert list(found) == list(expected)
    for key, matrix in expected.items():
        assert found[key].dtype == np.float32
        np.testing.assert_array_equal(found[key], matrix)


def test_floats_are_compressed_as_copy_feats_does(tmp_path):
    """Method 1: a byte a value, or two in matrices of up to 8 rows."""
    expected = written_by_kaldi_rules(tmp_path / "kaldi.ark", matrices(), 1)
    feats_copy.write(matrices(), str(tmp_path / "copy"), "train")
    assert sorted(os.listdir(tmp_path / "copy")) == ["train.ark", "train.scp"]
    for rspecifier in ("scp:{}/copy/train.scp", "ark:{}/copy/train.ark"):
        assert_same(tables.read(rspecifier.format(tmp_path), "matrix"), expected)
    assert (tmp_path / "copy/train.ark").read_bytes() == (
        tmp_path / "kaldi.ark"
    ).read_bytes()
    plain = sum(matrix.nbytes for _, matrix in matrices())
    assert os.path.getsize(tmp_path / "copy/train.ark") < plain / 3


def test_compressed_features_keep_their_values_to_the_bit(tmp_path):
    source = written_by_kaldi_rules(tmp_path / "source.ark", matrices(), 1)
    feats_copy.write(source.items(), str(tmp_path), "copy")
    assert_same(tables.read(f"scp:{tmp_path}/copy.scp", "matrix"), source)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    rows=st.integers(9, 40),
    columns=st.integers(1, 4),
    shift=st.sampled_from([0.0, 1e-3, 1.0, -77.0, 1e5]),
    scale=st.sampled_from([1e-6, 1e-2, 1.0, 300.0]),
    levels=st.sampled_from([1, 2, 5, 1000]),
    seed=st.integers(0, 100),
)
def test_compressed_features_of_any_spread_keep_their_values(
    tmp_path_factory, rows, columns, shift, scale, levels, seed
):
    folder = tmp_path_factory.mktemp("feats")
    random = np.random.default_rng(seed)
    values = random.integers(0, levels, (rows, columns)) / levels
    feats = (shift + scale * values).astype(np.float32)
    source = written_by_kaldi_rules(folder / "source.ark", [("a", feats)], 1)
    feats_copy.write(source.items(), str(folder), "copy")
    assert_same(tables.read(f"scp:{folder}/copy.scp", "matrix"), source)
    # And so do those of a copy of the copy.
    again = tables.read(f"scp:{folder}/copy.scp", "matrix")
    feats_copy.write(again, str(folder), "again")
    assert_same(tables.read(f"scp:{folder}/again.scp", "matrix"), source)


@pytest.mark.parametrize("seed", range(8))
def test_compressed_columns_of_unlike_spread_keep_their_values(tmp_path, seed):
    """Those of narrow columns lie on few of the 65536 steps that the header tells."""
    random = np.random.default_rng(seed)
    feats = random.normal(size=(200, 20)) * 10.0 ** random.uniform(-4, 2, 20)
    feats = [("a", feats.astype(np.float32))]
    source = written_by_kaldi_rules(tmp_path / "source.ark", feats, 1)
    feats_copy.write(source.items(), str(tmp_path), "copy")
    assert_same(tables.read(f"scp:{tmp_path}/copy.scp", "matrix"), source)


def test_constant_and_empty_matrices(tmp_path):
    feats = {
        "constant": np.full((12, 3), 2.5, np.float32),
        "zeros": np.zeros((12, 3), np.float32),
        "empty": np.zeros((0, 0), np.float32),
    }
    feats_copy.write(feats.items(), str(tmp_path), "copy")
    assert_same(tables.read(f"scp:{tmp_path}/copy.scp", "matrix"), feats)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_passes_through_for_the_reader_to_name(tmp_path, value):
    feats = dict(matrices())
    feats["utt1"][4, 2] = value
    feats_copy.write(feats.items(), str(tmp_path), "copy")
    found = dict(tables.read(f"scp:{tmp_path}/copy.scp", "matrix"))
    np.testing.assert_array_equal(found["utt1"], feats["utt1"])
    targets = {key: Posterior.from_labels([0] * len(x)) for key, x in feats.items()}
    with pytest.raises(InputError, match="utterance utt1, frame 4, dimension 2"):
        list(Utterances(f"scp:{tmp_path}/copy.scp", targets))


def pipeline(tmp_path, method=0):
    with tables.Writer(
        f"ark,scp:{tmp_path}/feats.ark,{tmp_path}/feats.scp", "matrix"
    ) as writer:
        for key, matrix in matrices():
            writer.write(key, matrix, compression_method=method)
    return FeaturePipeline(f"scp:{tmp_path}/feats.scp")


def test_a_pipeline_reads_its_copy_in_the_order_it_had(tmp_path):
    source = pipeline(tmp_path, method=1).shuffled(3)
    before = list(source)
    copied = source.copied(str(tmp_path / "copy"), "train")
    os.remove(tmp_path / "feats.ark")
    assert_same(copied, before)
    assert copied.dim == 5
    assert copied.replayable
    assert [key for key, _ in copied] == source.order


def test_a_copy_that_is_there_is_read_as_it_is(tmp_path):
    source = pipeline(tmp_path)
    feats_copy.write([("other", np.ones((9, 5), "float32"))], str(tmp_path), "train")
    copied = source.copied(str(tmp_path), "train")
    assert [key for key, _ in copied] == ["other"]


def test_a_failure_leaves_no_copy(tmp_path):
    def broken():
        yield from matrices([(9, 5)])
        raise InputError("the archive is cut short")

    with pytest.raises(InputError, match="cut short"):
        feats_copy.write(broken(), str(tmp_path), "train")
    assert not os.path.exists(tmp_path / "train.scp")


def test_the_copy_is_made_of_raw_features(tmp_path):
    """Normalisation and deltas come after it, so that it can be shared."""
    source = pipeline(tmp_path, method=1)
    with_deltas = FeaturePipeline(source.feats_rspecifier, delta_opts="--delta-order=1")
    before = list(with_deltas)
    copied = with_deltas.copied(str(tmp_path / "copy"), "train")
    assert dict(tables.read(f"scp:{tmp_path}/copy/train.scp"))["utt0"].shape == (30, 5)
    assert_same(copied, before)


def test_method_1_is_what_compresses():
    assert compressed_matrix.METHODS[1].startswith("CM, or CM2 for up to 8 rows")
