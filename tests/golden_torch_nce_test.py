"""NCE, module and criterion, equals dpnn's in every recorded mode."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.layers.alias_sampler import alias_table, word_probs

_TORCH = pathlib.Path(__file__).parent / "goldens" / "torch"


def _nce(case, dtype, k, **options):
    """An NCE layer with the weights of a case."""
    weight = case["weight"]
    z = float(case["Z_arg"][0]) if "Z_arg" in case else 1.0
    # The noise's probabilities do for its counts.
    nce = layers.NCE(
        len(weight), k, case["noise_prob"], z=z, eps=1e-7, dtype=dtype, **options
    )
    nce.build((None, weight.shape[1]))
    nce.linearity.assign(weight)
    nce.bias.assign(case["bias"])
    return nce


def _split(sampled, rows):
    """Torch's sampleidx -> noise from 0, and whether it is drawn by row."""
    if sampled.ndim == 2:
        return sampled[:, 1:] - 1, "row"
    return sampled[: len(sampled) - rows] - 1, "step"


def _dense(gradient):
    return tf.convert_to_tensor(gradient).numpy()


def _modes():
    return [
        pytest.param(path, id=path.stem)
        for path in sorted(_TORCH.glob("nce_*.npz"))
        if "b1_input" in np.load(path).files
    ]


def _masked():
    return [
        pytest.param(path, id=path.stem)
        for path in sorted(_TORCH.glob("nce_*.npz"))
        if "c1_input" in np.load(path).files
    ]


@pytest.mark.parametrize("path", _modes())
def test_golden_torch_nce(path):
    case = dict(np.load(path))
    dtype = case["weight"].dtype.name
    # The sampler keeps probabilities in single precision.
    rtol = 1e-6 if dtype == "float64" else 1e-5
    k = int(case["k"][0])
    first = case["b1_sampleidx"]
    _, share = _split(first, len(case["b1_target"]))
    nce = _nce(case, dtype, k, share=share)
    probs = word_probs(case["unigram_counts"], nce.words)
    np.testing.assert_allclose(probs, case["noise_prob"], 1e-6)
    table = alias_table(case["noise_prob"])

    def close(found, name):
        found = np.asarray(found)
        expected = case[name].reshape(found.shape)
        atol = rtol / 10 * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol, atol, err_msg=name)

    batch = 1
    while f"b{batch}_input" in case:
        b = f"b{batch}_"
        noise, _ = _split(case[b + "sampleidx"], len(case[b + "target"]))
        random = np.random.RandomState(int(case[b + "noise_seed"][0]))
        np.testing.assert_array_equal(table.draw(random, noise.shape), noise)
        hidden, targets = tf.constant(case[b + "input"]), case[b + "target"] - 1
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(hidden)
            losses = nce((hidden, tf.constant(targets)), noise=noise)
            mean = tf.reduce_mean(losses)
        close(tf.reduce_sum(losses), b + "loss_sum")
        close(mean, b + "loss_mean")
        close(nce.z.value, b + "Z")
        close(tape.gradient(mean, hidden), b + "gradInput")
        touched = tape.gradient(mean, nce.linearity.value)
        assert isinstance(touched, tf.IndexedSlices)
        close(_dense(touched), b + "gradWeight")
        close(_dense(tape.gradient(mean, nce.bias.value)), b + "gradBias")
        batch += 1
    assert batch > 1

    hidden, targets = case["eval_input"], tf.constant(case["eval_target"] - 1)
    close(nce(hidden), "eval_softmax")
    nce.logsoftmax = True
    close(nce(hidden), "eval_logsoftmax")
    nce.normalized = True
    close(tf.reduce_mean(nce((hidden, targets))), "eval_classnll_mean")


@pytest.mark.parametrize("path", _masked())
def test_golden_torch_nce_masked(path):
    case = dict(np.load(path))
    k = case["c1_Pms"].shape[1]
    dtype = case["weight"].dtype.name
    _, share = _split(case["c1_sampleidx"], len(case["c1_target"]))
    nce = _nce(case, dtype, k, share=share)
    call = 1
    while f"c{call}_input" in case:
        c = f"c{call}_"
        hidden, targets = tf.constant(case[c + "input"]), case[c + "target"] - 1
        mask = np.linalg.norm(case[c + "input"], axis=1) > 0
        noise, _ = _split(case[c + "sampleidx"], len(targets))
        with tf.GradientTape() as tape:
            tape.watch(hidden)
            losses = nce((hidden, tf.constant(targets), mask), noise=noise)
            # One time step of a batch.
            loss = layers.sum_of_step_means(losses[:, None], mask[:, None])
        gradients = tape.gradient(loss, [hidden, nce.linearity.value, nce.bias.value])
        np.testing.assert_allclose(loss, case[c + "loss"][0], 1e-6)
        names = ("gradInput", "gradWeight", "gradBias")
        for name, gradient in zip(names, gradients, strict=True):
            np.testing.assert_allclose(
                _dense(gradient), case[c + name], 1e-6, 1e-8, err_msg=c + name
            )
        call += 1
    assert call > 1
