"""Utterances in pieces: the same outputs, however they are cut."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.export.step_signature import StepSignature
from seqzoo.export.stream import NoStreamError
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.checkpoints import components, keras_layers, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet

LSTM = """
<LstmProjected> <InputDim> 3 <OutputDim> 4 <CellDim> 6 <ParamRange> 0.7
<AffineTransform> <InputDim> 4 <OutputDim> 5 <ParamStddev> 1
"""
# What a target delay and splices at any place make of it.
DELAYED = """
<Splice> <InputDim> 3 <OutputDim> 9 <BuildVector> -2 0 3 </BuildVector>
<LstmProjected> <InputDim> 9 <OutputDim> 4 <CellDim> 5 <ParamRange> 0.7
<Splice> <InputDim> 4 <OutputDim> 4 <BuildVector> 2 </BuildVector>
<Splice> <InputDim> 4 <OutputDim> 8 <BuildVector> -3 -1 </BuildVector>
<RecurrentComponent> <InputDim> 8 <OutputDim> 4 <ParamScale> 0.7 <GradClip> 5 \
<DiffClip> 1
<LengthNormComponent> <InputDim> 4 <OutputDim> 4
<Softmax> <InputDim> 4 <OutputDim> 4
<Splice> <InputDim> 4 <OutputDim> 4 <BuildVector> 0 </BuildVector>
"""
AHEAD = "<Splice> <InputDim> 2 <OutputDim> 4 <BuildVector> 1 2 </BuildVector>"
RECURRENT = (
    "<RecurrentComponent> <InputDim> 1 <OutputDim> 3 <ParamScale> 0.7 <GradClip> 5 "
    "<DiffClip> 1"
)


def parallel():
    """Features spliced beside a recurrent network and a vector for the utterance."""
    nets = [
        nnet_proto.initialize(AHEAD, 1),
        nnet_proto.initialize(RECURRENT, 2),
        Nnet([components.Copy(2, 2, [1, 0])]),
    ]
    return Nnet(
        [
            components.Splice(5, 5, [-1]),
            components.Parallel(5, 4 + 3 + 2, nets),
            *nnet_proto.initialize(
                "<LstmProjected> <InputDim> 9 <OutputDim> 3 <CellDim> 4", 3
            ).components,
        ]
    )


NETS = {
    "lstm": nnet_proto.initialize(LSTM, 1),
    "delayed": nnet_proto.initialize(DELAYED, 1),
    "parallel": parallel(),
}
DELAYS = {"lstm": 0, "delayed": 5, "parallel": 2}


def assemble(nnet):
    return dnn.assemble([], keras_layers.to_layers(nnet))


@pytest.fixture(scope="module", params=list(NETS))
def case(request):
    """A network's name, its model and its step."""
    model = assemble(NETS[request.param])
    signature = StepSignature(model, tf.identity)
    return request.param, model, signature, signature.function()


def zeros(step, batch):
    specs = step.structured_input_signature[1]
    return {
        name: tf.zeros([batch, *spec.shape[1:]], spec.dtype)
        for name, spec in specs.items()
        if name.startswith("state_")
    }


def in_pieces(step, utterances, cuts):
    """Joined outputs of utterances cut at `cuts`, with NaN for padding."""
    batch = len(utterances)
    state = zeros(step, batch)
    outputs = [[] for _ in utterances]
    bounds = [
        [0, *sorted(cut), len(u)] for cut, u in zip(cuts, utterances, strict=True)
    ]
    pairs = [list(itertools.pairwise(bound)) for bound in bounds]
    for turn in range(max(map(len, pairs))):
        ends = [pair[turn] if turn < len(pair) else (0, 0) for pair in pairs]
        sizes = np.array([end - start for start, end in ends], np.int32)
        last = np.array([turn == len(pair) - 1 for pair in pairs])
        feats = np.full((batch, sizes.max() + 1, utterances[0].shape[1]), np.nan)
        for row, (start, end) in enumerate(ends):
            feats[row, : end - start] = utterances[row][start:end]
        made = step(
            feats=tf.constant(feats, tf.float32),
            lengths=tf.constant(sizes),
            last=tf.constant(last),
            **state,
        )
        state = {name: made[name] for name in state}
        lengths = made["lengths"].numpy()
        assert made["outputs"].shape[1] == lengths.max()
        for row, length in enumerate(lengths):
            outputs[row].append(made["outputs"].numpy()[row, :length])
            assert not made["outputs"].numpy()[row, length:].any()
            if last[row]:
                assert not any(np.any(value[row]) for value in state.values())
    return [np.concatenate(parts) for parts in outputs]


def whole(model, utterance):
    if not len(utterance):
        return np.zeros((0, model.output["outputs"].shape[-1]), np.float32)
    return model({"feats": utterance[np.newaxis]})["outputs"].numpy()[0]


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_cut_anywhere_the_outputs_are_the_same(case, data):
    name, model, _, step = case
    dim = model.input["feats"].shape[-1]
    lengths = data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=3))
    cuts = [data.draw(st.lists(st.integers(0, length))) for length in lengths]
    random = np.random.default_rng(0)
    utterances = [random.normal(size=(n, dim)).astype(np.float32) for n in lengths]
    joined = in_pieces(step, utterances, cuts)
    for utterance, found in zip(utterances, joined, strict=True):
        np.testing.assert_allclose(found, whole(model, utterance), rtol=0, atol=1e-6)
        if len(utterance):
            expected = NETS[name].propagate(utterance)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_outputs_come_as_late_as_the_network_looks_ahead(case):
    name, model, signature, step = case
    assert signature.delay == DELAYS[name]
    feats = np.ones((1, 1, model.input["feats"].shape[-1]), np.float32)
    state = zeros(step, 1)
    counts = []
    for turn in range(10):
        made = step(
            feats=tf.constant(feats),
            lengths=tf.constant([1]),
            last=tf.constant([turn == 9]),
            **state,
        )
        state = {key: made[key] for key in state}
        counts += made["lengths"].numpy().tolist()
    late = DELAYS[name]
    assert counts == [0] * late + [1] * (9 - late) + [1 + late]


def test_an_end_without_frames(case):
    """The last frames have gone already: the end comes by itself."""
    _, model, _, step = case
    dim = model.input["feats"].shape[-1]
    utterance = np.random.default_rng(1).normal(size=(7, dim)).astype(np.float32)
    [found] = in_pieces(step, [utterance], [[3, 7]])
    np.testing.assert_allclose(found, whole(model, utterance), rtol=0, atol=1e-6)


def test_the_state_has_plain_names(case):
    name, _, signature, step = case
    expected = {
        "lstm": {"state_1_r": (4,), "state_1_c": (6,)},
        "delayed": {
            "state_1_frames": (5, 3),
            "state_2_r": (4,),
            "state_2_c": (5,),
            "state_3_frames": (2, 4),
            "state_4_frames": (3, 4),
            "state_5_y": (4,),
        },
        "parallel": {
            "state_1_frames": (1, 5),
            "state_2_frames": (2, 2),
            "state_3_y": (3,),
            "state_4_frames": (2, 3),
            "state_5_frames": (2, 2),
            "state_6_r": (3,),
            "state_6_c": (4,),
        },
    }[name]
    found = {key: tuple(spec.shape[1:]) for key, spec in signature.state().items()}
    assert found.pop("state_seen") == ()
    assert found == expected
    assert set(step.structured_outputs) == {"outputs", "lengths", "state_seen", *found}


def test_lengths_that_do_not_fit(case):
    _, model, _, step = case
    feats = tf.zeros([1, 2, model.input["feats"].shape[-1]])
    for lengths in ([3], [-1], [1, 1]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="lengths must be"):
            step(
                feats=feats,
                lengths=tf.constant(lengths),
                last=tf.constant([True]),
                **zeros(step, 1),
            )


@pytest.mark.parametrize(
    "proto",
    [
        "<BlstmProjected> <InputDim> 3 <OutputDim> 4 <CellDim> 2",
        "<SimpleSentenceAveragingComponent> <InputDim> 3 <OutputDim> 3",
    ],
)
def test_a_network_that_needs_whole_utterances(proto):
    with pytest.raises(NoStreamError, match="needs whole utterances"):
        StepSignature(assemble(nnet_proto.initialize(proto, 1)), tf.identity)


def test_whole_utterances_needed_deep_inside():
    inner = nnet_proto.initialize(
        "<BlstmProjected> <InputDim> 3 <OutputDim> 4 <CellDim> 2", 1
    )
    outer = Nnet([components.Parallel(3, 4, [inner])])
    with pytest.raises(NoStreamError, match="needs whole utterances"):
        StepSignature(assemble(outer), tf.identity)


def test_a_model_that_is_no_chain():
    feats = keras.Input((None, 2), name="feats")
    double = keras.layers.Dense(2, name="double")(feats)
    added = keras.layers.Add(name="add")([feats, double])
    model = keras.Model({"feats": feats}, {"outputs": added}, name="odd")
    with pytest.raises(NoStreamError, match="odd is no chain of layers at add"):
        StepSignature(model, tf.identity)
