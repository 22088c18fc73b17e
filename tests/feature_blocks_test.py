import numpy as np
import pytest

from seqzoo.datasets import feature_blocks
from seqzoo.datasets.errors import InputError


def _set(lengths, dim=2):
    def feats():
        for number, length in enumerate(lengths):
            yield f"u{number}", np.full((length, dim), number, np.float32)

    return feats


def _shapes(lengths, passes, buffer_frames, minibatch_size):
    found = feature_blocks.blocks(_set(lengths), passes, buffer_frames, minibatch_size)
    return [(block.lengths.tolist(), block.last) for block in found]


def test_a_block_takes_whole_utterances_until_it_is_over_full():
    assert _shapes([3, 4, 2, 5], 1, 6, 2) == [([3, 4], False), ([2, 5], True)]


def test_a_pass_ends_a_block_and_only_the_last_is_marked():
    assert _shapes([3, 4], 2, 100, 2) == [([3, 4], False), ([3, 4], True)]


def test_what_fills_no_minibatch_counts_for_the_next_pass():
    # 7 frames leave 3 of a minibatch of 4: in the next pass 3 + 4 frames are over 6.
    assert _shapes([4, 3], 2, 6, 4) == [
        ([4, 3], False),
        ([4], False),
        ([3], True),
    ]


@pytest.mark.parametrize("buffer_frames, minibatch_size", [(6, 4), (20, 3), (1, 5)])
def test_cuts_tell_the_number_of_blocks_from_the_lengths(buffer_frames, minibatch_size):
    lengths = [4, 3, 9, 1, 1, 7, 2]
    cuts = feature_blocks.cuts(lengths, 3, buffer_frames, minibatch_size)
    shapes = _shapes(lengths, 3, buffer_frames, minibatch_size)
    assert len(cuts) == 3
    assert sum(cuts) == len(shapes)
    ends = np.cumsum([sum(block) for block, _ in shapes])
    assert [ends[n - 1] for n in np.cumsum(cuts)] == [27, 54, 81]


def test_no_features():
    with pytest.raises(InputError, match="no features that can be used"):
        list(feature_blocks.blocks(_set([]), 1, 10, 2))


def test_features_of_two_dimensions():
    def feats():
        yield "a", np.zeros((3, 2), np.float32)
        yield "b", np.zeros((3, 1), np.float32)

    with pytest.raises(InputError, match="utterance b: features of 1 dimensions"):
        list(feature_blocks.blocks(feats, 1, 10, 2))
