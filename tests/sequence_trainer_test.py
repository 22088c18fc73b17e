"""Training on sequences against plain loops, and what it costs to trace."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import keras_layers, nnet_proto
from seqzoo.zoo.training.sequence_data import Batching, SequenceEpochs
from seqzoo.zoo.training.sequence_trainer import SequenceTrainer
from tests.sequence_data_test import blocks_of

LSTM = """
<LstmProjected> <InputDim> 4 <OutputDim> 5 <CellDim> 6 <ParamRange> 0.5
<LstmProjected> <InputDim> 5 <OutputDim> 3 <CellDim> 4 <ParamRange> 0.5
<Tanh> <InputDim> 3 <OutputDim> 3
"""
ONE_LSTM = """
<LstmProjected> <InputDim> 4 <OutputDim> 3 <CellDim> 8 <ParamRange> 0.5
"""
OUTPUT = """
<AffineTransform> <InputDim> 3 <OutputDim> 3 <BiasMean> 0 <BiasRange> 0
<Softmax> <InputDim> 3 <OutputDim> 3
"""
BLSTM = """
<BlstmProjected> <InputDim> 4 <OutputDim> 6 <CellDim> 6
<AffineTransform> <InputDim> 6 <OutputDim> 3
"""
SPLICE = """
<Splice> <InputDim> 4 <OutputDim> 12 <BuildVector> -1:1 </BuildVector>
<AffineTransform> <InputDim> 12 <OutputDim> 3 <BiasMean> 0 <BiasRange> 0
"""


def make_net(proto=LSTM, **kwargs):
    return keras_layers.to_layers(nnet_proto.initialize(proto + OUTPUT, 1), **kwargs)


def data(lengths, batching, delay=0) -> SequenceEpochs:
    return SequenceEpochs(blocks_of(lengths, delay=delay), [], batching)


def streams(num_streams=2, batch_size=4, **kwargs) -> Batching:
    return Batching(
        kind="multistream", num_streams=num_streams, batch_size=batch_size, **kwargs
    )


def buckets(num_streams=3, **kwargs) -> Batching:
    return Batching(kind="multistream-perutt", num_streams=num_streams, **kwargs)


def trainer_of(net, batching, rate=0.05, **kwargs) -> SequenceTrainer:
    return SequenceTrainer(net, "xent", layers.KaldiSGD(rate, **kwargs), batching)


def values(net):
    return [w.value.numpy() for layer in net for w in layer.weights]


@pytest.mark.parametrize(
    "batching", [streams(), streams(3, 50), buckets(), Batching(kind="perutt")]
)
def test_any_batching_scores_alike(batching):
    """A carried state is the state of the whole utterance; padding counts nowhere."""
    lengths = [(9, 4, 13), (6, 2)]
    net = make_net()
    sums = trainer_of(net, batching).evaluate(data(lengths, batching))
    loss = correct = 0.0
    nnet = keras_layers.to_nnet(net)
    for block in blocks_of(lengths).as_numpy_iterator():
        ends = np.cumsum(block["lengths"])
        for feats, ids in zip(
            np.split(block["feats"], ends[:-1]),
            np.split(block["ids"], ends[:-1]),
            strict=True,
        ):
            outputs = nnet.propagate(feats)
            loss -= np.log(outputs[np.arange(len(ids)), ids[:, 0]]).sum()
            correct += (outputs.argmax(1) == ids[:, 0]).sum()
    assert sums.frames == 34
    np.testing.assert_allclose(sums.sums[0], loss, rtol=1e-5)
    assert sums.sums[2] == correct


def test_pieces_as_long_as_the_utterances_are_the_utterances():
    lengths = [(9, 4, 13)]
    whole, pieces = make_net(), make_net()
    one = Batching(kind="perutt")
    trainer_of(whole, one, momentum=0.5).train(data(lengths, one))
    # One stream of pieces that hold any of them; the rest is padding.
    batching = streams(1, 16)
    trainer_of(pieces, batching, momentum=0.5).train(data(lengths, batching))
    for a, b in zip(values(whole), values(pieces), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_truncated_gradients_against_a_plain_loop():
    """Each minibatch's gradient by TensorFlow, with the state a number from outside."""
    lengths, batching, rate = [(9, 4, 13), (6, 2)], streams(2, 4), 0.05
    net, plain = make_net(), make_net()
    trainer_of(net, batching, rate).train(data(lengths, batching))
    first, second, *body = plain
    state = None
    for rows in data(lengths, batching):
        for m in range(len(rows["times"])):
            fresh = rows["fresh"][m].numpy()[:, None]
            if state is None:
                state = first.zero_state(2), second.zero_state(2)
            state = [[tf.where(fresh, 0.0, s) for s in one] for one in state]
            inputs, targets = np.zeros((2, 4, 4), np.float32), np.zeros((2, 4, 3))
            mask = np.zeros((2, 4), bool)
            for s in range(2):
                start, length = int(rows["starts"][m, s]), int(rows["lengths"][m, s])
                inputs[s, :length] = rows["inputs"][start : start + length]
                mask[s, :length] = True
                ids = rows["ids"].numpy()[start : start + length, 0]
                targets[s, np.arange(length), ids] = 1
            variables = [w.value for layer in plain for w in layer.weights]
            with tf.GradientTape() as tape:
                x, after_first = first.run(inputs, state[0], mask)
                x, after_second = second.run(x, state[1], mask)
                for layer in body:
                    x = layer(x)
                loss = -tf.reduce_sum(targets.astype(np.float32) * tf.math.log(x))
            state = after_first, after_second
            for variable, gradient in zip(
                variables, tape.gradient(loss, variables), strict=True
            ):
                variable.assign_sub(rate * gradient)
    for a, b in zip(values(net), values(plain), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("batching", [streams(), buckets()])
def test_no_retracing_for_other_lengths(batching):
    net = make_net()
    trainer = trainer_of(net, batching)
    for lengths in ([(5, 3)], [(9, 4, 13)], [(2,), (30, 1)]):
        trainer.train(data(lengths, batching))
    assert trainer.traces == 1
    for lengths in ([(17, 6, 5, 3)], [(40,)], [(8, 8), (7, 7, 6)]):
        trainer.train(data(lengths, batching))
        trainer.evaluate(data(lengths, batching))
    assert trainer.traces == 2  # One for training and one for scoring.


def test_a_task_of_memory_is_learnt():
    """The class is that of the frame before: without memory it is a guess."""
    net, batching = make_net(ONE_LSTM), streams(4, 8)
    trainer = trainer_of(net, batching, rate=0.05, momentum=0.5)
    epochs = data([[24] * 12], batching, delay=1)
    losses = [trainer.train(epochs).loss for _ in range(20)]
    assert losses[0] > 1
    assert losses[-1] < 0.4


def test_edges_see_the_first_and_the_last_minibatch():
    batching, seen = streams(), []

    def on_edge(edge, batch):
        seen.append((edge, batch["mask"].numpy().sum(), batch["inputs"].shape))

    trainer = trainer_of(make_net(), batching)
    trainer.train(data([(9, 4, 13)], batching), on_edge=on_edge)
    assert seen == [("first", 8, (2, 4, 4)), ("last", 1, (2, 4, 4))]


@pytest.mark.parametrize(
    ("proto", "name"),
    [(BLSTM, "1_blstmprojected"), (SPLICE, "1_splice")],
)
def test_pieces_are_not_for_layers_of_whole_utterances(proto, name):
    net = make_net(proto)
    told = f"{name} looks at whole utterances, but nnet-train-multistream .*; train"
    with pytest.raises(InputError, match=told):
        trainer_of(net, streams())
    trainer = trainer_of(net, buckets())
    assert trainer.train(data([(5, 3), (4,)], buckets())).frames == 12
