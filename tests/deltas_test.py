import numpy as np
import pytest

from seqzoo.datasets import deltas
from seqzoo.datasets.errors import InputError

RAMP = np.array([[1, 10], [2, 20], [4, 40], [7, 70], [11, 110]], np.float32)


def reference(feats, order, window):
    """One output number at a time, straight from the definition."""
    frames, dim = feats.shape
    slope = {
        j: j / sum(i * i for i in range(-window, window + 1))
        for j in range(-window, window + 1)
    }
    scales = {0: 1.0}
    result = [feats]
    for _ in range(order):
        new: dict[int, float] = {}
        for a, x in scales.items():
            for b, y in slope.items():
                new[a + b] = new.get(a + b, 0.0) + x * y
        scales = new
        out = np.zeros((frames, dim))
        for t in range(frames):
            for offset, scale in scales.items():
                out[t] += scale * feats[min(max(t + offset, 0), frames - 1)]
        result.append(out)
    return np.concatenate(result, axis=1)


def test_order_one_by_hand():
    # Frame 2: (-2 * 1 - 1 * 2 + 1 * 7 + 2 * 11) / 10 = 2.5.
    result = deltas.add_deltas(RAMP, order=1)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result[2], [4, 40, 2.5, 25], rtol=1e-6)


def test_the_end_frames_repeat():
    # Frame 0: (-2 * 1 - 1 * 1 + 1 * 2 + 2 * 4) / 10 = 0.7.
    np.testing.assert_allclose(
        deltas.add_deltas(RAMP, order=1)[0], [1, 10, 0.7, 7], rtol=1e-6
    )


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("frames", [1, 2, 5, 9])
def test_equals_the_definition(order, window, frames):
    feats = np.random.default_rng(1).normal(size=(frames, 3)).astype(np.float32)
    np.testing.assert_allclose(
        deltas.add_deltas(feats, order, window),
        reference(feats, order, window),
        rtol=1e-5,
        atol=1e-6,
    )


def test_truncate_keeps_the_first_dimensions():
    np.testing.assert_array_equal(
        deltas.add_deltas(RAMP, truncate=1), deltas.add_deltas(RAMP[:, :1])
    )


def test_no_frames():
    assert deltas.add_deltas(np.zeros((0, 4), np.float32)).shape == (0, 12)


def test_the_input_stays_as_it_is():
    feats = RAMP.copy()
    deltas.add_deltas(feats, order=0)[:] = 0
    np.testing.assert_array_equal(feats, RAMP)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"order": -1}, "order is at least 0"),
        ({"window": 0}, "window at least 1"),
        ({"truncate": 3}, "truncate is 3, but there are 2 dimensions"),
    ],
)
def test_impossible_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        deltas.add_deltas(RAMP, **arguments)


def test_options_are_read_as_kaldi_takes_them():
    options = deltas.Options.parse("--delta-order=1 --delta-window=3")
    assert options == deltas.Options(delta_order=1, delta_window=3, truncate=0)
    assert deltas.Options.parse("") == deltas.Options()
    with pytest.raises(InputError, match="did you mean --delta-order"):
        deltas.Options.parse("--delta-oder=1")
    with pytest.raises(InputError, match="takes int"):
        deltas.Options.parse("--delta-order=two")
