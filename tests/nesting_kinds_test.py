import numpy as np
import pytest

from seqzoo import layers
from seqzoo.zoo.checkpoints import components, keras_layers, nnet1, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training import debug

AFFINE = "<AffineTransform> <InputDim> 2 <OutputDim> 3 <LearnRateCoef> 0.5"
HEAD = """
<AffineTransform> <InputDim> 6 <OutputDim> 4
<Softmax> <InputDim> 4 <OutputDim> 4
"""


def net(text: str, seed: int = 1) -> Nnet:
    return nnet_proto.initialize(text, seed)


@pytest.fixture
def nnet():
    """An affine beside (a copy beside an affine), and a softmax behind."""
    inner = components.Parallel(
        3, 3, nets=[Nnet([components.Copy(1, 1, [0])]), net(AFFINE.replace("3", "2"))]
    )
    outer = components.Parallel(5, 6, nets=[net(AFFINE, 2), Nnet([inner])])
    return Nnet([outer, *net(HEAD, 3).components])


def test_networks_in_networks_go_forth_and_back(nnet):
    made = keras_layers.to_layers(nnet, "net_")
    assert nnet1.to_bytes(keras_layers.to_nnet(made)) == nnet1.to_bytes(nnet)
    inner = made[0].nets[1][0]
    assert isinstance(inner, layers.Parallel)
    assert inner.nets[1][0].name == (
        "net_1_parallelcomponent_2_1_parallelcomponent_2_1_affinetransform"
    )
    assert inner.nets[1][0].linearity.learn_rate_coef == 0.5


def test_weights_within_have_the_place_in_their_names(nnet):
    [outer, *_] = keras_layers.to_layers(nnet)
    named = keras_layers.parameters(outer)
    assert list(named) == [
        "net_1_component_1_linearity",
        "net_1_component_1_bias",
        "net_2_component_1_net_2_component_1_linearity",
        "net_2_component_1_net_2_component_1_bias",
    ]
    bias = outer.nets[1][0].nets[1][0].bias
    assert named["net_2_component_1_net_2_component_1_bias"] is bias


@pytest.mark.parametrize("kaldi_gradients", [False, True])
def test_nnet1s_gradients_reach_all_within(nnet, kaldi_gradients):
    [outer, *_] = keras_layers.to_layers(nnet, kaldi_gradients=kaldi_gradients)
    inner = outer.nets[1][0]
    assert [layer.kaldi_gradients for layer in (outer, inner, inner.nets[0][0])] == (
        [kaldi_gradients] * 3
    )


def test_weights_within_are_frozen_and_set_with_the_rest(nnet):
    made = keras_layers.to_layers(nnet, trainable=False)
    assert not any(layer.trainable_weights for layer in made)
    nnet.components[0].nets[0].components[0].bias[:] = 7
    keras_layers.set_weights(made, nnet)
    assert made[0].nets[0][0].bias.value.numpy().tolist() == [7, 7, 7]


def test_statistics_of_weights_within(nnet):
    batch = {
        "inputs": np.ones((2, 5), np.float32),
        "ids": np.zeros((2, 1), np.int32),
        "values": np.ones((2, 1), np.float32),
        "weights": np.ones(2, np.float32),
    }
    text = debug.statistics(keras_layers.to_layers(nnet), "xent", batch)
    for name in ("net_1_component_1_bias", "net_2_component_1_net_2_component_1_bias"):
        assert f"  {name}_grad ( min " in text


def test_a_pools_weights_go_by_the_components_name():
    component = components.FramePooling(
        6,
        4,
        feature_dim=2,
        frame_offsets=[0, 2],
        frame_weights=[np.ones(2, np.float32), np.ones(1, np.float32)],
    )
    [layer] = keras_layers.to_layers(Nnet([component]))
    assert list(keras_layers.parameters(layer)) == ["frame_weights"]
    again = keras_layers.to_nnet([layer]).components[0].frame_weights
    assert [len(weights) for weights in again] == [2, 1]
