"""RowSGD follows its formulas, by rows, in place."""

import pathlib
import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers

_STEPS = [
    # ids with repeats, and the dense gradient, of three steps.
    ([2, 0, 2, 5], 1.0),
    ([5, 5, 5, 1], -2.0),
    ([3, 2, 0, 0], 0.5),
]


def _start():
    rng = np.random.default_rng(3)
    table, dense = rng.normal(size=(6, 3)), rng.normal(size=(4,))
    grads = [
        (ids, rng.normal(size=(4, 3)), size * rng.normal(size=4))
        for ids, size in _STEPS
    ]
    return table, dense, grads


def _loop(rule, lr, m, cutoff):
    """The rules written out, number by number and row by row."""
    table, dense, grads = _start()
    v = np.zeros_like(table)
    a = np.full_like(table, 0.1)
    vd = np.zeros_like(dense)
    for step, (ids, rows, g) in enumerate(grads):
        merged = {}
        for i, row in zip(ids, rows, strict=True):
            merged[i] = merged.get(i, 0) + row
        norm = np.sqrt(sum((r**2).sum() for r in merged.values()) + (g**2).sum())
        cut = cutoff / norm if cutoff > 0 and norm > cutoff else 1.0
        share = 1.0 if step == 0 else 1 - m
        if m > 0:
            vd = m * vd + share * cut * g
            dense = dense - lr * vd
        else:
            dense = dense - lr * cut * g
        for i in range(6):
            row = merged.get(i)
            if rule == "dense_momentum":
                v[i] = m * v[i] + share * cut * (0 if row is None else row)
                table[i] -= lr * v[i]
            elif row is None:
                continue
            elif rule == "sgd":
                table[i] -= lr * cut * row
            elif rule == "momentum":
                v[i] = m * v[i] + share * cut * row
                table[i] -= lr * v[i]
            else:
                a[i] += (cut * row) ** 2
                table[i] -= lr * cut * row / (np.sqrt(a[i]) + 1e-7)
    return table, dense


def _weight(value, table=False, dtype="float64"):
    weight = layers.Component().add_weight(value.shape, dtype=dtype)
    weight.assign(value)
    return layers.mark_rows(weight) if table else weight


@pytest.mark.parametrize("cutoff", [-1.0, 1.5])
@pytest.mark.parametrize(
    "rule, m",
    [
        ("sgd", 0.0),
        ("sgd", 0.9),
        ("momentum", 0.9),
        ("dense_momentum", 0.9),
        ("adagrad", 0.0),
        ("adagrad", 0.9),
    ],
)
def test_it_equals_the_loop(rule, m, cutoff):
    table, dense, grads = _start()
    weights = [_weight(table, table=True), _weight(dense)]
    optimizer = layers.RowSGD(0.3, m, cutoff, rule)
    optimizer.build(weights)

    @tf.function
    def apply(ids, rows, g):
        slices = tf.IndexedSlices(rows, ids, tf.constant([6, 3]))
        optimizer.apply([slices, g], weights)

    for ids, rows, g in grads:
        apply(*(tf.constant(x) for x in (ids, rows, g)))
    for weight, expected in zip(weights, _loop(rule, 0.3, m, cutoff), strict=True):
        np.testing.assert_allclose(weight.value, expected, 1e-6, 1e-7)


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adagrad", "dense_momentum"])
def test_a_dense_gradient_of_a_table_is_taken(rule):
    value = np.array([[1.0, 2.0]])
    weight = _weight(value, table=True)
    optimizer = layers.RowSGD(0.5, 0.9, tables=rule, cutoff=1.0)
    optimizer.apply([tf.constant([[3.0, 4.0]], tf.float64)], [weight])
    g = np.array([[0.6, 0.8]])
    step = g / np.sqrt(0.1 + g**2) if rule == "adagrad" else g
    np.testing.assert_allclose(weight.value, value - 0.5 * step, 1e-6)


def test_rows_of_a_weight_that_is_no_table_follow_torchs_momentum():
    weight = _weight(np.zeros((3, 1)))
    optimizer = layers.RowSGD(1.0, 0.5)
    for ids in ([0, 0], [2, 2]):
        rows = tf.ones((2, 1), tf.float64)
        slices = tf.IndexedSlices(rows, tf.constant(ids), tf.constant([3, 1]))
        optimizer.apply([slices], [weight])
    # Row 0: v = 2, then 1; row 2: v = 0.5 * 2.
    np.testing.assert_allclose(weight.value[:, 0], [-3, 0, -1])


def test_a_norm_of_20_is_halved_by_a_cutoff_of_10():
    table, dense = _weight(np.zeros((9, 2)), table=True), _weight(np.zeros(1))
    rows = tf.constant([[3.0, 0], [9.0, 0]], tf.float64)  # One row, 12.
    slices = tf.IndexedSlices(rows, tf.constant([4, 4]), tf.constant([9, 2]))
    optimizer = layers.RowSGD(1.0, cutoff=10.0)
    optimizer.apply([slices, tf.constant([16.0], tf.float64)], [table, dense])
    np.testing.assert_allclose(table.value[4], [-6, 0], 1e-6)
    np.testing.assert_allclose(dense.value, [-8], 1e-6)


def _memory(field):
    status = pathlib.Path("/proc/self/status").read_text("ascii")
    return int(re.search(rf"{field}:\s+(\d+)", status)[1]) / 1024


@pytest.mark.skipif(
    not pathlib.Path("/proc/self/clear_refs").exists(), reason="needs Linux"
)
@pytest.mark.parametrize("rule", ["sgd", "momentum", "adagrad", "dense_momentum"])
def test_tables_are_changed_in_place(rule):
    nce = layers.NCE(400_000, 10, dtype="float32")
    nce.build((None, 125))  # 200 MB.
    optimizer = layers.RowSGD(1.0, 0.9, 10.0, rule)
    weights = [nce.linearity, nce.bias]
    optimizer.build(weights)
    hidden = tf.ones((8, 125))
    targets = tf.range(8)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(nce((hidden, targets)))
        variables = [weight.value for weight in weights]
        optimizer.apply(tape.gradient(loss, variables), weights)
        return loss

    first = step()
    pathlib.Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = _memory("VmRSS")
    for _ in range(3):
        last = step()
    log_probs = nce.log_probs(hidden, targets)
    # Torch's momentum takes pieces of 65,536 rows, 33 MB.
    assert _memory("VmHWM") - before < 150
    assert last < first
    assert np.isfinite(log_probs).all()


def test_it_trains_under_fit_as_in_a_loop_of_ones_own():
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 30, (64, 1))
    classes = ids[:, 0] % 3

    def make():
        keras.utils.set_random_seed(5)
        return keras.Sequential(
            [
                keras.Input((1,), dtype="int32"),
                keras.layers.Embedding(30, 4),
                keras.layers.Flatten(),
                keras.layers.Dense(3),
            ]
        )

    cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    fitted, looped = make(), make()
    fitted.compile(layers.RowSGD(0.5, 0.9, 1.0, "adagrad"), cross_entropy)
    fitted.fit(ids, classes, batch_size=16, epochs=3, shuffle=False, verbose=0)
    assert fitted.optimizer._rules == ["adagrad", "dense_momentum", "dense_momentum"]
    optimizer = layers.RowSGD(0.5, 0.9, 1.0, "adagrad")
    for _ in range(3):
        for i in range(0, 64, 16):
            with tf.GradientTape() as tape:
                loss = cross_entropy(classes[i : i + 16], looped(ids[i : i + 16]))
            variables = looped.trainable_variables
            gradients = tape.gradient(loss, variables)
            assert isinstance(gradients[0], tf.IndexedSlices)
            optimizer.apply(gradients, variables)
    for one, other in zip(fitted.weights, looped.weights, strict=True):
        np.testing.assert_allclose(one.value, other.value, 1e-5, 1e-6)


def test_its_state_is_saved(tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(layers.RowSGD(0.1, 0.9, 2.0, "momentum"), "mse")
    model.fit(np.ones((4, 2)), np.zeros(4), verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras").optimizer
    assert again.get_config() == model.optimizer.get_config()
    for one, other in zip(again.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(one.value, other.value)


def test_without_momentum_there_is_no_slot():
    optimizer = layers.RowSGD(0.1)
    optimizer.build([_weight(np.zeros(3)), _weight(np.zeros((2, 2)), table=True)])
    assert optimizer.slots == [None, None]


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(momentum=1.0), "momentum is 1.0; below 1"),
        (dict(tables="adam"), "tables is 'adam'; one of sgd, momentum"),
        (dict(tables="momentum"), "give momentum, or tables='sgd'"),
        (dict(tables="adagrad", epsilon=0.0), "epsilon 0.0"),
        (dict(global_clipnorm=1.0), "global_clipnorm is not taken; give cutoff"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        layers.RowSGD(**options)
