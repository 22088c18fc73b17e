import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.splice_feats import splice_feats

FEATS = np.array([[1, 10], [2, 20], [3, 30]], np.float32)


def test_neighbours_stand_earliest_first_and_end_frames_repeat():
    np.testing.assert_array_equal(
        splice_feats(FEATS, 1, 1),
        [[1, 10, 1, 10, 2, 20], [1, 10, 2, 20, 3, 30], [2, 20, 3, 30, 3, 30]],
    )


def test_contexts_longer_than_the_utterance():
    result = splice_feats(FEATS, 5, 0)
    assert result.shape == (3, 12)
    np.testing.assert_array_equal(result[2, ::2], [1, 1, 1, 1, 2, 3])


def test_no_context_is_a_copy():
    result = splice_feats(FEATS, 0, 0)
    np.testing.assert_array_equal(result, FEATS)
    assert not np.shares_memory(result, FEATS)


def test_no_frames():
    assert splice_feats(np.zeros((0, 2), np.float32), 1, 2).shape == (0, 8)


def test_negative_context():
    with pytest.raises(InputError, match="-1 and 4 frames"):
        splice_feats(FEATS, -1)
