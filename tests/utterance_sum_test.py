import numpy as np
import tensorflow as tf

from seqzoo.layers import utterance_sum

X = tf.constant([[[1.0, 2], [3, 4]], [[5, 6], [np.nan, np.inf]]])


def test_all_frames():
    sums, count = utterance_sum(X[:1])
    assert sums.numpy().tolist() == [[[4, 6]]] and count.numpy().tolist() == [[2]]
    sums, count = utterance_sum(X[0])
    assert sums.numpy().tolist() == [[4, 6]] and count.numpy().tolist() == [[2]]


def test_real_frames():
    mask = tf.constant([[True, True], [True, False]])
    sums, count = utterance_sum(X, mask)
    assert sums.numpy().tolist() == [[[4, 6]], [[5, 6]]]
    assert count.numpy().tolist() == [[[2]], [[1]]]
    sums, count = utterance_sum(X[1], mask[1])
    assert sums.numpy().tolist() == [[5, 6]] and count.numpy().tolist() == [[1]]
