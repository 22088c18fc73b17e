import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.layers import Splice, splice_rows
from tests.check_layer import check_layer


def test_neighbours_in_order_with_the_ends_repeated():
    check_layer(
        lambda: Splice([-1, 0, 1]),
        inputs=np.array([[[0.0], [1.0], [2.0]]], "float32"),
        expected=np.array([[[0, 0, 1], [0, 1, 2], [1, 2, 2]]], "float32"),
    )


def test_offsets_in_any_order_with_gaps_and_twice():
    check_layer(
        lambda: Splice([2, -2, 0, 0]),
        inputs=np.array([[[1, -1], [2, -2], [3, -3]]], "float32"),
        expected=np.array(
            [
                [
                    [3, -3, 1, -1, 1, -1, 1, -1],
                    [3, -3, 1, -1, 2, -2, 2, -2],
                    [3, -3, 1, -1, 3, -3, 3, -3],
                ]
            ],
            "float32",
        ),
    )


def test_padding_is_never_spliced_in():
    check_layer(
        lambda: Splice([0, 1]),
        inputs=np.array([[[1.0], [2.0], [9.0]], [[4.0], [5.0], [6.0]]], "float32"),
        mask=np.array([[True, True, False], [True, True, True]]),
        expected=np.array(
            [[[1, 2], [2, 2], [2, 2]], [[4, 5], [5, 6], [6, 6]]], "float32"
        ),
    )


def test_a_row_of_padding_alone_leaves_the_others_as_they_are():
    outputs = check_layer(
        lambda: Splice([-1, 1]),
        inputs=np.array([[[7.0], [8.0]], [[1.0], [2.0]]], "float32"),
        mask=np.array([[False, False], [True, True]]),
    )
    assert np.isfinite(outputs).all()
    assert outputs[1].tolist() == [[1, 2], [1, 2]]


def test_no_frames_and_no_utterances():
    layer = Splice([-1, 0])
    assert layer(np.zeros((2, 0, 3), "float32")).shape == (2, 0, 6)
    assert layer(np.zeros((0, 4, 3), "float32")).shape == (0, 4, 6)


def test_far_offsets_reach_no_further_than_the_ends():
    outputs = Splice([-1000, 1000])(np.array([[[1.0], [2.0], [3.0]]], "float32"))
    assert outputs.numpy().tolist() == [[[1, 3]] * 3]


def test_the_gradient_of_an_end_counts_every_copy():
    inputs = tf.constant([[[1.0], [2.0], [3.0]]])
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        total = tf.reduce_sum(Splice([-1, 0, 1])(inputs))
    # Frame 0 is in rows 0 (twice) and 1; frame 1 in all three; frame 2 like 0.
    assert tape.gradient(total, inputs).numpy().tolist() == [[[3], [3], [3]]]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    offsets=st.lists(st.integers(-7, 7), min_size=1, max_size=4),
)
def test_utterances_end_to_end_are_spliced_each_alone(lengths, offsets):
    rows = np.arange(2 * sum(lengths), dtype=np.float32).reshape(-1, 2)
    found = splice_rows(tf.constant(rows), tf.constant(lengths), offsets).numpy()
    parts = np.split(rows, np.cumsum(lengths)[:-1])
    by_utterance = [Splice(offsets)(part[np.newaxis]).numpy()[0] for part in parts]
    np.testing.assert_array_equal(found, np.concatenate(by_utterance))
    by_hand = [
        [part[min(max(t + o, 0), len(part) - 1)] for o in offsets]
        for part in parts
        for t in range(len(part))
    ]
    np.testing.assert_array_equal(found, np.reshape(by_hand, found.shape))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    offsets=st.lists(st.integers(-3, 3), min_size=1, max_size=3),
)
def test_a_padded_batch_equals_its_utterances(lengths, offsets):
    time = max(*lengths, 1)
    inputs = np.random.default_rng(0).normal(size=(len(lengths), time, 2))
    inputs = inputs.astype(np.float32)
    mask = np.arange(time) < np.array(lengths)[:, np.newaxis]
    batch = Splice(offsets)(inputs, mask=mask).numpy()
    for row, length in enumerate(lengths):
        alone = Splice(offsets)(inputs[row : row + 1, :length]).numpy()
        np.testing.assert_array_equal(batch[row, :length], alone[0])


def test_no_retracing_for_other_lengths():
    traces = 0
    layer = Splice([-1, 0, 1])

    @tf.function(reduce_retracing=True)
    def call(inputs):
        nonlocal traces
        traces += 1
        return layer(inputs)

    for time in (3, 7, 30, 4):
        assert call(tf.zeros([2, time, 5])).shape == (2, time, 15)
    assert traces <= 2


def test_no_offsets():
    with pytest.raises(ValueError, match="at least one frame"):
        Splice([])


def test_offsets_that_are_no_whole_numbers():
    with pytest.raises(ValueError, match=r"whole frames, not \(0, 0.5\)"):
        Splice([0, 0.5])
    assert Splice(np.array([-1.0, 2.0])).offsets == (-1, 2)


def test_frames_without_a_batch():
    with pytest.raises(ValueError, match="expected ndim=3, found ndim=2"):
        Splice([0])(np.zeros((4, 2), "float32"))


def test_the_config_holds_plain_ints():
    offsets = Splice(np.arange(-1, 2)).get_config()["offsets"]
    assert offsets == (-1, 0, 1)
    assert [type(offset) for offset in offsets] == [int] * 3
