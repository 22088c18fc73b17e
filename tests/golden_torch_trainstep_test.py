"""Whole training steps of the language model script, over several updates."""

import dataclasses
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.layers.alias_sampler import alias_table
from seqzoo.zoo import registry
from seqzoo.zoo.checkpoints.torch_modules import LookupTable, Nce, SeqLstm
from seqzoo.zoo.language import torch_weights

_TORCH = pathlib.Path(__file__).parent / "goldens" / "torch"


def _paths():
    return [
        pytest.param(path, id=path.stem)
        for path in sorted(_TORCH.glob("trainstep_*.npz"))
    ]


def _number(case, name, default):
    return float(case[name][0]) if name in case else default


def _layers(case, k, share):
    """The layers of a case, as Torch has them."""
    count = 1
    while f"init_param{count + 1}" in case:
        count += 1
    table, *lstms, weight, bias = [case[f"init_param{i + 1}"] for i in range(count)]
    return [
        # Row 0, of the separator, is emptied by Torch whenever it looks words up.
        LookupTable(weight=table[1:], mask_zero=True),
        *(
            SeqLstm(weight=w, bias=b, projection=None, mask_zero=True)
            for w, b in zip(lstms[::2], lstms[1::2], strict=True)
        ),
        Nce(
            weight=weight,
            bias=bias,
            unigrams=case["noise_prob"],
            k=k,
            z=_number(case, "Z_arg", 1.0),
            batch_noise=share == "step",
        ),
    ]


@pytest.fixture
def double():
    """Keras computes in double precision, as the scripts do on a CPU."""
    floatx, policy = keras.config.floatx(), keras.config.dtype_policy()
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    yield
    keras.config.set_floatx(floatx)
    keras.config.set_dtype_policy(policy)


def _model(case, k, share):
    found = _layers(case, k, share)
    name, config = torch_weights.config(found, {})
    model = registry.build(name, dataclasses.replace(config, eps=1e-7))
    torch_weights.set_weights(model, found)
    model.set_counts(case["noise_prob"])
    return model


def _as_torch(values):
    """Values by weight of the model in the order and the shapes of Torch's."""
    values = iter([tf.convert_to_tensor(value).numpy() for value in values])
    table = next(values)
    *lstms, weight, bias = values
    found = [table]
    for of_x, of_h, of_bias in zip(*[iter(lstms)] * 3, strict=True):
        rows = np.concatenate([of_x, of_h], 1).T
        for one in (rows, of_bias):
            i, f, c, o = np.split(one, 4, axis=-1)
            found.append(np.concatenate([i, f, o, c], axis=-1))
    return [*found, weight, bias]


@pytest.mark.parametrize("path", _paths())
def test_golden_torch_trainstep(path, double):
    case = dict(np.load(path))
    first = case["s1_sampleidx1"]
    batch = case["s1_inputs"].shape[1]
    share = "row" if first.ndim == 2 else "step"
    k = first.shape[-1] - (1 if share == "row" else batch)
    model = _model(case, k, share)
    weights = model.trainable_weights
    assert {weight.dtype for weight in weights} == {"float64"}
    momentum = _number(case, "momentum", -1.0)
    optimizer = layers.RowSGD(
        _number(case, "lr", 0.05),
        momentum,
        _number(case, "cutoff", -1.0),
        tables="dense_momentum" if momentum > 0 else "sgd",
    )
    optimizer.build(weights)
    table = alias_table(case["noise_prob"])
    random = np.random.RandomState(int(case["train_seed"][0]))
    state = model.zero_state(batch)

    step = 1
    while f"s{step}_inputs" in case:
        s = f"s{step}_"
        words = case[s + "inputs"]
        targets = np.where(words > 0, case[s + "targets"], 0)
        sampled = [case[f"{s}sampleidx{t}"] for t in range(1, len(words) + 1)]
        noise = np.stack([ids[:, 1:] if share == "row" else ids[:k] for ids in sampled])
        for drawn in noise:
            np.testing.assert_array_equal(table.draw(random, drawn.shape) + 1, drawn)
        if s + "h2" in case:
            _close(model.run(words, state)[0], case[s + "h2"])
        with tf.GradientTape() as tape:
            losses, state = model.word_losses(words, targets, state, True, noise)
            loss = layers.sum_of_step_means(losses, targets > 0, time_axis=0)
        _close(loss, case[s + "loss"][0])
        _close(model.output_layer.z.value, case[s + "Z"][0])
        gradients = tape.gradient(loss, [weight.value for weight in weights])
        for i, gradient in enumerate(_as_torch(gradients), 1):
            _close(gradient, case[f"{s}grad{i}"])
        optimizer.apply(gradients, weights)
        if optimizer.norm is not None:
            _close(optimizer.norm, case[s + "gradnorm"][0])
        for i, value in enumerate(_as_torch(weights), 1):
            _close(value, case[f"{s}param{i}"])
        if momentum > 0:
            for i, value in enumerate(_as_torch(optimizer.slots), 1):
                _close(value, case[f"{s}mom{i}"])
        assert not model.embedding.embeddings.value[0].numpy().any()
        step += 1
    assert step > 1
    if "eval_logprobs" in case:
        _evaluate(case, model)


def _evaluate(case, model):
    """The whole set once, a sentence after another, with state reset between them."""
    rows = [case[name] for name in sorted(case, key=_place) if _place(name) > 0]
    words = np.concatenate([np.append([0], row[:-1]) for row in rows])[:, None]
    targets = np.concatenate([np.append([0], row[1:]) for row in rows])[:, None]
    found, _ = model.log_probs(words, targets, model.zero_state(1))
    found = found.numpy()[words > 0]
    assert len(found) == case["eval_count"][0]
    _close(found, case["eval_logprobs"])
    _close(np.exp(-found.mean()), case["eval_ppl"][0])


def _place(name):
    return int(name[3:]) if name.startswith("seq") else 0


def _close(found, expected):
    found = np.asarray(found)
    expected = np.asarray(expected).reshape(found.shape)
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6 * np.abs(expected).max())
