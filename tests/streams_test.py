"""Plans against plain simulations of nnet1's loops, frame by frame."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqzoo.datasets import streams

LENGTHS = st.lists(st.integers(1, 30), max_size=12)


def simulated_multistream(lengths, num_streams, batch_size, stop_dry):
    """Minibatches of a queue of utterances, as (frames with -1 of streams, fresh)."""
    ends = np.cumsum([0, *lengths])
    waiting = [list(range(a, b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    current = [[] for _ in range(num_streams)]
    while True:
        fresh = [False] * num_streams
        for stream in range(num_streams):
            if not current[stream]:
                if waiting:
                    current[stream], fresh[stream] = waiting.pop(0), True
                elif stop_dry:
                    return
        if not any(current):
            return
        index = np.full((num_streams, batch_size), -1)
        for stream, frames in enumerate(current):
            taken = frames[:batch_size]
            index[stream, : len(taken)] = taken
            current[stream] = frames[batch_size:]
        yield index, fresh


def assert_same(plan, expected, offset=0):
    for minibatch, (index, fresh) in enumerate(expected):
        ours = plan.index(minibatch)
        np.testing.assert_array_equal(np.where(ours < 0, -1, ours + offset), index)
        assert plan.fresh[minibatch].tolist() == fresh


@given(LENGTHS, st.integers(1, 4), st.integers(1, 9), st.booleans())
def test_multistream_against_a_simulation(lengths, num_streams, batch_size, drop_tail):
    plan = streams.multistream(lengths, num_streams, batch_size, drop_tail=drop_tail)
    expected = list(simulated_multistream(lengths, num_streams, batch_size, drop_tail))
    assert len(plan) == len(expected)
    assert_same(plan, expected)
    if not drop_tail:
        used = [i for n in range(len(plan)) for i in plan.index(n).ravel() if i >= 0]
        assert sorted(used) == list(range(sum(lengths)))
        assert not plan.rests


@given(
    st.lists(LENGTHS, min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(1, 9),
    st.booleans(),
)
def test_a_set_in_blocks_is_the_set_in_one(blocks, num_streams, batch_size, drop_tail):
    whole = [length for block in blocks for length in block]
    expected = simulated_multistream(whole, num_streams, batch_size, drop_tail)
    first, rests, kept = 0, (), np.zeros(0, int)
    found = []
    for number, block in enumerate(blocks):
        # What each frame of the block is in the set.
        frames = np.concatenate([kept, first + np.arange(sum(block))])
        first += sum(block)
        plan = streams.multistream(
            block,
            num_streams,
            batch_size,
            rests=rests,
            last=number == len(blocks) - 1,
            drop_tail=drop_tail,
        )
        for minibatch in range(len(plan)):
            index = plan.index(minibatch)
            frames_of = np.append(frames, -1)[index]
            found.append((frames_of, plan.fresh[minibatch].tolist()))
        rests = plan.rests
        kept = np.concatenate(
            [np.zeros(0, int), *(frames[r.start : r.start + r.length] for r in rests)]
        )
    for (index, fresh), (ours, ours_fresh) in zip(expected, found, strict=True):
        np.testing.assert_array_equal(ours, index)
        assert ours_fresh == fresh


def test_multistream_by_hand():
    plan = streams.multistream([5, 2, 3], num_streams=2, batch_size=2)
    assert [plan.index(n).tolist() for n in range(3)] == [
        [[0, 1], [5, 6]],
        [[2, 3], [7, 8]],
        [[4, -1], [9, -1]],
    ]
    assert plan.fresh.tolist() == [[True, True], [False, True], [False, False]]
    assert plan.streams.tolist() == [2, 2, 2]
    dry = streams.multistream([5, 2], num_streams=2, batch_size=2, drop_tail=True)
    assert len(dry) == 1


def simulated_buckets(lengths, num_streams, max_frames, pick, drop_last):
    """nnet1's buffer: the utterance in use still counts as in it."""
    left = sorted(range(len(lengths)), key=lambda n: (lengths[n], n))
    least = 2 if drop_last else 1
    while len(left) >= least:
        known = sorted({lengths[n] for n in left})
        wanted = known[pick(len(known))]
        group = []
        while len(left) >= least:
            fit = [n for n in left if lengths[n] >= wanted]
            longest = max(lengths[n] for n in left)
            taken = fit[0] if fit else [n for n in left if lengths[n] == longest][0]
            left.remove(taken)
            group.append(taken)
            if len(group) == num_streams:
                break
            if max(lengths[n] for n in group) * (len(group) + 1) > max_frames:
                break
        yield group


@given(LENGTHS, st.integers(1, 5), st.integers(30, 120), st.booleans(), st.integers())
def test_buckets_against_a_simulation(lengths, num, max_frames, drop_last, seed):
    seed = abs(seed)
    picks = [np.random.default_rng(seed) for _ in range(2)]
    plan = streams.multistream_perutt(
        lengths, num, max_frames, picks[0].integers, drop_last
    )
    groups = list(
        simulated_buckets(lengths, num, max_frames, picks[1].integers, drop_last)
    )
    ends = np.cumsum([0, *lengths])
    assert len(plan) == len(groups)
    for minibatch, group in enumerate(groups):
        index = plan.index(minibatch)
        assert index.shape == (len(group), max(lengths[n] for n in group))
        for row, n in zip(index, group, strict=True):
            assert row[row >= 0].tolist() == list(range(ends[n], ends[n + 1]))
        assert plan.fresh[minibatch, : len(group)].all()
    assert sum(map(len, groups)) == max(len(lengths) - drop_last, 0)


def test_utterances_one_by_one():
    plan = streams.perutt([3, 1])
    assert [plan.index(n).tolist() for n in range(2)] == [[[0, 1, 2]], [[3]]]
    assert plan.fresh.all()


@pytest.mark.parametrize(
    "plan",
    [
        streams.perutt([]),
        streams.multistream([], 2, 3),
        streams.multistream_perutt([], 2, 10, lambda n: 0),
        streams.multistream_perutt([4], 2, 10, lambda n: 0, drop_last=True),
    ],
)
def test_nothing(plan):
    assert len(plan) == 0
    assert plan.lengths.sum() == 0
