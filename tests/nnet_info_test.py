import numpy as np
import pytest

from seqzoo.zoo.checkpoints import components, nnet1, nnet_info


def _affine(inputs, outputs):
    return components.AffineTransform(
        inputs,
        outputs,
        np.zeros((outputs, inputs), np.float32),
        np.zeros(outputs, np.float32),
    )


def test_moments_by_hand():
    # Mean 2, squares 4 0 4, cubes -8 0 8, fourth powers 16 0 16.
    assert nnet_info.moments(np.array([0.0, 2.0, 4.0])) == (
        "( min 0, max 4, mean 2, variance 2.66667, skewness 0, kurtosis -1.5 )"
    )


def test_moments_with_the_deviation():
    assert nnet_info.stddev_moments(np.array([0.0, 2.0, 4.0])) == (
        "( min 0, max 4, mean 2, stddev 1.63299, skewness 0, kurtosis -1.5 )"
    )


@pytest.mark.parametrize("size", [10, 100_000])
def test_skewness_and_kurtosis_of_equal_numbers_are_not_numbers(size):
    assert nnet_info.moments(np.full(size, 0.5, np.float32)) == (
        "( min 0.5, max 0.5, mean 0.5, variance 0, skewness -nan, kurtosis -nan )"
    )


@pytest.mark.parametrize("size", [10, 100_000])
def test_weights_that_are_not_numbers_show(size):
    weights = np.zeros(size, np.float32)
    weights[3] = np.nan
    assert nnet_info.stddev_moments(weights).startswith(
        "( min -nan, max -nan, mean -nan"
    )
    weights[3] = np.inf
    assert "max inf, mean inf" in nnet_info.stddev_moments(weights)


def test_moments_of_nothing():
    assert "mean -nan" in nnet_info.moments(np.zeros((0, 3), np.float32))


def test_small_and_large_arrays_agree(monkeypatch):
    values = np.random.default_rng(1).gamma(2, size=5000).astype(np.float32)
    small = nnet_info.compute(values)
    monkeypatch.setattr(nnet_info, "_SMALL", 0)
    monkeypatch.setattr(nnet_info, "_CHUNK", 999)
    large = nnet_info.compute(values)
    for name in ("min", "max", "mean", "variance", "skewness", "kurtosis"):
        assert getattr(small, name) == pytest.approx(getattr(large, name), rel=1e-4)
    assert large.kurtosis == pytest.approx(3, abs=1)


def test_large_arrays_keep_their_digits():
    values = np.full(300_000, 1000.0, np.float32)
    values[::2] += 1
    found = nnet_info.compute(values)
    assert found.mean == pytest.approx(1000.5, rel=1e-12)
    assert found.variance == pytest.approx(0.25, rel=1e-9)


def test_feature_transform():
    nnet = nnet1.Nnet(
        [
            components.Splice(40, 440, list(range(-5, 6))),
            components.AddShift(440, 440, np.zeros(440, np.float32), 0.0),
            components.Rescale(440, 440, np.ones(440, np.float32), 0.0),
        ]
    )
    lines = nnet_info.info(nnet).splitlines()
    assert lines[:6] == [
        "num-components 3",
        "input-dim 40",
        "output-dim 440",
        "number-of-parameters 0.00088 millions",
        "component 1 : <Splice>, input-dim 40, output-dim 440, ",
        "  frame_offsets [ -5 -4 -3 -2 -1 0 1 2 3 4 5 ]",
    ]
    assert lines[6] == "component 2 : <AddShift>, input-dim 440, output-dim 440, "
    assert lines[7].startswith("  shift_data ( min 0, max 0, mean 0, stddev 0, ")
    assert lines[9].startswith("  scale_data ( min 1, max 1, mean 1, stddev 0, ")
    assert lines[9].endswith(" , lr-coef 0")


def test_six_hidden_layers():
    dims = [440] + [2048] * 6 + [3370]
    layers = []
    for number, (inputs, outputs) in enumerate(zip(dims, dims[1:], strict=False)):
        layers.append(_affine(inputs, outputs))
        kind = components.Softmax if number == 6 else components.Sigmoid
        layers.append(kind(outputs, outputs))
    text = nnet_info.info(nnet1.Nnet(layers))
    assert text.startswith(
        "num-components 14\ninput-dim 440\noutput-dim 3370\n"
        "number-of-parameters 28.7901 millions\n"
        "component 1 : <AffineTransform>, input-dim 440, output-dim 2048, \n"
        "  linearity ( min 0, max 0, "
    )
    assert text.endswith(
        "component 14 : <Softmax>, input-dim 3370, output-dim 3370, \n"
    )
