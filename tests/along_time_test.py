import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import along_time, components, keras_layers
from seqzoo.zoo.checkpoints.nnet1 import Nnet

LENGTHS = [5, 1, 7]
RANDOM = np.random.default_rng(0)


def shift(dim: int) -> components.AddShift:
    return components.AddShift(dim, dim, RANDOM.normal(size=dim).astype("float32"), 0.0)


def parallel(*nets: Nnet) -> components.Parallel:
    dims = [sum(net.input_dim for net in nets), sum(net.output_dim for net in nets)]
    return components.Parallel(*dims, list(nets))


def test_utterances_end_to_end_are_as_each_alone():
    """Speaker vectors beside spliced features: as the network's own code in NumPy."""
    spliced = Nnet([components.Splice(2, 6, [-2, 0, 1]), shift(6)])
    beside = Nnet([components.Copy(3, 2, [2, 0])])
    nnet = Nnet([shift(5), parallel(spliced, beside), shift(8)])
    feats = [RANDOM.normal(size=(n, 5)).astype("float32") for n in LENGTHS]
    found = along_time.on_rows(
        keras_layers.to_layers(nnet), tf.constant(np.concatenate(feats)), LENGTHS
    )
    expected = np.concatenate([nnet.propagate(matrix) for matrix in feats])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("nested", [False, True])
def test_a_mean_over_utterances_is_not_taken_over_all_that_lie_end_to_end(nested):
    nnet = Nnet([components.SimpleSentenceAveraging(2, 2)])
    name = "1_simplesentenceaveragingcomponent"
    if nested:
        nnet, name = Nnet([parallel(nnet)]), f"1_parallelcomponent_1_{name}"
    made = keras_layers.to_layers(nnet)
    with pytest.raises(InputError, match=f"^feature transform: {name} looks along"):
        along_time.check_rows(made)


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        (components.Splice(2, 4, [0, 1]), True),
        (components.SimpleSentenceAveraging(2, 2), True),
        (components.Copy(2, 1, [0]), False),
        (parallel(Nnet([components.Splice(2, 4, [0, 1])])), True),
        (parallel(Nnet([components.Copy(2, 1, [0])])), False),
    ],
)
def test_components_and_their_layers_look_along_time_alike(component, expected):
    (layer,) = keras_layers.to_layers(Nnet([component]))
    assert along_time.component_looks_along_time(component) is expected
    assert along_time.looks_along_time(layer) is expected
