import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, nnet_edit, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet


def _net(inputs=3, outputs=2, seed=1):
    return nnet_proto.initialize(
        f"<AffineTransform> <InputDim> {inputs} <OutputDim> 4\n"
        "<Sigmoid> <InputDim> 4 <OutputDim> 4\n"
        "<Dropout> <InputDim> 4 <OutputDim> 4\n"
        f"<AffineTransform> <InputDim> 4 <OutputDim> {outputs}\n",
        seed,
    )


def test_concat_runs_one_after_the_other():
    first, second = _net(3, 2), _net(2, 5)
    both = nnet_edit.concat(first, second)
    feats = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    expected = second.propagate(first.propagate(feats))
    assert np.array_equal(both.propagate(feats), expected)
    assert len(both.components) == 8


def test_concat_of_other_dimensions():
    with pytest.raises(InputError, match="network 2 puts out 2 .* network 3 takes 9"):
        nnet_edit.concat(_net(1, 3), _net(3, 2), _net(9, 2))


def test_removal():
    nnet = _net()
    markers = [c.marker for c in nnet.components]
    last = nnet_edit.remove_last_components(nnet, 1)
    assert [c.marker for c in last.components] == markers[:3]
    first = nnet_edit.remove_first_components(nnet, 2)
    assert [c.marker for c in first.components] == markers[2:]
    assert len(nnet_edit.remove_last_components(nnet, 0).components) == 4
    assert len(nnet.components) == 4


@pytest.mark.parametrize("count", [-1, 4, 9])
def test_removal_of_all(count):
    for remove in (
        nnet_edit.remove_last_components,
        nnet_edit.remove_first_components,
    ):
        with pytest.raises(InputError, match="0 to 3 can"):
            remove(_net(), count)


def test_dropout_rate():
    nnet = _net()
    changed = nnet_edit.set_dropout_rate(nnet, 0.125)
    assert changed.components[2].dropout_rate == 0.125
    assert nnet.components[2].dropout_rate == 0.5
    with pytest.raises(InputError, match="dropout rate 1 "):
        nnet_edit.set_dropout_rate(nnet, 1.0)


@pytest.mark.parametrize(
    "where, changed", [("", [1, 4]), ("1:3", [1]), ("4", [4]), ("1:1,4", [1, 4])]
)
def test_learn_rates(where, changed):
    nnet = nnet_edit.set_learn_rates(_net(), where, coef=0.5, bias_coef=0.5)
    for number in (1, 4):
        affine = nnet.components[number - 1]
        assert affine.learn_rate_coef == (0.5 if number in changed else 1)
        assert affine.bias_learn_rate_coef == (0.25 if number in changed else 1)


@pytest.mark.parametrize("where", ["0:2", "3:5", "2:1", "a", "1:2:3", "1,,2"])
def test_components_that_are_not_there(where):
    with pytest.raises(InputError, match="within 1:4"):
        nnet_edit.set_learn_rates(_net(), where)


def test_cmvn():
    feats = np.random.default_rng(0).normal(3, 5, size=(500, 2)).astype(np.float32)
    wide = feats.astype(np.float64)
    stats = np.zeros((2, 3))
    stats[0, :2], stats[0, 2], stats[1, :2] = wide.sum(0), 500, (wide**2).sum(0)
    normal = nnet_edit.cmvn_to_nnet(stats, std_dev=0.5).propagate(feats)
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(normal.std(axis=0), 0.5, rtol=1e-5)


def test_cmvn_of_a_constant_is_floored():
    stats = np.array([[4.0, 2.0], [8.0, 0.0]])
    _, scale = nnet_edit.cmvn_to_nnet(stats, var_floor=0.25).components
    assert scale.data.tolist() == [2]
    assert scale.learn_rate_coef == 0


@pytest.mark.parametrize("stats", [np.zeros((2, 3)), np.zeros((1, 3)), np.zeros(3)])
def test_cmvn_statistics_that_are_none(stats):
    with pytest.raises(InputError, match="CMVN statistics"):
        nnet_edit.cmvn_to_nnet(stats)


def test_a_matrix_and_a_shift():
    nnet = nnet_edit.transf_to_nnet(np.array([[1.0, 2], [0, 1]]), np.array([1.0, -1]))
    assert nnet.propagate(np.array([[1, 10]])).tolist() == [[22, 9]]
    assert [c.marker for c in nnet.components] == ["<LinearTransform>", "<AddShift>"]
    with pytest.raises(InputError, match="a matrix is taken"):
        nnet_edit.transf_to_nnet(np.zeros(3))
    with pytest.raises(InputError, match=r"\(1,\) is taken"):
        nnet_edit.transf_to_nnet(np.zeros((1, 3)), np.zeros(2))


def test_edits_leave_their_network_alone():
    nnet = Nnet([components.AddShift(1, 1, np.zeros(1, np.float32))])
    nnet_edit.set_learn_rates(nnet, coef=7)
    assert nnet.components[0].learn_rate_coef == 1


@pytest.mark.parametrize(
    "where, kept", [("1:2,4", [0, 1, 3]), ("2", [1]), ("3,2", [1, 2]), ("", range(4))]
)
def test_components_that_are_kept(where, kept):
    nnet = _net(outputs=4)
    found = nnet_edit.keep_components(nnet, where)
    assert [c.marker for c in found.components] == [
        nnet.components[i].marker for i in kept
    ]


@pytest.mark.parametrize(
    "where, message",
    [
        ("5", "'5' is not a number or first:last within 1:4"),
        ("x", "'x' is not a number"),
        ("1,4", "<AffineTransform> puts out 4 numbers a frame, but the next"),
    ],
)
def test_components_that_cannot_be_kept(where, message):
    first, second = _net(3, 4), _net(5, 2)
    nnet = Nnet([*first.components[:3], second.components[0]])
    with pytest.raises(InputError, match=message):
        nnet_edit.keep_components(nnet, where)


def _rbm(hidden_type):
    weights = np.array([[1, 2], [0, 1], [3, 0]], np.float32)
    biases = np.array([9, 9], np.float32), np.array([0.5, 0, -1], np.float32)
    return components.Rbm(2, 3, "gauss", hidden_type, weights, *biases)


@pytest.mark.parametrize("hidden_type", ["bern", "gauss"])
def test_an_rbm_as_layers(hidden_type):
    rbm = _rbm(hidden_type)
    nnet = nnet_edit.rbm_to_nnet(Nnet([rbm]))
    assert len(nnet.components) == (2 if hidden_type == "bern" else 1)
    feats = np.array([[1, -1]], np.float32)
    assert np.array_equal(nnet.propagate(feats), rbm.propagate(feats))
    affine = nnet.components[0]
    assert (affine.learn_rate_coef, affine.bias_learn_rate_coef) == (1, 1)


def test_only_rbms_are_converted():
    with pytest.raises(InputError, match="component 2 is <Sigmoid>; networks of <Rbm>"):
        nnet_edit.rbm_to_nnet(Nnet([_rbm("bern"), components.Sigmoid(3, 3)]))
