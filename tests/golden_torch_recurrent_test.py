"""SeqLSTM and its kin, and the lookup table, equal Torch's over remembered calls."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import MaskedEmbedding, Remember, RowSGD, SeqGRU, SeqLSTM

_TORCH = pathlib.Path(__file__).parent / "goldens" / "torch"


def _cases(*patterns):
    paths = sorted(path for pattern in patterns for path in _TORCH.glob(pattern))
    return [pytest.param(path, id=path.stem) for path in paths]


def _stacked(columns, order):
    """Torch's blocks of columns -> our rows: (n, gates * m) -> (gates * m, n)."""
    blocks = np.split(columns, len(order), axis=-1)
    return np.concatenate([blocks[i] for i in order], axis=-1).T


class _Layer:
    """A layer with a case's weights, time first; gradients in Torch's layout."""

    def __init__(self, case, name, dtype, bias="bias", **options):
        self.name, self.dtype = name, dtype
        options = {"time_major": True, "dtype": dtype, **options}
        weight = case["weight"]
        if "gru" in name:
            # Torch's r, z, n and i, f, o, c.
            self.order, cells = [1, 0, 2], len(case[bias]) // 3
            self.layer = SeqGRU(cells, **options)
        else:
            self.order, cells = [0, 1, 3, 2], len(case[bias]) // 4
            if "weightO" in case:
                units = case["weightO"].shape[1]
                self.layer = SeqLSTM(units, cells, **options)
            else:
                self.layer = SeqLSTM(cells, **options)
        self.dim = len(weight) - self.layer.units
        self.layer.build((None, None, self.dim))
        self.layer.set_weights(self.ours(case))

    def ours(self, case, prefix="", names=("weight", "bias", "weightO")):
        weight, bias, projection = (case.get(prefix + name) for name in names)
        parts = weight[: self.dim], weight[self.dim :], bias
        parts = [_stacked(part, self.order) for part in parts]
        return [*parts, projection.T] if projection is not None else parts

    def mask(self, x):
        return (x != 0).any(-1)


def _close(found, expected, rtol, name):
    atol = rtol * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol, atol, err_msg=name)


# Forward and gradients, of both ways that there are of going back through time.
@pytest.mark.parametrize(
    ("dtype", "rtol", "grad_rtol"), [("float64", 1e-9, 1e-9), ("float32", 1e-5, 1e-4)]
)
@pytest.mark.parametrize("path", _cases("seqlstm*.npz", "seqgru*.npz"))
def test_golden_torch_recurrent(path, dtype, rtol, grad_rtol):
    case = dict(np.load(path))
    made = _Layer(case, path.stem, dtype, through_state=True)
    layer = made.layer
    # Goldens name training calls r1, r2, ..., evaluating ones e1, e2, ..., one after
    # forget() f; others are from zeros or from the state given.
    calls = [key[:-1] for key in case if key == "x" or key.endswith("_x")]
    calls = [prefix for prefix in calls if prefix + "y" in case]
    for prefix in ("h0_", "c0h0_"):
        if prefix + "y" in case:
            calls.append(prefix)
    assert calls
    remembered = Remember(layer, "both")
    for prefix in calls:
        x = case.get(prefix + "x", case.get("x")).astype(dtype)
        given = [name for name in ("h0", "c0") if name in prefix]
        mask = made.mask(x)
        training = not prefix.startswith(("e", "f"))
        if prefix.startswith("f"):
            remembered.forget()
        state = layer.zero_state(x.shape[1])
        if prefix.startswith(("r", "e")):
            if training == remembered._training and remembered.state is not None:
                state = remembered.state
            if prefix + "h0" in case:
                _close(state[0], case[prefix + "h0"], rtol, prefix + "h0")
            if prefix + "c0" in case:
                _close(state[1], case[prefix + "c0"], rtol, prefix + "c0")
        for place, name in enumerate(("h0", "c0")):
            if name in given:
                part = tf.constant(case[name], dtype)
                state = tuple(part if i == place else s for i, s in enumerate(state))
        x = tf.constant(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, *state])
            outputs, after = layer.run(x, state, mask)
        _close(outputs, case[prefix + "y"], rtol, prefix + "y")
        if prefix + "cell" in case:
            _close(after[1], case[prefix + "cell"][-1], rtol, prefix + "cell")
        if prefix.startswith(("r", "e", "f")):
            again = remembered(x, mask, training=training)
            np.testing.assert_array_equal(again.numpy(), outputs.numpy())
        if prefix + "gradWeight" not in case:
            continue
        upstream = tf.constant(case.get(prefix + "gy", case.get("gy")), dtype)
        by_x = tape.gradient(outputs, x, upstream)
        _close(by_x, case[prefix + "gx"], grad_rtol, prefix + "gx")
        for part, name in zip(state, ("h0", "c0"), strict=False):
            if name in given:
                found = tape.gradient(outputs, part, upstream)
                expected = case[f"{prefix}g{name}"]
                _close(found, expected, grad_rtol, prefix + name)
        found = tape.gradient(outputs, [w.value for w in layer.weights], upstream)
        names = ("gradWeight", "gradBias", "gradWeightO")
        expected = made.ours(case, prefix, names)
        for ours, theirs, weight in zip(found, expected, layer.weights, strict=True):
            _close(ours, theirs, grad_rtol, prefix + weight.name)
    if "n_y" in case:
        x = case.get("n_x", case.get("f_x")).astype(dtype)
        fresh = Remember(layer, "neither")
        for _ in range(2):
            found = fresh(tf.constant(x), made.mask(x))
            _close(found, case["n_y"], rtol, "n_y")
    if "bf_y" in case:
        batch_first = _Layer(case, path.stem, dtype, time_major=False).layer
        x = case["x"].astype(dtype).swapaxes(0, 1)
        _close(batch_first(x), case["bf_y"], rtol, "bf_y")


@pytest.mark.parametrize("path", _cases("peephole_lstm*.npz"))
def test_golden_torch_peepholes(path):
    case = dict(np.load(path))
    units, dim = case["i_Wx"].shape
    layer = SeqLSTM(units, peepholes=True, time_major=True, dtype="float64")
    layer.build((None, None, dim))
    names = [[f"{gate}_{part}" for gate in "ifgo"] for part in ("Wx", "Wh", "b")]
    peepholes = [f"{gate}_peep" for gate in "ifo"]
    values = [np.concatenate([case[name] for name in group]) for group in names]
    layer.set_weights([*values, *(case[name] for name in peepholes)])
    x = tf.constant(case["x"])
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x)
    _close(outputs, case["y"], 1e-9, "y")
    weights = [weight.value for weight in layer.weights]
    by_x, *found = tape.gradient(outputs, [x, *weights], tf.constant(case["gy"]))
    _close(by_x, case["gx"], 1e-9, "gx")
    # Torch's gradients have no names of their own: those of the weights they are of.
    grads = {}
    for key in case:
        if key.startswith("param"):
            for name in [*sum(names, []), *peepholes]:
                if np.array_equal(case[name], case[key]):
                    grads[name] = case["grad" + key]
    expected = [np.concatenate([grads[name] for name in group]) for group in names]
    expected += [grads[name] for name in peepholes]
    for ours, theirs, weight in zip(found, expected, layer.weights, strict=True):
        _close(ours, theirs, 1e-9, weight.name)


@pytest.mark.parametrize("path", _cases("fastlstm*.npz"))
def test_golden_torch_fastlstm(path):
    case = dict(np.load(path))
    seq = {"weight": case["seq_weight"], "bias": case["seq_bias"]}
    layer = _Layer(seq, path.stem, "float64").layer
    _close(layer(case["x"]), case["seq_y"], 1e-9, "seq_y")
    # FastLSTM stacks rows i, g, f, o.
    order = [0, 2, 1, 3]
    names = "fast_i2g_weight", "fast_o2g_weight", "fast_i2g_bias"
    layer.set_weights([_stacked(case[name].T, order) for name in names])
    _close(layer(case["x"]), case["fast_y"], 1e-9, "fast_y")


@pytest.mark.parametrize("path", _cases("lookup_maskzero*.npz"))
def test_golden_torch_lookup(path):
    case = dict(np.load(path))
    ids = case["ids"]
    rows, dim = case["weight_init"].shape
    layer = MaskedEmbedding(rows - 1, dim, dtype="float64")
    layer.build(ids.shape)
    layer.embeddings.assign(case["weight_init"])
    with tf.GradientTape() as tape:
        outputs = layer(ids)
    _close(outputs, case["y"], 1e-12, "y")
    gradient = tape.gradient(outputs, layer.embeddings.value, tf.constant(case["gy"]))
    assert isinstance(gradient, tf.IndexedSlices)
    dense = tf.convert_to_tensor(gradient).numpy()
    # Torch gathers a gradient for row 0 and empties the row afterwards.
    _close(dense[1:], case["gradWeight"][1:], 1e-12, "gradWeight")
    assert not dense[0].any()
    RowSGD(0.1).apply([gradient], [layer.embeddings])
    updated = case["weight_after_update_lr0.1"]
    # The rate is a float32 number.
    _close(layer.embeddings.value[1:], updated[1:], 1e-7, "weight after")
    np.testing.assert_array_equal(layer.embeddings.value[0], case["weight_init"][0])
    _close(layer(ids), case["y_after_update"], 1e-7, "y_after_update")
