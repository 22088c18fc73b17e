"""Whole training steps of the language model script, over several updates."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.layers.alias_sampler import alias_table

_TORCH = pathlib.Path(__file__).parent / "goldens" / "torch"


def _paths():
    return [
        pytest.param(path, id=path.stem)
        for path in sorted(_TORCH.glob("trainstep_*.npz"))
    ]


def _number(case, name, default):
    return float(case[name][0]) if name in case else default


def _lstm(inputs, weight, bias, state):
    """SeqLSTM with maskzero, from its formula: inputs (time, batch, dim)."""
    outputs, (h, c) = [], state
    for step in tf.unstack(inputs):
        i, f, o, g = tf.split(tf.concat([step, h], 1) @ weight + bias, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        real = tf.cast(tf.reduce_any(step != 0, axis=1, keepdims=True), h.dtype)
        h, c = h * real, c * real
        outputs.append(h)
    return tf.stack(outputs), (h, c)


class _Model:
    """Embedding, LSTMs and NCE of a case."""

    def __init__(self, case, k, share):
        count = 1
        while f"init_param{count + 1}" in case:
            count += 1
        values = [case[f"init_param{i}"] for i in range(1, count + 1)]
        # Torch empties row 0, of the separator, whenever it looks words up.
        values[0][0] = 0
        self.lookup = layers.mark_rows(_weight(values[0]))
        self.lstms = [_weight(value) for value in values[1:-2]]
        self.nce = layers.NCE(
            len(values[-1]),
            k,
            case["noise_prob"],
            z=_number(case, "Z_arg", 1.0),
            eps=1e-7,
            share=share,
            time_major=True,
            dtype="float64",
        )
        self.nce.build((None, values[-2].shape[1]))
        self.nce.linearity.assign(values[-2])
        self.nce.bias.assign(values[-1])
        self.params = [
            self.lookup,
            *self.lstms,
            self.nce.linearity,
            self.nce.bias,
        ]
        self.state = None

    def hidden(self, words):
        """Outputs of the last LSTM; state goes on from call to call."""
        x = tf.gather(self.lookup.value, words)
        pairs = list(zip(self.lstms[::2], self.lstms[1::2], strict=True))
        if self.state is None or self.state[0][0].shape[0] != words.shape[1]:
            cells = [bias.shape[0] // 4 for _, bias in pairs]
            empty = [tf.zeros((words.shape[1], n), x.dtype) for n in cells]
            self.state = [(zeros, zeros) for zeros in empty]
        after = []
        for (weight, bias), state in zip(pairs, self.state, strict=True):
            x, state = _lstm(x, weight.value, bias.value, state)
            after.append(tuple(tf.stop_gradient(part) for part in state))
        self.state = after
        return x


def _weight(value):
    layer = layers.Component()  # Any layer; it lends its way of making weights.
    weight = layer.add_weight(value.shape, dtype="float64")
    weight.assign(value)
    return weight


@pytest.mark.parametrize("path", _paths())
def test_golden_torch_trainstep(path):
    case = dict(np.load(path))
    first = case["s1_sampleidx1"]
    batch = case["s1_inputs"].shape[1]
    share = "row" if first.ndim == 2 else "step"
    k = first.shape[-1] - (1 if share == "row" else batch)
    model = _Model(case, k, share)
    momentum = _number(case, "momentum", -1.0)
    optimizer = layers.RowSGD(
        _number(case, "lr", 0.05),
        momentum,
        _number(case, "cutoff", -1.0),
        tables="dense_momentum" if momentum > 0 else "sgd",
    )
    optimizer.build(model.params)
    assert optimizer._rules[0] == optimizer.tables
    table = alias_table(case["noise_prob"])
    random = np.random.RandomState(int(case["train_seed"][0]))

    step = 1
    while f"s{step}_inputs" in case:
        s = f"s{step}_"
        words, targets = case[s + "inputs"], case[s + "targets"] - 1
        sampled = [case[f"{s}sampleidx{t}"] for t in range(1, len(words) + 1)]
        noise = np.stack([ids[:, 1:] if share == "row" else ids[:k] for ids in sampled])
        for drawn in noise:
            np.testing.assert_array_equal(table.draw(random, drawn.shape) + 1, drawn)
        with tf.GradientTape() as tape:
            hidden = model.hidden(tf.constant(words))
            mask = tf.constant(words > 0)
            losses = model.nce((hidden, tf.constant(targets), mask), noise=noise - 1)
            loss = layers.sum_of_step_means(losses, mask, time_axis=0)
        _close(loss, case[s + "loss"][0])
        if s + "h2" in case:
            _close(hidden, case[s + "h2"])
        _close(model.nce.z.value, case[s + "Z"][0])
        gradients = tape.gradient(loss, [weight.value for weight in model.params])
        for i, gradient in enumerate(gradients, 1):
            _close(tf.convert_to_tensor(gradient), case[f"{s}grad{i}"])
        optimizer.apply(gradients, model.params)
        for i, (weight, slot) in enumerate(
            zip(model.params, optimizer.slots, strict=True), 1
        ):
            _close(weight.value, case[f"{s}param{i}"])
            if slot is not None:
                _close(slot.value, case[f"{s}mom{i}"])
        step += 1
    assert step > 1
    if "eval_logprobs" in case:
        _evaluate(case, model)


def _evaluate(case, model):
    """The whole set once, a sentence after another, with state reset between them."""
    rows = [case[name] for name in sorted(case, key=_place) if _place(name) > 0]
    words = np.concatenate([np.append([0], row[:-1]) for row in rows])
    targets = np.concatenate([np.append([1], row[1:]) for row in rows]) - 1
    hidden = model.hidden(tf.constant(words[:, None]))
    model.nce.normalized = True
    losses = model.nce((hidden, tf.constant(targets[:, None]), words[:, None] > 0))
    found = -losses.numpy()[words > 0, 0]
    assert len(found) == case["eval_count"][0]
    _close(found, case["eval_logprobs"])
    _close(np.exp(-found.mean()), case["eval_ppl"][0])


def _place(name):
    return int(name[3:]) if name.startswith("seq") else 0


def _close(found, expected):
    found = np.asarray(found)
    expected = np.asarray(expected).reshape(found.shape)
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6 * np.abs(expected).max())
