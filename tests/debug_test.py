"""Statistics of a network: their text, their moments, and gradients by differences."""

import re

import numpy as np
import pytest

from seqzoo.zoo.checkpoints import keras_layers, nnet1, nnet_proto
from seqzoo.zoo.training import debug
from seqzoo.zoo.training.frame_trainer import use_bfloat16

PROTO = """
<AddShift> <InputDim> 3 <OutputDim> 3 <InitParam> 0.5 <LearnRateCoef> 0
<AffineTransform> <InputDim> 3 <OutputDim> 4 <BiasMean> 0 <BiasRange> 1 <ParamStddev> 1
<Tanh> <InputDim> 4 <OutputDim> 4
<LinearTransform> <InputDim> 4 <OutputDim> 3 <ParamStddev> 1
<Rescale> <InputDim> 3 <OutputDim> 3 <InitParam> 1.5
"""
SOFTMAX = "<Softmax> <InputDim> 3 <OutputDim> 3\n"

STATISTICS = re.compile(
    r"\( min (\S+), max (\S+), mean (\S+), variance (\S+), "
    r"skewness (\S+), kurtosis (\S+) \)"
)
LINE = re.compile(
    r"(?:\[(\d+)\] (output|diff-output) of (<\w+>) |  (\w+)_grad )"
    + STATISTICS.pattern
    + " "
)


def make(proto=PROTO + SOFTMAX):
    nnet = nnet_proto.initialize(proto, 3)
    return nnet, keras_layers.to_layers(nnet)


def batch(frames=6):
    random = np.random.default_rng(0)
    return {
        "inputs": random.normal(size=(frames, 3)).astype(np.float32),
        "ids": random.integers(0, 3, (frames, 1)).astype(np.int32),
        "values": np.ones((frames, 1), np.float32),
        "weights": random.uniform(0.5, 1.5, frames).astype(np.float32),
    }


def loss(nnet, objective, rows, start=0):
    """The summed loss by NumPy in float64, from component `start` on."""
    values = rows["inputs"].astype(np.float64)
    for component in nnet.components[start:]:
        values = component.propagate(values)
    t = np.eye(3)[rows["ids"][:, 0]]
    w = rows["weights"][:, np.newaxis]
    if objective == "xent":
        return -np.sum(w * t * np.log(values))
    return 0.5 * np.sum(w * (values - t) ** 2)


def moments(values):
    x = np.asarray(values, np.float64).ravel()
    d = x - x.mean()
    variance = np.mean(d**2)
    return [
        x.min(),
        x.max(),
        x.mean(),
        variance,
        np.mean(d**3) / variance**1.5,
        np.mean(d**4) / variance**2 - 3,
    ]


def test_outputs_are_those_of_the_network_in_numpy():
    nnet, net = make()
    inputs = batch()["inputs"]
    outputs = debug.activations(net, inputs)
    assert len(outputs) == 6
    for number, output in enumerate(outputs, 1):
        expected = nnet1.Nnet(nnet.components[:number]).propagate(inputs)
        np.testing.assert_allclose(output, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("objective", ["xent", "mse"])
def test_gradients_are_finite_differences(objective):
    nnet, net = make(PROTO + SOFTMAX if objective == "xent" else PROTO)
    rows = batch()
    found = debug.gradients(net, objective, rows)
    names = [list(parts) for parts in found.parameters]
    expected = [[], ["linearity", "bias"], [], ["linearity"], ["scale_data"], []]
    assert names == expected[: len(net)]
    for component, parts in zip(nnet.components, found.parameters, strict=True):
        for name, gradient in parts.items():
            values = component.parameters()[name]
            assert gradient.shape == values.shape
            wide = values.astype(np.float64)
            attribute = "data" if name == "scale_data" else name
            setattr(component, attribute, wide)
            for at in np.ndindex(values.shape):
                ends = []
                for step in (1e-5, -1e-5):
                    wide[at] += step
                    ends.append(loss(nnet, objective, rows))
                    wide[at] -= step
                slope = (ends[0] - ends[1]) / 2e-5
                assert gradient[at] == pytest.approx(slope, rel=1e-3, abs=1e-4)
            setattr(component, attribute, values)


@pytest.mark.parametrize("objective", ["xent", "mse"])
def test_what_is_sent_back_are_finite_differences(objective):
    nnet, net = make(PROTO + SOFTMAX if objective == "xent" else PROTO)
    rows = batch(2)
    found = debug.gradients(net, objective, rows)
    assert len(found.diffs) == 5  # The final Softmax is the loss's.
    outputs = debug.activations(net, rows["inputs"])
    for number, diff in enumerate(found.diffs, 1):
        x = outputs[number - 1].astype(np.float64)
        assert diff.shape == x.shape
        for at in np.ndindex(x.shape):
            ends = []
            for step in (1e-5, -1e-5):
                x[at] += step
                ends.append(loss(nnet, objective, {**rows, "inputs": x}, number))
                x[at] -= step
            slope = (ends[0] - ends[1]) / 2e-5
            assert diff[at] == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_the_text_of_fourteen_components():
    """The form of Kaldi's own log of a DNN of six hidden layers, line for line."""
    proto = ""
    for width in [3, 4, 4, 4, 4, 4]:
        proto += (
            f"<AffineTransform> <InputDim> {width} <OutputDim> 4 <ParamStddev> 1\n"
            "<Sigmoid> <InputDim> 4 <OutputDim> 4\n"
        )
    proto += "<AffineTransform> <InputDim> 4 <OutputDim> 3 <ParamStddev> 1\n" + SOFTMAX
    _, net = make(proto)
    text = debug.statistics(net, "xent", batch())
    body = ["<AffineTransform>", "<Sigmoid>"] * 6 + ["<AffineTransform>", "<Softmax>"]
    forward, backward, gradients = text.split("###")[1:]

    heads = [part.splitlines()[0] for part in (forward, backward, gradients)]
    assert heads == [
        " Forward propagation buffer content :",
        " Backward propagation buffer content :",
        " Gradient stats :",
    ]
    found = [LINE.fullmatch(line).groups() for line in forward.splitlines()[1:16]]
    assert [(int(n), what, name) for n, what, name, *_ in found] == [
        (n, "output", name) for n, name in enumerate(["<Input>", *body], 1)
    ]
    assert forward.splitlines()[16:] == [""]
    found = [LINE.fullmatch(line).groups() for line in backward.splitlines()[1:14]]
    assert [(int(n), what, name) for n, what, name, *_ in found] == [
        (n, "diff-output", name) for n, name in enumerate(body[:-1], 1)
    ]
    assert backward.splitlines()[14:] == [""]
    lines = iter(gradients.splitlines()[1:])
    for number, name in enumerate(body, 1):
        assert next(lines) == f"Component {number} : {name}, "
        if name == "<AffineTransform>":
            for part in ("linearity", "bias"):
                assert LINE.fullmatch(next(lines))[4] == part
    assert next(lines, None) is None
    # One expression finds all numbers: 15 + 13 + 2 * 7 lines of them.
    assert len(STATISTICS.findall(text)) == 42


def test_the_numbers_in_the_text_are_the_moments():
    _, net = make()
    rows = batch(50)
    text = debug.statistics(net, "xent", rows)
    found = debug.gradients(net, "xent", rows)
    arrays = [rows["inputs"], *debug.activations(net, rows["inputs"]), *found.diffs]
    arrays += [gradient for parts in found.parameters for gradient in parts.values()]
    printed = [[float(n) for n in numbers] for numbers in STATISTICS.findall(text)]
    assert len(printed) == len(arrays)
    for numbers, array in zip(printed, arrays, strict=True):
        np.testing.assert_allclose(numbers, moments(array), rtol=2e-4, atol=2e-6)


def test_normal_data_has_no_skewness_and_no_excess_kurtosis():
    _, net = make()
    text = debug.statistics(net, "xent", batch(20000))
    *_, variance, skewness, kurtosis = map(float, STATISTICS.search(text).groups())
    n = 60000
    assert abs(variance - 1) < 3 * np.sqrt(2 / n)
    assert abs(skewness) < 3 * np.sqrt(6 / n)
    assert abs(kurtosis) < 3 * np.sqrt(24 / n)


def test_a_network_that_computes_in_bfloat16_has_all_gradients():
    _, net = make()
    _, plain = make()
    use_bfloat16(net)
    rows = batch()
    found, wanted = (debug.gradients(n, "xent", rows) for n in (net, plain))
    for ours, theirs in zip(found.parameters, wanted.parameters, strict=True):
        assert list(ours) == list(theirs)
        for name, gradient in ours.items():
            assert gradient.dtype == np.float32
            size = np.abs(theirs[name]).max()
            np.testing.assert_allclose(gradient, theirs[name], atol=0.1 * size)
    assert "linearity_grad" in debug.statistics(net, "xent", rows)


def test_a_network_of_one_component():
    _, net = make("<AffineTransform> <InputDim> 3 <OutputDim> 3 <ParamStddev> 1\n")
    found = debug.gradients(net, "mse", batch())
    assert len(found.diffs) == 1
    assert list(found.parameters[0]) == ["linearity", "bias"]


def test_nothing_is_updated():
    nnet, net = make()
    debug.statistics(net, "xent", batch())
    assert nnet1.to_bytes(keras_layers.to_nnet(net)) == nnet1.to_bytes(nnet)
