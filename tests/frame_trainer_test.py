"""FrameTrainer: steps against NumPy, traces, bfloat16, and a problem that is learnt."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.zoo.checkpoints import keras_layers, nnet_proto
from seqzoo.zoo.training import frame_trainer
from seqzoo.zoo.training.frame_trainer import FrameTrainer, use_bfloat16

PROTO = """
<AffineTransform> <InputDim> 4 <OutputDim> 8 <BiasMean> 0 <BiasRange> 1 <ParamStddev> 1
<Sigmoid> <InputDim> 8 <OutputDim> 8
<AffineTransform> <InputDim> 8 <OutputDim> 3 <BiasMean> 0 <BiasRange> 0 <ParamStddev> 1
"""
SOFTMAX = "<Softmax> <InputDim> 3 <OutputDim> 3\n"


def make_net(proto=PROTO + SOFTMAX):
    return keras_layers.to_layers(nnet_proto.initialize(proto, 1))


def make_rows(frames, seed=0, pairs=1, noise=0.5):
    """Frames of three classes around three points, as a filling."""
    random = np.random.default_rng(seed)
    ids = random.integers(0, 3, (frames, pairs)).astype(np.int32)
    centres = 2 * np.eye(3, 4)
    inputs = centres[ids[:, 0]] + noise * random.normal(size=(frames, 4))
    return {
        "inputs": inputs.astype(np.float32),
        "ids": ids,
        "values": np.full((frames, pairs), 1 / pairs, np.float32),
        "weights": np.ones(frames, np.float32),
    }


def fillings(*rows) -> tf.data.Dataset:
    made = tf.data.Dataset.from_tensors(rows[0])
    for more in rows[1:]:
        made = made.concatenate(tf.data.Dataset.from_tensors(more))
    return made


def values(net):
    return [w.value.numpy() for layer in net for w in layer.weights]


def trainer_of(net, objective="xent", rate=0.05, minibatch_size=16, **kwargs):
    return FrameTrainer(net, objective, layers.KaldiSGD(rate, **kwargs), minibatch_size)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def numpy_epoch(weights, rows, objective, rate, minibatch_size):
    """Plain SGD on summed gradients, in float64; weights and summed loss."""
    w1, b1, w2, b2 = (w.astype(np.float64) for w in weights)
    total = 0.0
    for start in range(0, len(rows["weights"]), minibatch_size):
        part = slice(start, start + minibatch_size)
        x, w = rows["inputs"][part].astype(np.float64), rows["weights"][part]
        target = np.zeros((len(x), 3))
        for column in range(rows["ids"].shape[1]):
            at = np.arange(len(x)), rows["ids"][part, column]
            target[at] += rows["values"][part, column]
        h = sigmoid(x @ w1.T + b1)
        y = h @ w2.T + b2
        if objective == "xent":
            y = np.exp(y) / np.exp(y).sum(1, keepdims=True)
            total -= np.sum(w[:, None] * target * np.log(y))
        else:
            total += 0.5 * np.sum((w[:, None] * (y - target)) ** 2 * w[:, None])
        d = (y - target) * w[:, None]
        dh = (d @ w2) * h * (1 - h)
        w2, b2 = w2 - rate * d.T @ h, b2 - rate * d.sum(0)
        w1, b1 = w1 - rate * dh.T @ x, b1 - rate * dh.sum(0)
    return [w1, b1, w2, b2], total


@pytest.mark.parametrize("objective", ["xent", "mse"])
def test_an_epoch_against_numpy(objective):
    net = make_net(PROTO + SOFTMAX if objective == "xent" else PROTO)
    rows = make_rows(50)  # Three minibatches and a part of one.
    rows["weights"] = np.random.default_rng(2).uniform(0.5, 1.5, 50).astype("float32")
    weights, total = numpy_epoch(values(net), rows, objective, 0.05, 16)
    sums = trainer_of(net, objective).train(fillings(rows))
    for found, expected in zip(values(net), weights, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sums.sums[0], total, rtol=1e-5)
    assert sums.minibatches == 4
    if objective == "xent":
        np.testing.assert_allclose(sums.frames, rows["weights"].sum(), rtol=1e-6)
        np.testing.assert_allclose(sums.per_class.sum(axis=1), sums.sums, rtol=1e-6)


def test_penalties_count_the_frames_of_a_part_of_a_minibatch():
    # All weight 0 but for the frames' number: only L2 moves the kernels.
    net = make_net()
    rows = make_rows(20)
    rows["weights"] = np.zeros(20, np.float32)
    before = values(net)
    trainer_of(net, rate=0.1, l2_penalty=0.01).train(fillings(rows))
    shrink = (1 - 0.1 * 0.01 * 16) * (1 - 0.1 * 0.01 * 4)
    after = values(net)
    np.testing.assert_allclose(after[0], shrink * before[0], rtol=1e-5)
    np.testing.assert_array_equal(after[1], before[1])


def test_scoring_changes_no_weight_and_counts_right_frames():
    net = make_net()
    trainer = trainer_of(net)
    before = values(net)
    rows = make_rows(40)
    sums = trainer.evaluate(fillings(rows))
    for a, b in zip(values(net), before, strict=True):
        np.testing.assert_array_equal(a, b)
    outputs = keras_layers.to_nnet(net).propagate(rows["inputs"])
    right = outputs.argmax(1) == rows["ids"][:, 0]
    assert sums.accuracy == pytest.approx(right.mean())
    loss = -np.log(outputs[np.arange(40), rows["ids"][:, 0]])
    assert sums.loss == pytest.approx(loss.mean(), rel=1e-5)
    assert sums.frames == 40


def test_dropout_is_on_in_training_alone():
    proto = PROTO.replace(
        "<Sigmoid>", "<Dropout> <InputDim> 8 <OutputDim> 8 <DropoutRate> 0.5\n<Sigmoid>"
    )
    net = make_net(proto + SOFTMAX)
    trainer = trainer_of(net)
    rows = tf.constant(make_rows(30)["inputs"])
    quiet = [trainer.forward(rows, training=False)[-1] for _ in range(2)]
    np.testing.assert_array_equal(*quiet)
    loud = [trainer.forward(rows, training=True)[-1].numpy() for _ in range(2)]
    assert (loud[0] != loud[1]).any()
    # Nothing is learnt at a rate of 0, so the loss differs by what is dropped.
    still = trainer_of(net, rate=0.0)
    filling = fillings(make_rows(32))
    scored = [still.evaluate(filling).loss for _ in range(2)]
    assert scored[0] == scored[1] != still.train(filling).loss


def test_dropout_by_seed_and_epoch_in_nested_networks_too():
    """Each layer has numbers of its own, also where two stand at the same place."""
    branches = [[layers.Dropout(0.5)], [layers.Dropout(0.5)]]
    both = layers.Parallel(branches, [32, 32])
    both.dims = (64, 64)
    both.build((None, 64))
    trainer = FrameTrainer([both], "mse", layers.KaldiSGD())

    def kept(seed, epoch):
        trainer.seed_dropout(seed, epoch)
        return both(tf.ones([20, 64]), training=True).numpy() > 0

    first = kept(1, 1)
    assert (first[:, :32] != first[:, 32:]).any()
    np.testing.assert_array_equal(kept(1, 1), first)
    assert (kept(1, 2) != first).any() and (kept(2, 1) != first).any()


def test_no_retracing_for_other_fillings():
    net = make_net()
    trainer = trainer_of(net)
    for frames, pairs in ((48, 1), (30, 2), (5, 1), (16, 3)):
        trainer.train(fillings(make_rows(frames, pairs=pairs)))
    learnt = trainer.traces
    for frames, pairs in ((64, 1), (17, 2), (100, 1)):
        trainer.train(fillings(make_rows(frames, pairs=pairs), make_rows(3)))
        trainer.evaluate(fillings(make_rows(frames, pairs=pairs)))
    # The first shape, then one trace for all; the same for scoring.
    assert learnt <= 2
    assert trainer.traces <= 4


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_any_number_of_minibatches_in_a_call_is_the_same(monkeypatch, seconds):
    calls = []

    def run(seconds_a_call):
        monkeypatch.setattr(frame_trainer, "_SECONDS_A_CALL", seconds_a_call)
        net = make_net()
        calls.clear()
        made = [make_rows(frames, seed) for seed, frames in enumerate((48, 32, 80, 23))]
        sums = trainer_of(net, momentum=0.5).train(
            fillings(*made), lambda sums: calls.append(sums.minibatches)
        )
        return values(net), sums

    reference, expected = run(0.0)
    assert calls == list(range(1, 13))
    found, sums = run(seconds)
    # One, two, then twice as many each time, but no further than its filling.
    assert calls == (list(range(1, 13)) if not seconds else [1, 3, 5, 10, 12])
    for a, b in zip(found, reference, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(sums.sums, expected.sums)
    np.testing.assert_allclose(sums.per_class, expected.per_class)


@pytest.mark.parametrize("frames", [(48, 20), (20,), (16,)])
def test_edges_see_the_weights_before_their_minibatch(frames):
    net, plain = make_net(), make_net()
    made = [make_rows(n, seed) for seed, n in enumerate(frames)]
    seen = []

    def on_edge(edge, batch):
        seen.append((edge, len(batch["weights"]), values(net)))
        rows = made[0] if edge == "first" else made[-1]
        whole = (len(rows["weights"]) - 1) // 16 * 16
        start = 0 if edge == "first" else whole
        np.testing.assert_array_equal(
            batch["inputs"], rows["inputs"][start : start + 16]
        )

    start = values(net)
    trainer_of(net).train(fillings(*made), on_edge=on_edge)
    trainer_of(plain).train(fillings(*made))
    for a, b in zip(values(net), values(plain), strict=True):
        np.testing.assert_array_equal(a, b)
    (first, _, at_first), (last, _, at_last) = seen
    assert (first, last) == ("first", "last")
    for a, b in zip(at_first, start, strict=True):
        np.testing.assert_array_equal(a, b)
    assert all((a != b).any() for a, b in zip(at_last, values(net), strict=True))


def test_no_minibatches():
    trainer = trainer_of(make_net())
    empty = fillings(make_rows(4)).take(0)
    for sums in (trainer.train(empty), trainer.evaluate(empty)):
        assert (sums.minibatches, sums.frames) == (0, 0)
        assert sums.per_class.shape == (4, 3)


def test_three_classes_are_learnt():
    net = make_net()
    trainer = trainer_of(net, rate=0.02)
    losses = []
    for epoch in range(4):
        trainer.train(fillings(make_rows(512, epoch)))
        scored = trainer.evaluate(fillings(make_rows(300, 99)))
        losses.append(scored.loss)
    assert losses == sorted(losses, reverse=True)
    assert scored.accuracy > 0.95


def test_a_frozen_layer_stays():
    proto = PROTO.replace("<ParamStddev>", "<LearnRateCoef> 0 <ParamStddev>", 1)
    net = make_net(proto + SOFTMAX)
    frozen, _, learning, _ = net
    before = [layer.linearity.value.numpy() for layer in (frozen, learning)]
    trainer_of(net).train(fillings(make_rows(32)))
    np.testing.assert_array_equal(frozen.linearity.value.numpy(), before[0])
    assert (learning.linearity.value.numpy() != before[1]).all()


def test_bfloat16_stays_close_with_weights_in_float32():
    wide = PROTO.replace("> 8", "> 64") + SOFTMAX
    losses = []
    for bfloat16 in (False, True):
        net = make_net(wide)
        if bfloat16:
            use_bfloat16(net)
        trainer = trainer_of(net, rate=0.01)
        losses.append(
            [trainer.train(fillings(make_rows(256, n, noise=1))).loss for n in range(3)]
        )
        assert all(value.dtype == np.float32 for value in values(net))
        output = trainer.forward(tf.constant(make_rows(4)["inputs"]), training=False)
        assert output[0].dtype == (tf.bfloat16 if bfloat16 else tf.float32)
        assert output[-1].dtype == tf.float32
        if bfloat16:
            kernels = [layer.linearity for layer in net if hasattr(layer, "linearity")]
            assert len(kernels) == 2
            for kernel in kernels:
                assert layers.source(kernel).dtype == tf.bfloat16
                np.testing.assert_array_equal(
                    layers.source(kernel).numpy().astype(np.float32),
                    tf.cast(kernel.value, tf.bfloat16).numpy().astype(np.float32),
                )
    assert losses[0] != losses[1]
    np.testing.assert_allclose(losses[1], losses[0], rtol=0.02)


def test_small_steps_are_not_lost_in_bfloat16():
    """Steps of less than a bfloat16 digit add up in the float32 weights."""
    net = make_net()
    use_bfloat16(net)
    kernel = next(layer.linearity for layer in net if isinstance(layer, layers.Affine))
    before = kernel.value.numpy()
    trainer_of(net, rate=1e-6).train(fillings(make_rows(160)))
    moved = np.abs(kernel.value.numpy() - before)
    assert (moved > 0).any() and moved.max() < np.abs(before).max() / 256


def test_xent_without_softmax():
    with pytest.raises(ValueError, match="ends in 3_affine.*, but .* needs <Softmax>"):
        trainer_of(make_net(PROTO))


def test_an_unknown_objective():
    with pytest.raises(ValueError, match="'ctc' is unknown; xent, mse and"):
        trainer_of(make_net(), objective="ctc")


def test_mse_of_a_softmax_goes_through_it():
    """Its gradient is that of the squared error, Softmax and all."""
    net = make_net()
    rows = make_rows(16)
    inputs = tf.constant(rows["inputs"])
    variables = [w.value for layer in net for w in layer.weights]
    with tf.GradientTape() as tape:
        x = inputs
        for layer in net:
            x = layer(x)
        target = tf.one_hot(rows["ids"][:, 0], 3)
        total = 0.5 * tf.reduce_sum((x - target) ** 2)
    gradients = tape.gradient(total, variables)
    before = values(net)
    trainer_of(net, "mse", rate=0.1).train(fillings(rows))
    for found, start, gradient in zip(values(net), before, gradients, strict=True):
        np.testing.assert_allclose(
            found, start - 0.1 * gradient.numpy(), rtol=1e-4, atol=1e-6
        )


def test_layers_of_keras_itself_are_trained():
    net = [keras.layers.Dense(3), keras.layers.Softmax()]
    net[0].build((None, 4))
    for layer in net:
        layer.dims = (4, 3)
    trainer = trainer_of(net)
    first = trainer.train(fillings(make_rows(160))).loss
    assert trainer.train(fillings(make_rows(160))).loss < first
