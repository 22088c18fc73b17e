import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets.frame_blocks import blocks, target_pairs
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.utterances import Utterance


def utterance(weights, first=0, dim=1) -> Utterance:
    """Frames numbered from `first`, whose target class is their number."""
    numbers = np.arange(first, first + len(weights))
    feats = np.repeat(numbers[:, np.newaxis], dim, axis=1).astype(np.float32)
    targets = Posterior.from_labels(numbers)
    return Utterance(f"utt{first}", feats, targets, np.array(weights, np.float32))


def utterances(*lengths):
    starts = np.cumsum([0, *lengths])
    return [
        utterance([1] * n, first) for n, first in zip(lengths, starts, strict=False)
    ]


def cut(made, buffer_frames, minibatch_size):
    return [b.lengths.tolist() for b in blocks(made, buffer_frames, minibatch_size)]


def test_the_buffer_takes_one_utterance_more_than_it_holds():
    # 4 + 4 = 8 is not over 8; 12 is.
    assert cut(utterances(4, 4, 4, 4, 4, 4), 8, 4) == [[4, 4, 4], [4, 4, 4]]
    assert cut(utterances(9, 9, 1), 8, 1) == [[9], [9], [1]]


def test_what_fills_no_minibatch_counts_for_the_next_filling():
    # 5 + 5 = 10 leaves 2 of minibatches of 4; 2 + 5 + 5 is over 9, 2 + 5 is not.
    assert cut(utterances(*[5] * 6), 9, 4) == [[5, 5], [5, 5], [5, 5]]
    # 5 + 5 leaves 3 of minibatches of 7; 3 + 5 = 8 is not over 9; 3 + 5 + 5 leaves 6,
    # and with 6 + 5 it is full again.
    assert cut(utterances(*[5] * 6), 9, 7) == [[5, 5], [5, 5], [5], [5]]


def test_a_block_holds_its_utterances_end_to_end():
    first, second = utterance([1, 0.5], 3, dim=2), utterance([2], 7, dim=2)
    (block,) = blocks([first, second], 100, 4)
    assert block.feats.tolist() == [[3, 3], [4, 4], [7, 7]]
    assert block.lengths.tolist() == [2, 1]
    assert block.ids.tolist() == [[3], [4], [7]]
    assert block.values.tolist() == [[1], [1], [1]]
    assert block.weights.tolist() == [1, 0.5, 2]
    assert block.last
    kinds = [block.feats, block.lengths, block.ids, block.values, block.weights]
    assert [str(a.dtype) for a in kinds] == [
        "float32",
        "int32",
        "int32",
        "float32",
        "float32",
    ]


def test_only_the_last_block_is_last():
    made = list(blocks(utterances(*[5] * 6), 9, 4))
    assert [block.last for block in made] == [False, False, True]
    assert list(blocks([], 9, 4)) == []


def test_frames_without_weight_do_not_fill_the_buffer():
    made = [utterance([1, 0, 0, 0, 1], 5 * n) for n in range(4)]
    assert cut(made, 3, 2) == [[5, 5], [5, 5]]
    silent = [utterance([0, 0, 0], 3 * n) for n in range(3)]
    assert cut(silent, 1, 2) == [[3, 3, 3]]


def test_pairs_are_widened_to_the_most_of_the_block():
    made = [
        Utterance("a", np.zeros((1, 1)), Posterior.from_labels([4]), np.ones(1)),
        Utterance(
            "b",
            np.zeros((2, 1)),
            Posterior.from_frames([[(1, 0.25), (2, 0.75)], []]),
            np.ones(2),
        ),
    ]
    (block,) = blocks(made, 100, 4)
    assert block.ids.tolist() == [[4, 0], [1, 2], [0, 0]]
    assert block.values.tolist() == [[1, 0], [0.25, 0.75], [0, 0]]


class KaldiBuffer:
    """The frame buffer of nnet-train-frmshuff: what happens to single frames."""

    def __init__(self, buffer_frames, minibatch_size):
        self.size, self.minibatch = buffer_frames, minibatch_size
        self.frames, self.fresh = [], False

    def is_full(self):
        return self.fresh and len(self.frames) > self.size

    def add(self, frames):
        self.frames += frames
        self.fresh = True

    def consume(self):
        while len(self.frames) >= self.minibatch:
            self.frames = self.frames[self.minibatch :]
        self.fresh = False


def fillings_of_kaldi(made, buffer_frames, minibatch_size):
    """The utterances of each filling of a buffer that is filled frame by frame."""
    buffer = KaldiBuffer(buffer_frames, minibatch_size)
    found, rest = [], list(made)
    while rest:
        filling = []
        while rest and not buffer.is_full():
            one = rest.pop(0)
            filling.append(len(one.feats))
            buffer.add([t for t, w in enumerate(one.weights) if w > 0])
        found.append(filling)
        buffer.consume()
    return found


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=20),
    buffer_frames=st.integers(4, 30),
    minibatch_size=st.integers(1, 6),
    seed=st.integers(0, 3),
)
def test_blocks_are_the_fillings_of_the_buffer(
    lengths, buffer_frames, minibatch_size, seed
):
    random = np.random.default_rng(seed)
    starts = np.cumsum([0, *lengths])
    made = [
        utterance(random.integers(0, 3, n) if seed else [1] * n, first)
        for n, first in zip(lengths, starts, strict=False)
    ]
    found = list(blocks(made, buffer_frames, minibatch_size))
    expected = fillings_of_kaldi(made, buffer_frames, minibatch_size)
    assert [block.lengths.tolist() for block in found] == expected
    assert np.concatenate([block.feats[:, 0] for block in found]).tolist() == list(
        range(sum(lengths))
    )
    assert all((block.feats == block.ids).all() for block in found)


def test_a_buffer_smaller_than_a_minibatch_goes_on():
    assert cut(utterances(3, 3, 3), 1, 8) == [[3], [3], [3]]


def test_one_class_a_frame():
    ids, values = target_pairs(Posterior.from_labels([3, 0, 7]))
    assert ids.tolist() == [[3], [0], [7]]
    assert values.tolist() == [[1], [1], [1]]


def test_several_pairs_and_none():
    posterior = Posterior.from_frames([[], [(5, 0.5), (2, -3.5)], [(1, 2.0)]])
    ids, values = target_pairs(posterior)
    assert ids.tolist() == [[0, 0], [5, 2], [1, 0]]
    assert values.tolist() == [[0, 0], [0.5, -3.5], [2, 0]]


def test_of_a_class_named_twice_the_last_wins():
    posterior = Posterior.from_frames(
        [[(1, 0.5), (2, 0.25), (1, 0.75)], [(1, 9.0)], [(3, 1.0), (3, 2.0), (3, 3.0)]]
    )
    ids, values = target_pairs(posterior)
    assert ids.tolist()[0] == [1, 2, 1]
    assert values.tolist() == [[0, 0.25, 0.75], [9, 0, 0], [0, 0, 3]]


@pytest.mark.parametrize("frames", [[], [[]], [[], []]])
def test_no_targets_at_all(frames):
    ids, values = target_pairs(Posterior.from_frames(frames))
    assert ids.shape == values.shape == (len(frames), 1)
    assert not values.any()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.floats(-2, 2, width=16)), max_size=5),
        max_size=5,
    )
)
def test_pairs_that_are_added_up_are_the_matrix(frames):
    posterior = Posterior.from_frames(frames)
    ids, values = target_pairs(posterior)
    dense = np.zeros((len(frames), 4), np.float32)
    for t in range(len(frames)):
        for i, value in zip(ids[t], values[t], strict=True):
            dense[t, i] += value
    np.testing.assert_allclose(dense, posterior.to_dense(4), atol=1e-29)
