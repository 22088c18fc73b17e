import warnings

import keras
import numpy as np
import pytest

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, keras_layers, nnet1, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet

# Every component that has a layer, each option off its default.
PROTO = """
<Splice> <InputDim> 2 <OutputDim> 6 <BuildVector> -1:1 </BuildVector>
<AddShift> <InputDim> 6 <OutputDim> 6 <InitParam> 0.5 <LearnRateCoef> 0.25
<Rescale> <InputDim> 6 <OutputDim> 6 <InitParam> 2 <LearnRateCoef> 0.5
<AffineTransform> <InputDim> 6 <OutputDim> 5 <LearnRateCoef> 0.1 \
<BiasLearnRateCoef> 3 <MaxNorm> 1.5
<Sigmoid> <InputDim> 5 <OutputDim> 5
<Dropout> <InputDim> 5 <OutputDim> 5 <DropoutRate> 0.2
<LinearTransform> <InputDim> 5 <OutputDim> 4 <LearnRateCoef> 0.3
<Tanh> <InputDim> 4 <OutputDim> 4
<Softmax> <InputDim> 4 <OutputDim> 4
"""
KINDS = [
    layers.Splice,
    layers.AddShift,
    layers.Rescale,
    layers.Affine,
    keras.layers.Activation,
    layers.Dropout,
    layers.Linear,
    keras.layers.Activation,
    layers.Softmax,
]


@pytest.fixture
def nnet():
    return nnet_proto.initialize(PROTO, 1)


def run(net, feats):
    x = feats[np.newaxis]
    for layer in net:
        x = layer(x)
    return x.numpy()[0]


def test_each_component_has_its_layer(nnet):
    net = keras_layers.to_layers(nnet, "net_")
    assert [type(layer) for layer in net] == KINDS
    assert [layer.dims for layer in net] == [
        (c.input_dim, c.output_dim) for c in nnet.components
    ]
    assert net[0].name == "net_1_splice"
    assert net[3].name == "net_4_affinetransform"
    assert [keras_layers.marker(layer) for layer in net] == [
        component.marker for component in nnet.components
    ]


def test_forth_and_back_is_the_same_file(nnet):
    net = keras_layers.to_layers(nnet)
    assert nnet1.to_bytes(keras_layers.to_nnet(net)) == nnet1.to_bytes(nnet)


def test_the_layers_compute_what_the_network_does(nnet):
    feats = np.random.default_rng(0).normal(size=(7, 2)).astype(np.float32)
    found = run(keras_layers.to_layers(nnet), feats)
    np.testing.assert_allclose(found, nnet.propagate(feats), rtol=1e-5, atol=1e-7)


def test_options_reach_the_layers(nnet):
    net = keras_layers.to_layers(nnet)
    affine = net[3]
    assert affine.linearity.learn_rate_coef == pytest.approx(0.1)
    assert affine.bias.learn_rate_coef == 3
    assert affine.linearity.max_norm == 1.5
    assert net[1].shift.learn_rate_coef == 0.25
    assert net[2].scale.learn_rate_coef == 0.5
    assert net[5].rate == pytest.approx(0.2)
    assert net[6].linearity.learn_rate_coef == pytest.approx(0.3)


def test_weights_under_the_names_that_info_prints(nnet):
    net = keras_layers.to_layers(nnet)
    named = [keras_layers.parameters(layer) for layer in net]
    assert [list(names) for names in named] == [
        [],
        ["shift_data"],
        ["scale_data"],
        ["linearity", "bias"],
        [],
        [],
        ["linearity"],
        [],
        [],
    ]
    for names, component in zip(named, nnet.components, strict=True):
        for name, weight in names.items():
            value = weight.value.numpy()
            np.testing.assert_array_equal(value, component.parameters()[name])


def test_all_can_be_frozen(nnet):
    net = keras_layers.to_layers(nnet, trainable=False)
    assert not any(layer.trainable_variables for layer in net)
    again = keras_layers.to_nnet(net)
    assert again.components[3].learn_rate_coef == pytest.approx(0.1)


def test_a_coefficient_of_0_freezes_its_weight_alone(nnet):
    nnet.components[3].learn_rate_coef = 0.0
    layer = keras_layers.to_layers(nnet)[3]
    assert [weight.name for weight in layer.trainable_variables] == ["bias"]
    assert nnet1.to_bytes(keras_layers.to_nnet([layer])) == nnet1.to_bytes(
        Nnet([nnet.components[3]])
    )


def test_weights_of_another_network_go_into_the_same_layers(nnet):
    net = keras_layers.to_layers(nnet)
    other = nnet_proto.initialize(PROTO, 2)
    layers.add_shadow(net[3].linearity)
    keras_layers.set_weights(net, other)
    again = keras_layers.to_nnet(net)
    assert nnet1.to_bytes(again) == nnet1.to_bytes(other)
    shadow = layers.source(net[3].linearity).numpy().astype(np.float32)
    np.testing.assert_allclose(shadow, other.components[3].linearity, rtol=0.01)
    with pytest.raises(ValueError, match="shorter"):
        keras_layers.set_weights(net, Nnet(other.components[:-1]))


def test_what_is_learnt_is_written(nnet):
    net = keras_layers.to_layers(nnet)
    kernel = np.arange(30, dtype=np.float32).reshape(5, 6)
    net[3].linearity.assign(kernel)
    written = keras_layers.to_nnet(net).components[3].linearity
    np.testing.assert_array_equal(written, kernel)
    assert written.dtype == np.float32 and written.flags.c_contiguous


def test_a_component_without_a_layer():
    class Odd(components.Component):
        marker = "<Odd>"

    nnet = Nnet([components.Sigmoid(2, 2), Odd(2, 2)])
    with pytest.raises(InputError, match="component 2 <Odd> has no layer yet"):
        keras_layers.to_layers(nnet)


def test_a_layer_without_a_component():
    layer = keras.layers.Dense(3, name="head")
    with pytest.raises(InputError, match=r"layer head \(Dense\) has no component"):
        keras_layers.to_nnet([layer])
    relu = keras.layers.Activation("relu", name="relu")
    with pytest.raises(InputError, match=r"layer relu \(Activation\) has no component"):
        keras_layers.marker(relu)


def test_the_layers_of_a_saved_model_are_a_network_again(nnet, tmp_path):
    inputs = keras.Input((None, 2))
    x = inputs
    for layer in keras_layers.to_layers(nnet):
        x = layer(x)
    with warnings.catch_warnings():
        # Keras's own: how it turns its variables into arrays.
        warnings.simplefilter("ignore", DeprecationWarning)
        keras.Model(inputs, x).save(f"{tmp_path}/model.keras")
    loaded = keras.models.load_model(f"{tmp_path}/model.keras")
    again = keras_layers.to_nnet(loaded.layers[1:])
    assert nnet1.to_bytes(again) == nnet1.to_bytes(nnet)


def test_a_layer_whose_dimensions_are_not_known():
    with pytest.raises(InputError, match="layer end is in no model"):
        keras_layers.to_nnet([keras.layers.Softmax(name="end")])
