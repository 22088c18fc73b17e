"""Fine-tuning: what is frozen, replaced, scaled, and the report of it."""

import math
import pathlib

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import (
    components,
    keras_layers,
    nnet1,
    nnet_edit,
    nnet_proto,
    nnet_tune,
)
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.checkpoints.nnet_tune import TuneOptions, tune

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"
DNN = """
<AffineTransform> <InputDim> 3 <OutputDim> 4 <BiasLearnRateCoef> 0.5
<Sigmoid> <InputDim> 4 <OutputDim> 4
<LinearTransform> <InputDim> 4 <OutputDim> 2 <LearnRateCoef> 0.1
<AffineTransform> <InputDim> 2 <OutputDim> 6
<Softmax> <InputDim> 6 <OutputDim> 6
"""
LSTM = """
<LstmProjected> <InputDim> 3 <OutputDim> 2 <CellDim> 4
<Tanh> <InputDim> 2 <OutputDim> 2
<AffineTransform> <InputDim> 2 <OutputDim> 3
<Softmax> <InputDim> 3 <OutputDim> 3
"""


@pytest.fixture
def dnn():
    return nnet_proto.initialize(DNN, 1)


def coefs(component):
    return component.learn_rate_coef, component.bias_learn_rate_coef


def test_frozen_components_have_learn_rates_of_0(dnn):
    before = nnet1.to_bytes(dnn)
    frozen = nnet_tune.freeze(dnn, "1:2,3")
    assert coefs(frozen.components[0]) == (0, 0)
    assert frozen.components[2].learn_rate_coef == 0
    assert coefs(frozen.components[3]) == (1, 1)
    assert nnet1.to_bytes(dnn) == before
    text = nnet1.to_bytes(frozen, binary=False).decode()
    assert text.count("<LearnRateCoef> 0 ") == 2


@pytest.mark.parametrize(
    ("where", "numbers"),
    [
        ("2", [2]),
        ("1:4,3", [1, 2, 3, 4]),
        ("AffineTransform", [1, 4]),
        ("<affinetransform>", [1, 4]),
        ("net_4_affinetransform, 2", [2, 4]),
        ("3_lineartransform", [3]),
        ("all", [1, 2, 3, 4, 5]),
    ],
)
def test_how_components_are_named(dnn, where, numbers):
    assert nnet_tune.find(dnn, where) == numbers


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("6", "'6' is not within 1:5"),
        ("0:2", "'0:2' is not within 1:5"),
        ("3:1", "'3:1' runs backwards; give 1:3"),
        ("AffinTransform", "did you mean affinetransform?"),
        ("4_sigmoid", "did you mean 2_sigmoid?"),
        ("", "'' is no component"),
        ("Sigmoid", "no weights in <Sigmoid>"),
    ],
)
def test_components_that_cannot_be_frozen(dnn, where, message):
    with pytest.raises(InputError) as error:
        nnet_tune.freeze(dnn, where)
    assert message in str(error.value)


def updatable(nnet):
    """Components with weights of their own, in nested networks too."""
    for component in nnet.components:
        for net in getattr(component, "nets", []):
            yield from updatable(net)
        if component.num_parameters() and not getattr(component, "nets", []):
            yield component


CASES = [
    pytest.param(case, id=case.name)
    for case in sorted(GOLDENS.glob("comp_*"))
    if list(updatable(nnet1.read(str(case / "nnet.bin"))))
]


def test_golden_kaldi_components_with_weights_are_found():
    assert len(CASES) >= 17


@pytest.mark.parametrize("case", CASES)
def test_golden_kaldi_components_all_freeze(case):
    """In Kaldi's file, and as layers: nothing is left to train."""
    nnet = nnet1.read(str(case / "nnet.bin"))
    frozen, report = tune(nnet, TuneOptions(freeze="all"))
    assert (report.kept, report.new, report.dropped) == (0, 0, 0)
    assert report.frozen == nnet.num_parameters() > 0
    made = keras_layers.to_layers(frozen)
    assert not [weight for layer in made for weight in layer.trainable_variables]
    again = nnet1.to_bytes(keras_layers.to_nnet(made))
    assert again == nnet1.to_bytes(frozen)
    # But for the learn rates it is the same network.
    for old, new in zip(updatable(nnet), updatable(frozen), strict=True):
        assert old is not new
        for name, array in old.parameters().items():
            np.testing.assert_array_equal(array, new.parameters()[name])


def test_learn_rates_of_some_components(dnn):
    changed = nnet_tune.set_coefs(dnn, "1:3=0.5 4=2/0.25")
    assert coefs(changed.components[0]) == (0.5, 0.5)
    assert changed.components[2].learn_rate_coef == 0.5
    assert coefs(changed.components[3]) == (2, 0.5)
    assert nnet_tune.set_coefs(dnn, "").components == dnn.components


@pytest.mark.parametrize("text", ["1", "1=x", "=1", "1=-1", "1=nan", "1=1 2"])
def test_learn_rates_of_another_form(dnn, text):
    with pytest.raises(InputError, match="not of the form WHERE=COEF"):
        nnet_tune.set_coefs(dnn, text)


def test_a_new_output_layer_by_the_rule_of_make_nnet_proto(dnn):
    changed = nnet_tune.replace_output(dnn, 900, seed=3)
    new, softmax = changed.components[3:]
    assert (new.input_dim, new.output_dim) == (2, 900)
    assert (softmax.input_dim, softmax.output_dim) == (900, 900)
    assert isinstance(softmax, components.Softmax)
    assert coefs(new) == (1, pytest.approx(0.1))
    assert new.max_norm == 0 and not new.bias.any()
    stddev = 0.1 * 35 * math.sqrt(2 / 902)
    assert new.linearity.std() == pytest.approx(stddev, rel=0.1)
    assert nnet1.to_bytes(Nnet(changed.components[:3])) == nnet1.to_bytes(
        Nnet(dnn.components[:3])
    )
    assert dnn.output_dim == 6
    again = nnet_tune.replace_output(dnn, 900, seed=3)
    other = nnet_tune.replace_output(dnn, 900, seed=4)
    assert nnet1.to_bytes(again) == nnet1.to_bytes(changed) != nnet1.to_bytes(other)


def test_a_new_output_layer_of_a_recurrent_network():
    """make_lstm_proto.py leaves the weights' deviation at its default, 0.1."""
    lstm = nnet_proto.initialize(LSTM, 1)
    new = nnet_tune.replace_output(lstm, 800).components[2]
    assert coefs(new) == (1, 1) and not new.bias.any()
    assert new.linearity.std() == pytest.approx(0.1, rel=0.1)


def test_a_network_of_one_layer_has_no_other_learn_rate_for_biases():
    nnet = nnet_proto.initialize("<AffineTransform> <InputDim> 3 <OutputDim> 2", 1)
    new = nnet_tune.replace_output(nnet, 5)
    assert [c.marker for c in new.components] == ["<AffineTransform>"]
    assert coefs(new.components[0]) == (1, 1)


def test_blocks_of_languages_become_one_softmax(dnn):
    blocks = components.BlockSoftmax(6, 6, [2, 4])
    nnet = Nnet([*dnn.components[:4], blocks])
    changed = nnet_tune.replace_output(nnet, 7)
    assert [c.marker for c in changed.components[3:]] == [
        "<AffineTransform>",
        "<Softmax>",
    ]
    assert changed.output_dim == 7


def test_an_output_that_cannot_be_replaced(dnn):
    with pytest.raises(InputError, match="the output comes from <Copy>"):
        nnet = nnet_edit.concat(dnn, Nnet([components.Copy(6, 2, [0, 1])]))
        nnet_tune.replace_output(nnet, 3)
    with pytest.raises(InputError, match="the output comes from <Sigmoid>"):
        nnet_tune.replace_output(Nnet([components.Sigmoid(2, 2)]), 3)
    with pytest.raises(InputError, match="1 output is the least"):
        nnet_tune.replace_output(dnn, 0)


def test_the_report(dnn):
    options = TuneOptions(freeze="1", learn_rate_coefs="3=0.5", replace_output=8)
    changed, report = tune(dnn, options)
    assert coefs(changed.components[0]) == (0, 0)
    assert str(report).splitlines() == [
        "component 1 <AffineTransform>, 3 to 4, 16 parameters: frozen",
        "component 3 <LinearTransform>, 4 to 2, 8 parameters: kept",
        "component 4 <AffineTransform>, 2 to 8, 24 parameters: new, instead of "
        "<AffineTransform>, 2 to 6",
        "parameters: 8 learn on, 16 are frozen, 24 are new, 18 were dropped",
    ]


def test_a_bias_alone_can_be_frozen(dnn):
    _, report = tune(dnn, TuneOptions(learn_rate_coefs="1=1/0"))
    assert report.parts[0].state == "partly frozen"
    assert (report.frozen, report.kept) == (4, 12 + 8 + 18)


def test_a_new_output_layer_learns_though_all_is_frozen(dnn):
    changed, report = tune(dnn, TuneOptions(freeze="all", replace_output=6))
    assert coefs(changed.components[3]) == (1, pytest.approx(0.1))
    assert (report.frozen, report.new, report.dropped) == (24, 18, 18)


def test_nothing_asked_is_nothing_changed(dnn):
    assert not TuneOptions() and TuneOptions(freeze="1")
    same, report = tune(dnn, TuneOptions())
    assert nnet1.to_bytes(same) == nnet1.to_bytes(dnn)
    assert report.kept == dnn.num_parameters()
