import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets import frame_records
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.frame_blocks import blocks
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.utterances import Utterance
from seqzoo.zoo.checkpoints import components, keras_layers
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training import frame_data

TRANSFORM = Nnet(
    [
        components.Splice(2, 6, [-2, 0, 1]),
        components.AddShift(6, 6, np.arange(6, dtype=np.float32), 0.0),
        components.Rescale(6, 6, np.float32([1, 2, 3, 4, 5, 6]), 0.0),
    ]
)


def utterances():
    random = np.random.default_rng(0)
    return [
        Utterance(
            name,
            random.normal(size=(frames, 2)).astype(np.float32),
            Posterior.from_labels(np.arange(frames)),
            np.ones(frames, np.float32),
        )
        for name, frames in (("a", 5), ("b", 1), ("c", 7))
    ]


def test_the_transform_works_on_each_utterance_alone():
    """As the network's own code in NumPy, one utterance after the other."""
    made = list(blocks(utterances(), 100, 4))
    front = keras_layers.to_layers(TRANSFORM, trainable=False)
    dataset = frame_data.fillings(frame_records.stream(lambda: made, 2), front, 4)
    (rows,) = dataset.as_numpy_iterator()
    expected = [TRANSFORM.propagate(utterance.feats) for utterance in utterances()]
    np.testing.assert_allclose(rows["inputs"], np.concatenate(expected), rtol=1e-6)
    assert dataset.element_spec["inputs"].shape == (None, 6)


def test_no_transform_passes_the_features_on():
    assert frame_data.rows_function([]) is None
    made = list(blocks(utterances(), 4, 4))
    dataset = frame_data.fillings(frame_records.stream(lambda: made, 2), [], 4)
    rows = np.concatenate([rows["inputs"] for rows in dataset.as_numpy_iterator()])
    np.testing.assert_array_equal(
        rows, np.concatenate([utterance.feats for utterance in utterances()])
    )


def test_order_and_tail_are_passed_on():
    made = list(blocks(utterances(), 100, 4))

    def reverse(number, frames):
        return tf.range(frames - 1, -1, -1)

    dataset = frame_data.fillings(
        frame_records.stream(lambda: made, 2), [], 4, reverse, drop_tail=True
    )
    (rows,) = dataset.as_numpy_iterator()
    assert rows["ids"][:, 0].tolist() == [6, 5, 4, 3, 2, 1, 0, 0, 4, 3, 2, 1]


def test_a_transform_that_averages_utterances_is_told_of():
    """A block holds many of them, and would be taken for one."""
    front = Nnet([components.SimpleSentenceAveraging(2, 2)])
    made = keras_layers.to_layers(front, "transform_", trainable=False)
    blocks_of = frame_records.stream(lambda: list(blocks(utterances(), 100, 4)), 2)
    with pytest.raises(InputError, match="^feature transform: transform_1_simple"):
        frame_data.fillings(blocks_of, made, 4)
