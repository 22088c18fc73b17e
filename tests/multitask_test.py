"""Several losses and block softmaxes: gradients and sums against NumPy and tapes."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.frame_blocks import target_pairs
from seqzoo.datasets.posterior import Posterior
from seqzoo.zoo.training import objective
from seqzoo.zoo.training.frame_objective import FrameObjective
from seqzoo.zoo.training.frame_trainer import FrameTrainer

RANDOM = np.random.default_rng(3)
LOGITS = RANDOM.normal(size=(5, 6)).astype(np.float32)
WEIGHTS = np.array([1.0, 0.5, 2.0, 1.0, 0.25], np.float32)
BLOCKS = [4, 2]
# In the first block, in the second, in both, in none, one of value 0 in the second.
FRAMES = [[(1, 1.0)], [(5, 1.0)], [(0, 0.5), (4, 1.0)], [], [(4, 0.0)]]
IDS, VALUES = target_pairs(Posterior.from_frames(FRAMES))
DENSE = Posterior.from_frames(FRAMES).to_dense(6).astype(np.float64)


def softmax(x):
    grown = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)


def blockwise(x, blocks=BLOCKS):
    ends = np.cumsum(blocks)[:-1]
    return np.concatenate([softmax(part) for part in np.split(x, ends, 1)], 1)


def ending(*parts, dims=(6, 6), net=()):
    """A network of one layer that changes nothing, and an end."""
    first = keras.layers.Activation("linear")
    first.dims = (6, 6)
    for layer in parts:
        layer.dims = dims
        layer.build((None, dims[0]))
    return [first, *parts]


def losses(net, text, logits=LOGITS, weights=WEIGHTS):
    form = FrameObjective(net, text)
    x = tf.constant(logits)
    for layer in form.body:
        x = layer(x, training=True)
    return form, form.loss(x, IDS, VALUES, weights)


def test_a_block_softmax_learns_in_the_blocks_of_the_targets_alone():
    _, found = losses(ending(layers.BlockSoftmax(BLOCKS)), "xent")
    diff = found.diff.numpy()
    w = WEIGHTS * DENSE.sum(1)
    y = blockwise(LOGITS)
    mass = np.repeat([DENSE[:, :4].sum(1), DENSE[:, 4:].sum(1)], BLOCKS, axis=0).T
    np.testing.assert_allclose(diff, w[:, None] * (mass * y - DENSE), atol=1e-6)
    assert not diff[0, 4:].any() and not diff[1, :4].any() and not diff[3:].any()
    loss = -np.sum(w[:, None] * DENSE * np.log(y))
    np.testing.assert_allclose(found.sums[0], loss, rtol=1e-5)


def test_its_gradient_is_that_of_the_summed_loss():
    logits = tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        y = layers.block_softmax(logits, BLOCKS)
        w = tf.constant(WEIGHTS * DENSE.sum(1).astype(np.float32))
        total = -tf.reduce_sum(w[:, None] * DENSE.astype("float32") * tf.math.log(y))
    found = layers.xent(LOGITS, IDS, VALUES, WEIGHTS, BLOCKS)
    np.testing.assert_allclose(found.diff, tape.gradient(total, logits), atol=1e-5)


def test_nnet1_lets_weighted_frames_into_other_blocks():
    net = ending(layers.BlockSoftmax(BLOCKS, kaldi_gradients=True))
    _, found = losses(net, "xent")
    expected = np.zeros((5, 6))
    y, w = blockwise(LOGITS), WEIGHTS * DENSE.sum(1)
    for frame in range(5):
        d = (y[frame] - DENSE[frame]) * w[frame]
        for block in (slice(0, 4), slice(4, 6)):
            expected[frame, block] = d[block] * (1 - d[block].sum())
    np.testing.assert_allclose(found.diff, expected, atol=1e-6)
    # Frame 1 has weight 0.5: half of what its weight leaves goes into block 0.
    np.testing.assert_allclose(found.diff[1, :4], 0.25 * y[1, :4], rtol=1e-5)
    assert np.abs(found.diff[0, 4:]).max() < 1e-6


def test_the_right_class_is_the_largest_of_all_blocks():
    # Block 1's logits are larger, but block 0 has the larger posterior.
    logits = np.array([[5, 0, 0, 0, 9, 9]], "float32")
    ids, values = target_pairs(Posterior.from_labels(np.array([0])))
    found = layers.xent(logits, ids, values, WEIGHTS[:1], BLOCKS)
    assert found.sums.numpy()[2] == 1


def numpy_multitask(outputs, parts):
    """diff and each loss's (loss, frames) by loops over frames and losses."""
    diff = np.zeros(outputs.shape)
    sums = []
    start = 0
    for loss, dim, weight in parts:
        inside = slice(start, start + dim)
        y, t = outputs[:, inside], DENSE[:, inside]
        if loss == "xent":
            y = softmax(y)
        total = frames = 0.0
        for frame, pairs in enumerate(FRAMES):
            seen = any(start <= i < start + dim for i, _ in pairs)
            w = WEIGHTS[frame] * seen
            if loss == "xent":
                w *= t[frame].sum()
                total -= np.sum(w * t[frame] * np.log(y[frame] + 1e-20))
                frames += np.sum(w * t[frame])
            else:
                total += 0.5 * w * np.sum((w * (y[frame] - t[frame])) ** 2)
                frames += w
            diff[frame, inside] = weight * w * (y[frame] - t[frame])
        sums.append((total, frames if loss == "xent" else int(frames)))
        start += dim
    return diff, sums


@pytest.mark.parametrize(
    "parts, ends",
    [
        ([("xent", 4, 1.0), ("xent", 2, 0.5)], layers.BlockSoftmax(BLOCKS)),
        ([("mse", 3, 0.1), ("mse", 3, 2.0)], None),
        ([("xent", 6, 0.5)], keras.layers.Softmax()),
    ],
)
def test_several_losses_against_loops(parts, ends):
    text = ",".join(["multitask", *[f"{n},{d},{w}" for n, d, w in parts]])
    form, found = losses(ending(*([ends] if ends else [])), text)
    diff, sums = numpy_multitask(LOGITS, parts)
    np.testing.assert_allclose(found.diff, diff, rtol=1e-4, atol=1e-6)
    assert found.sums.shape == form.sums_shape
    np.testing.assert_allclose(found.sums.numpy()[1:, 0], [s[0] for s in sums], 1e-5)
    np.testing.assert_allclose(found.sums.numpy()[1:, 3], [s[1] for s in sums], 1e-5)
    # Frame 3 has no target at all.
    np.testing.assert_allclose(found.sums.numpy()[0], [0, 0, 0, 1 + 0.5 + 2 + 0.25])


def parallel(kaldi_gradients=False):
    """A softmax over four numbers beside two that stay as they are."""
    softmax, linear = keras.layers.Softmax(), keras.layers.Activation("linear")
    softmax.dims, linear.dims = (4, 4), (2, 2)
    return layers.Parallel([[softmax], [linear]], [4, 2], kaldi_gradients)


def test_softmaxes_in_branches_belong_to_the_loss():
    text = "multitask,xent,4,1,mse,2,0.1"
    form, found = losses(ending(parallel()), text)
    diff, sums = numpy_multitask(LOGITS, [("xent", 4, 1), ("mse", 2, 0.1)])
    np.testing.assert_allclose(found.diff, diff, rtol=1e-4, atol=1e-6)
    account = form.sums(1000)
    account.add(found.sums.numpy()[np.newaxis], found.per_class.numpy())
    (first, frames), (second, others) = sums
    assert account.frames == 3.75
    assert account.tasks[0].loss == pytest.approx(
        (first - account.tasks[0].sums[1]) / frames, rel=1e-5
    )
    assert account.loss == pytest.approx(
        account.tasks[0].loss + 0.1 * second / others, rel=1e-5
    )
    assert account.accuracy == account.tasks[0].accuracy
    *_, last = account.report().splitlines()
    assert last.startswith("Loss (OVERALL), AvgLoss: ")
    assert "(MultiTaskLoss), weights 1 0.1 , values " in last


@pytest.mark.parametrize("ends", ["block", "parallel"])
def test_a_mean_square_error_of_posteriors_goes_through_their_softmax(ends):
    made = layers.BlockSoftmax(BLOCKS) if ends == "block" else parallel()
    logits = tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        y = made(logits)
        inside = np.array([[1, 1], [1, 1], [1, 1], [0, 0], [1, 1]], "float32")
        inside[[0, 4, 1], [1, 0, 0]] = 0  # Only frame 2 is in both ranges.
        w = np.repeat(inside * WEIGHTS[:, None], BLOCKS, axis=1)
        total = 0.5 * tf.reduce_sum(w * (y - DENSE.astype("float32")) ** 2)
    _, found = losses(ending(made), "multitask,mse,4,1,mse,2,1")
    np.testing.assert_allclose(found.diff, tape.gradient(total, logits), atol=1e-6)


def test_training_a_net_of_two_tasks_lowers_both_losses():
    affine = layers.Affine(6, bias_mean=0.0, seed=1)
    affine.dims = (3, 6)
    affine.build((None, 3))
    net = [affine, parallel()]
    net[1].dims = (6, 6)
    ids = RANDOM.integers(0, 4, (64, 1)).astype(np.int32)
    inputs = np.eye(4, 3)[ids[:, 0]] + 0.1 * RANDOM.normal(size=(64, 3))
    rows = {
        "inputs": inputs.astype(np.float32),
        "ids": np.concatenate([ids, np.full_like(ids, 4), np.full_like(ids, 5)], 1),
        "values": np.concatenate([np.ones((64, 1)), inputs[:, :2]], 1).astype(
            "float32"
        ),
        "weights": np.ones(64, np.float32),
    }
    trainer = FrameTrainer(
        net, "multitask,xent,4,1,mse,2,1", layers.KaldiSGD(0.02), minibatch_size=16
    )
    data = tf.data.Dataset.from_tensors(rows)
    scores = []
    for _ in range(5):
        sums = trainer.train(data)
        scores.append([task.loss for task in sums.tasks])
    assert (np.diff(scores, axis=0) < 0).all()
    assert trainer.traces == 1
    assert sums.frames == 64 and sums.minibatches == 4


@pytest.mark.parametrize(
    "text, told",
    [
        ("ctc", "is unknown; xent, mse and multitask"),
        ("multitask", "behind multitask come"),
        ("multitask,xent,4", "behind multitask come"),
        ("multitask,ctc,4,1", "'ctc' is no loss"),
        ("multitask,xent,four,1", "xent,four,1 is not a loss"),
        ("multitask,xent,0,1", "at least 1 output"),
        ("multitask,xent,4,-1", "weight of 0 or more"),
        ("multitask,xent,4,nan", "weight of 0 or more"),
    ],
)
def test_objectives_that_are_none(text, told):
    with pytest.raises(InputError, match=told):
        objective.parse(text)


@pytest.mark.parametrize(
    "text, told",
    [
        ("multitask,xent,4,1,mse,3,1", r"over 4 \+ 3 = 7 outputs, but the network has"),
        ("multitask,xent,3,1,xent,3,1", "loss 1, .* ends inside a softmax over 4"),
        ("multitask,mse,2,1,mse,4,1", "loss 1, .* ends inside a softmax over 4"),
        ("multitask,xent,6,1", "the network ends in .* xent needs <Softmax>"),
        ("xent", "the network ends in .* xent needs <Softmax>"),
    ],
)
def test_objectives_that_the_networks_end_does_not_fit(text, told):
    with pytest.raises(InputError, match=told):
        FrameObjective(ending(parallel()), text)


def test_dims_that_do_not_add_up():
    with pytest.raises(ValueError, match=r"over 2 \+ 3 = 5 outputs"):
        layers.multitask(
            LOGITS,
            IDS,
            VALUES,
            WEIGHTS,
            [layers.Task(layers.mse, 2, 1), layers.Task(layers.mse, 3, 1)],
        )


def test_one_trace_for_any_number_of_frames():
    tasks = [layers.Task(layers.xent, 4, 1.0), layers.Task(layers.mse, 2, 1.0)]
    traced = tf.function(
        functools.partial(layers.multitask, tasks=tasks),
        input_signature=[
            tf.TensorSpec([None, 6]),
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None]),
            tf.TensorSpec([None]),
        ],
    )
    for count in (5, 3, 0):
        some = LOGITS[:count], IDS[:count], VALUES[:count], WEIGHTS[:count]
        for a, b in zip(traced(*some), layers.multitask(*some, tasks), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)
