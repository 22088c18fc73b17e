"""Sets of several languages as one: features, tables, targets in blocks."""

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.frame_blocks import target_pairs
from seqzoo.datasets.joined_features import JoinedFeatures
from seqzoo.datasets.pasted_targets import JoinedTables, PastedTargets
from seqzoo.datasets.target_table import OwnFeatures
from seqzoo.datasets.utterances import Utterances

LENGTHS = {"en": [2, 3, 4, 5], "fr": [6, 7, 8, 9, 10, 11]}


@pytest.fixture
def sets(tmp_path):
    made = {}
    for name, lengths in LENGTHS.items():
        where = f"ark,scp:{tmp_path}/{name}.ark,{tmp_path}/{name}.scp"
        with tables.Writer(where) as writer:
            for number, length in enumerate(lengths):
                # The same key in both sets.
                writer.write(f"u{number}", np.full((length, 3), length, np.float32))
        made[name] = FeaturePipeline(f"scp:{tmp_path}/{name}.scp")
    return made


def test_all_utterances_under_the_name_of_their_set(sets):
    joined = JoinedFeatures(sets)
    keys = [f"{name}/u{i}" for name in LENGTHS for i in range(len(LENGTHS[name]))]
    assert joined.order == keys
    found = dict(joined)
    assert list(found) == keys
    lengths = [length for of_set in LENGTHS.values() for length in of_set]
    assert [len(feats) for feats in found.values()] == lengths
    assert (joined.num_done, joined.num_errors, joined.dim) == (10, 0, 3)
    assert joined.replayable


def test_sets_are_shuffled_into_each_other(sets):
    joined = JoinedFeatures(sets).shuffled(5)
    keys = [key for key, _ in joined]
    assert keys == joined.order == [key for key, _ in joined]
    assert sorted(keys) == sorted(JoinedFeatures(sets).order)
    names = [key.partition("/")[0] for key in keys]
    changes = sum(a != b for a, b in zip(names[1:], names[:-1], strict=True))
    assert changes > 1
    assert keys != JoinedFeatures(sets).shuffled(6).order
    for key, feats in joined:
        name, _, utt = key.partition("/")
        assert len(feats) == LENGTHS[name][int(utt[1:])]


def test_copies_stay_apart(sets, tmp_path):
    joined = JoinedFeatures(sets).shuffled(5).copied(str(tmp_path / "copy"), "train")
    expected = dict(JoinedFeatures(sets))
    found = dict(joined)
    assert sorted(found) == sorted(expected)
    for key, feats in found.items():
        np.testing.assert_allclose(feats, expected[key], rtol=1e-2)
    assert {p.name for p in (tmp_path / "copy").iterdir()} == {
        f"train.{name}.{end}" for name in LENGTHS for end in ("ark", "scp")
    }


def test_sets_of_other_dimensions(sets, tmp_path):
    with tables.Writer(f"ark:{tmp_path}/de.ark") as writer:
        writer.write("u0", np.zeros((4, 2), np.float32))
    sets["de"] = FeaturePipeline(f"ark:{tmp_path}/de.ark")
    with pytest.raises(InputError, match="de/u0: features of 2 dimensions"):
        list(JoinedFeatures(sets))


def test_a_name_with_a_slash(sets):
    with pytest.raises(InputError, match="without '/'"):
        JoinedFeatures({"a/b": sets["en"]})


def test_targets_stand_in_the_block_of_their_set():
    targets = PastedTargets(
        {"en": {"u": np.array([0, 2])}, "fr": {"u": np.array([1, 0, 1])}},
        {"en": 3, "fr": 2},
    )
    assert "en/u" in targets and "fr/u" in targets
    assert "u" not in targets and "de/u" not in targets and "en/v" not in targets
    assert target_pairs(targets["en/u"])[0][:, 0].tolist() == [0, 2]
    assert target_pairs(targets["fr/u"])[0][:, 0].tolist() == [4, 3, 4]


def test_a_target_outside_its_block():
    targets = PastedTargets({"en": {"u": np.array([3])}}, {"en": 3})
    with pytest.raises(InputError, match="en/u, frame 0: .* index is 3, but .* 0 to 2"):
        targets["en/u"]


def test_weights_of_all_sets():
    joined = JoinedTables({"en": {"u": 1.0}, "fr": {"u": 0.5, "v": 2.0}})
    assert dict(joined) == {"en/u": 1.0, "fr/u": 0.5, "fr/v": 2.0}
    assert len(joined) == 3


def test_features_as_their_own_targets():
    feats = np.arange(12, dtype=np.float32).reshape(3, 4)
    [whole] = Utterances([("u", feats)], OwnFeatures())
    np.testing.assert_array_equal(whole.targets.to_dense(4), feats)
    [part] = Utterances([("u", feats)], OwnFeatures(2), num_targets=2)
    np.testing.assert_array_equal(part.targets.to_dense(2), feats[:, :2])
    assert (part.feats == feats).all()
