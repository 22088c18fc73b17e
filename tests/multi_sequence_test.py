import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.multi_sequence import MultiSequence, State
from seqzoo.datasets.sentences import Sentences

BLOG = [
    [424, 158, 115, 667, 28, 505, 228],
    [389, 456, 188],
    [77, 172, 760, 687, 552, 529],
]


class Plain:
    """The rule, step by step: a shared counter, and a place in a sentence a column."""

    def __init__(self, sequences, columns):
        self.sequences = sequences
        self.next = 0
        self.places = [None] * columns

    def sub(self, steps):
        rows = [[] for _ in range(steps)]
        for column, place in enumerate(self.places):
            for row in rows:
                if place is None:
                    place = (self.next, 0)
                    self.next = (self.next + 1) % len(self.sequences)
                    row.append((0, 1, False))
                    continue
                number, index = place
                sequence = self.sequences[number]
                row.append((sequence[index], sequence[index + 1], True))
                last = index + 2 == len(sequence)
                place = None if last else (number, index + 1)
            self.places[column] = place
        return rows


def rows(chunk):
    columns = (chunk.inputs, chunk.targets, chunk.mask)
    return [
        [tuple(x.item() for x in cell) for cell in zip(*line, strict=True)]
        for line in zip(*columns, strict=True)
    ]


@settings(deadline=None, max_examples=150)
@given(
    lengths=st.lists(st.integers(2, 9), min_size=1, max_size=8),
    columns=st.integers(1, 6),
    calls=st.lists(st.integers(1, 30), min_size=1, max_size=8),
    stop=st.integers(0, 8),
)
def test_any_calls_give_what_the_rule_gives(lengths, columns, calls, stop):
    ids = iter(range(1, 1000))
    sequences = [[next(ids) for _ in range(length)] for length in lengths]
    sentences = Sentences.of(sequences)
    ours = MultiSequence(sentences, columns, compat="torch")
    plain = Plain(sequences, columns)
    for number, steps in enumerate(calls):
        if number == stop:  # Going on from a checkpoint changes nothing.
            state = State.from_array(ours.state.to_array())
            ours = MultiSequence(sentences, columns, compat="torch", state=state)
        assert rows(ours.sub(steps)) == plain.sub(steps)
    assert ours.state.next_sentence == plain.next


@settings(deadline=None, max_examples=60)
@given(
    lengths=st.lists(st.integers(2, 9), min_size=1, max_size=8),
    columns=st.integers(1, 5),
    steps=st.integers(1, 7),
    epochs=st.lists(st.integers(-1, 40), min_size=1, max_size=4),
)
def test_epochs_are_cut_at_their_end_and_at_the_end_of_a_pass(
    lengths, columns, steps, epochs
):
    sequences = [list(range(1, length + 1)) for length in lengths]
    ours = MultiSequence(Sentences.of(sequences), columns)
    size = math.ceil(sum(lengths) / columns)
    assert ours.size == size
    step = 0
    for epoch in epochs:
        wanted = epoch if epoch > 0 else size
        for chunk in ours.chunks(steps, epoch):
            given = len(chunk.inputs)
            assert given == min(steps, wanted, size - step)
            wanted -= given
            step = (step + given) % size
            assert chunk.state.step == step
        assert wanted == 0


def test_the_example_of_the_blog():
    chunk = MultiSequence(Sentences.of(BLOG), 2, compat="torch").sub(10)
    assert chunk.inputs[:8].T.tolist() == [
        [0, 424, 158, 115, 667, 28, 505, 0],
        [0, 77, 172, 760, 687, 552, 0, 424],
    ]
    assert chunk.targets[:8].T.tolist() == [
        [1, 158, 115, 667, 28, 505, 228, 1],
        [1, 172, 760, 687, 552, 529, 1, 158],
    ]
    assert chunk.inputs[8:].tolist() == [[389, 158], [456, 115]]
    assert chunk.targets[8:].tolist() == [[456, 115], [188, 667]]


def test_one_call_equals_chunks_while_no_column_changes_its_sentence():
    sentences = Sentences.of([range(1, 13), range(20, 33), range(40, 52)])
    streams = MultiSequence(sentences, 3)
    chunks = list(streams.chunks(3, 10))
    lengths = [len(chunk.inputs) for chunk in chunks]
    assert lengths == [3, 3, 3, 1]
    assert (
        np.cumsum(lengths).tolist() == [c.state.step for c in chunks] == [3, 6, 9, 10]
    )
    streams.reset()
    whole = streams.sub(10)
    for name in ("inputs", "targets", "mask"):
        parts = [getattr(chunk, name) for chunk in chunks]
        np.testing.assert_array_equal(np.concatenate(parts), getattr(whole, name))


def test_word_1_is_a_word_and_the_mask_stands_apart():
    chunk = MultiSequence(Sentences.of([[1, 1, 2]]), 1).sub(4)
    assert chunk.inputs.ravel().tolist() == [0, 1, 1, 0]
    assert chunk.targets.ravel().tolist() == [0, 1, 2, 0]
    assert chunk.mask.ravel().tolist() == [False, True, True, False]
    assert chunk.inputs.dtype == chunk.targets.dtype == np.int32


def test_a_batch_of_one_covers_the_set_once_a_pass():
    streams = MultiSequence(Sentences.of(BLOG), 1)
    for _ in range(2):
        chunks = list(streams.chunks(5))
        inputs = np.concatenate([c.inputs[c.mask] for c in chunks]).tolist()
        assert inputs == [word for sentence in BLOG for word in sentence[:-1]]
    assert streams.state.to_array().tolist() == [0, 0, 0, 0]


def test_a_state_of_another_batch_size_or_set():
    sentences = Sentences.of(BLOG)
    streams = MultiSequence(sentences, 2)
    streams.sub(3)
    with pytest.raises(InputError, match="that of 2 columns, but the batch has 3"):
        MultiSequence(sentences, 3, state=streams.state)
    with pytest.raises(InputError, match=r"not one of this set \(1 sentences\)"):
        MultiSequence(Sentences.of([[1, 2]]), 2, state=streams.state)


def test_wrong_arguments():
    with pytest.raises(InputError, match="without a sentence"):
        MultiSequence(Sentences.of([[1]]), 2)
    with pytest.raises(ValueError, match="batch_size must be 1 or more"):
        MultiSequence(Sentences.of(BLOG), 0)
    with pytest.raises(ValueError, match="compat must be"):
        MultiSequence(Sentences.of(BLOG), 1, compat="lua")
    with pytest.raises(ValueError, match="steps must be 1 or more"):
        MultiSequence(Sentences.of(BLOG), 1).sub(0)
