"""MaskedEmbedding: zeros for id 0, gradients by rows."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import MaskedEmbedding, RowSGD, SeqLSTM

IDS = np.array([[0, 3, 1], [3, 3, 0]])


def test_id_0_gives_zeros_and_never_learns():
    layer = MaskedEmbedding(4, 2, uniform=0.5, seed=1)
    outputs = layer(IDS)
    start = layer.embeddings.value.numpy()
    assert start.shape == (5, 2) and not start[0].any() and start[1:].all()
    np.testing.assert_array_equal(outputs, start[IDS])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(IDS))
    gradient = tape.gradient(loss, layer.embeddings.value)
    assert isinstance(gradient, tf.IndexedSlices)
    dense = tf.convert_to_tensor(gradient).numpy()
    np.testing.assert_array_equal(dense, [[0] * 2, [1] * 2, [0] * 2, [3] * 2, [0] * 2])
    for options in ({}, {"momentum": 0.9, "tables": "momentum"}, {"tables": "adagrad"}):
        optimizer = RowSGD(0.5, **options)
        for _ in range(2):
            optimizer.apply([gradient], [layer.embeddings])
        assert not layer.embeddings.value[0].numpy().any()
    # Whatever the row holds.
    layer.embeddings.assign(np.full([5, 2], np.nan))
    assert not layer(IDS)[0, 0].numpy().any()


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_a_model_is_saved_and_masks_what_follows(policy, tmp_path):
    ids = keras.Input((None,), dtype="int32")
    embedding = MaskedEmbedding(4, 2, seed=1, dtype=policy)
    lstm = SeqLSTM(3, uniform=0.5, seed=1, dtype=policy)
    model = keras.Model(ids, lstm(embedding(ids)))
    assert model.output.shape == (None, None, 3)
    outputs = tf.cast(model(IDS), tf.float32).numpy()
    assert not outputs[IDS == 0].any() and outputs[IDS != 0].all()
    np.testing.assert_array_equal(embedding.compute_mask(IDS), IDS != 0)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(tf.cast(again(IDS), tf.float32), outputs)
    assert embedding.embeddings.dtype == "float32"


def test_what_is_refused():
    with pytest.raises(ValueError, match="words must be at least 1, not 0"):
        MaskedEmbedding(0, 2)
    with pytest.raises(ValueError, match="dim must be at least 1, not 0"):
        MaskedEmbedding(2, 0)
    with pytest.raises(ValueError, match="uniform is -1, below 0"):
        MaskedEmbedding(2, 2, uniform=-1)
    with pytest.raises(ValueError, match="ids are float32; word ids"):
        MaskedEmbedding(2, 2)(np.zeros([1, 1], "float32"))
