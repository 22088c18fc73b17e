"""Minibatches of a frame buffer: which frames, in which order, beside what."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets import frame_records, frames
from seqzoo.datasets.frame_blocks import blocks
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.utterances import Utterance
from seqzoo.layers import splice_rows


def utterances(lengths, weight=lambda number: 1.0):
    """Frame number n has the feature n, the class n and the weight `weight(n)`."""
    starts = np.cumsum([0, *lengths])
    for first, length in zip(starts, lengths, strict=False):
        numbers = np.arange(first, first + length)
        yield Utterance(
            f"{first}",
            numbers[:, np.newaxis].astype(np.float32),
            Posterior.from_labels(numbers),
            np.array([weight(n) for n in numbers], np.float32),
        )


def fillings(made, buffer_frames, minibatch_size, function=None, **kwargs):
    cut = list(blocks(made, buffer_frames, minibatch_size))
    dataset = frame_records.stream(lambda: cut, cut[0].feats.shape[1])
    dataset = dataset.apply(frames.transform(function))
    return quick(dataset.apply(frames.randomize(minibatch_size, **kwargs)))


def quick(dataset):
    """Without the optimization of the graph, which takes longer than these sets."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


def rows(dataset):
    """All fillings, each as a dict of arrays."""
    return list(dataset.as_numpy_iterator())


def numbers(dataset):
    """The numbers of the frames, one list a filling."""
    return [filling["ids"][:, 0].tolist() for filling in rows(dataset)]


def seeded(seed=777, epoch=0):
    return frames.seeded_permutation(seed, tf.Variable(epoch, dtype=tf.int64))


def reverse(number, count):
    return tf.range(count - 1, -1, -1)


def test_the_order_is_kept_without_a_permutation():
    # 3 + 3 frames leave 2, which with 4 more fill the buffer again and leave 2.
    made = fillings(utterances([3, 3, 4, 3]), 5, 4)
    assert numbers(made) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11, 12]]


def test_what_is_left_over_is_shuffled_again_with_the_next_filling():
    made = fillings(utterances([3, 3, 4, 3]), 5, 4, permutation=reverse)
    # Kaldi's buffer by hand: [0 .. 5] reversed, of which 1 and 0 are left;
    # [1 0 6 7 8 9] reversed leaves 0 and 1; [0 1 10 11 12] reversed is the end.
    assert numbers(made) == [[5, 4, 3, 2], [9, 8, 7, 6], [12, 11, 10, 1, 0]]


def test_the_tail_is_dropped_on_demand():
    made = [2, 5, 4]
    kept = numbers(fillings(utterances(made), 100, 4))
    assert kept == [list(range(11))]
    assert numbers(fillings(utterances(made), 100, 4, drop_tail=True)) == [
        list(range(8))
    ]
    assert numbers(fillings(utterances([3]), 100, 4, drop_tail=True)) == []
    assert numbers(fillings(utterances([3]), 100, 4)) == [[0, 1, 2]]


class KaldiRandomizer:
    """A buffer of frame numbers that is filled, permuted and read as Kaldi's is."""

    def __init__(self, permutation, minibatch_size):
        self.permutation, self.minibatch = permutation, minibatch_size
        self.held, self.out, self.fillings = [], [], 0

    def fill(self, new):
        held = self.held + new
        order = self.permutation(self.fillings, len(held)).numpy()
        held = [held[i] for i in order]
        while len(held) >= self.minibatch:
            self.out.append(held[: self.minibatch])
            held = held[self.minibatch :]
        self.held = held
        self.fillings += 1


class Pipelines:
    """One dataset for each minibatch size and end, of whatever blocks are in a file."""

    def __init__(self, path):
        self.path = path
        self.epoch = tf.Variable(0, dtype=tf.int64)
        self.permutation = tf.function(
            frames.seeded_permutation(777, self.epoch),
            input_signature=[tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int32)],
        )
        self._made = {}

    def get(self, minibatch_size, drop_tail):
        key = minibatch_size, drop_tail
        if key not in self._made:
            dataset = frame_records.read(self.path, 1)
            dataset = dataset.apply(frames.transform(None)).apply(
                frames.randomize(minibatch_size, self.permutation, drop_tail)
            )
            self._made[key] = quick(dataset)
        return self._made[key]


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    return Pipelines(str(tmp_path_factory.mktemp("records") / "blocks"))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    buffer_frames=st.integers(1, 20),
    minibatch_size=st.sampled_from([1, 4, 5]),
    drop_tail=st.booleans(),
    silence=st.sampled_from([0, 2, 3]),
    epoch=st.integers(0, 100),
)
def test_minibatches_are_those_of_a_buffer_of_frames(
    pipelines, lengths, buffer_frames, minibatch_size, drop_tail, silence, epoch
):
    def weight(number):
        return 0.0 if silence and number % silence == 0 else 1 + number / 8

    pipelines.epoch.assign(epoch)
    cut = list(blocks(utterances(lengths, weight), buffer_frames, minibatch_size))
    randomizer = KaldiRandomizer(pipelines.permutation, minibatch_size)
    for block in cut:
        randomizer.fill(block.ids[block.weights > 0, 0].tolist())
    expected = randomizer.out
    if randomizer.held and not drop_tail:
        expected = [*expected, randomizer.held]

    frame_records.write(cut, pipelines.path)
    minibatches = []
    for filling in rows(pipelines.get(minibatch_size, drop_tail)):
        ids = filling["ids"][:, 0].tolist()
        minibatches += [
            ids[i : i + minibatch_size] for i in range(0, len(ids), minibatch_size)
        ]
        # Features, targets and weights stay side by side.
        np.testing.assert_array_equal(filling["inputs"], filling["ids"])
        np.testing.assert_array_equal(filling["weights"], [weight(n) for n in ids])
    assert minibatches == expected
    everything = [n for n in range(sum(lengths)) if weight(n)]
    seen = sorted(n for minibatch in minibatches for n in minibatch)
    if drop_tail:
        assert len(seen) == len(everything) - len(everything) % minibatch_size
        assert set(seen) <= set(everything) and len(set(seen)) == len(seen)
    else:
        assert seen == everything


def test_the_permutation_depends_on_seed_epoch_and_filling_alone():
    def order(seed, epoch, number, count=50):
        return (
            seeded(seed, epoch)(tf.constant(number, tf.int64), count).numpy().tolist()
        )

    assert sorted(order(1, 2, 3)) == list(range(50))
    assert order(1, 2, 3) == order(1, 2, 3)
    drawn = [order(1, 2, 3), order(2, 2, 3), order(1, 3, 3), order(1, 2, 4)]
    assert len({tuple(each) for each in drawn}) == 4
    assert order(-5, 0, 0) != order(5, 0, 0)


def test_one_dataset_serves_all_epochs_and_a_repeated_epoch_is_the_same():
    epoch = tf.Variable(1, dtype=tf.int64)
    made = fillings(
        utterances([20] * 5),
        30,
        8,
        permutation=frames.seeded_permutation(777, epoch),
    )
    first, again = numbers(made), numbers(made)
    epoch.assign(2)
    second = numbers(made)
    epoch.assign(1)
    assert first == again == numbers(made) != second
    assert sorted(sum(first, [])) == sorted(sum(second, [])) == list(range(100))


def test_frames_without_weight_are_context_only():
    made = utterances([4, 2], weight=lambda n: 0.0 if n in (1, 4) else 1.0)
    (filling,) = rows(
        fillings(made, 100, 4, lambda x, n: splice_rows(x, n, [-1, 0, 1]))
    )
    assert filling["ids"][:, 0].tolist() == [0, 2, 3, 5]
    assert filling["inputs"].tolist() == [[0, 0, 1], [1, 2, 3], [2, 3, 3], [4, 5, 5]]
    assert filling["weights"].tolist() == [1, 1, 1, 1]


def test_a_weight_of_0_is_as_if_the_frame_were_not_in_the_buffer():
    weights = [1, 0, 1, 1, 0, 1]
    some = numbers(
        fillings(utterances([6], weights.__getitem__), 100, 2, permutation=seeded())
    )
    kept = [n for n in range(6) if weights[n]]
    order = seeded()(tf.constant(0, tf.int64), 4).numpy()
    assert some == [[kept[i] for i in order]]


def test_a_set_without_weight_has_no_minibatches():
    made = utterances([3, 2], weight=lambda n: 0.0)
    assert numbers(fillings(made, 100, 4, permutation=seeded())) == []


def test_the_end_of_a_set_without_weight_still_flushes_the_rest():
    made = utterances([5, 4], weight=lambda n: float(n < 5))
    assert numbers(fillings(made, 4, 4)) == [[0, 1, 2, 3], [4]]


def test_pairs_of_one_filling_are_widened_for_the_next():
    wide = Utterance(
        "wide",
        np.zeros((3, 1), np.float32),
        Posterior.from_frames([[(1, 0.5), (2, 0.25), (0, 0.25)]] * 3),
        np.ones(3, np.float32),
    )
    made = [wide, *utterances([3])]
    first, second = rows(fillings(made, 2, 2))
    assert first["ids"].tolist() == [[1, 2, 0]] * 2
    assert second["ids"].tolist() == [[1, 2, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0]]
    assert second["values"].tolist() == [[0.5, 0.25, 0.25]] + [[1, 0, 0]] * 3


def test_the_width_of_the_inputs_is_known():
    made = fillings(utterances([4]), 9, 2, lambda x, n: splice_rows(x, n, [0, 1]))
    assert made.element_spec["inputs"] == tf.TensorSpec([None, 2])
    assert set(made.element_spec) == {"inputs", "ids", "values", "weights"}


def test_minibatches_feed_fit():
    made = fillings(utterances([5, 5, 4]), 4, 4, permutation=seeded())
    split = made.apply(frames.minibatches(4))
    sizes = [len(b["weights"]) for b in split.as_numpy_iterator()]
    assert sizes == [4, 4, 4, 2]
    assert sorted(
        n for b in split.as_numpy_iterator() for n in b["ids"][:, 0].tolist()
    ) == list(range(14))

    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(14)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    examples = split.map(lambda b: (b["inputs"] / 14, b["ids"][:, 0], b["weights"]))
    # Without its length Keras warns at the end of the first epoch.
    examples = examples.apply(tf.data.experimental.assert_cardinality(4))
    history = model.fit(examples, epochs=2, shuffle=False, verbose=0).history
    assert history["loss"][1] < history["loss"][0]


@pytest.mark.parametrize("drop_tail", [False, True])
def test_one_minibatch_exactly(drop_tail):
    made = fillings(utterances([4]), 4, 4, drop_tail=drop_tail)
    assert numbers(made) == [[0, 1, 2, 3]]
