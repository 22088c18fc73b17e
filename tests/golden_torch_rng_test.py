"""Numbers that Torch drew: torch_rng*.npz."""

import itertools
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.zoo.language import sample

_TORCH = pathlib.Path(__file__).parent / "goldens" / "torch"


@pytest.fixture(params=sorted(_TORCH.glob("torch_rng*.npz")), ids=lambda p: p.stem)
def case(request):
    return dict(np.load(request.param))


def numbers(seed, count):
    return np.array(list(itertools.islice(sample.uniform_numbers(seed), count)))


def test_golden_torch_uniform_numbers(case):
    checked = 0
    for key, values in case.items():
        if key.startswith("uniform_double"):
            low, high = map(float, key.split("_")[2:])
            found = numbers(int(case["seed"][0]), len(values)) * (high - low) + low
            np.testing.assert_allclose(found, values, rtol=1e-13)
            checked += 1
    assert checked


def test_golden_torch_multinomial_draws(case):
    probs, draws = case["multinomial_p"], case["multinomial_draws"]
    # These were drawn after a seed of their own, the next one.
    given = numbers(int(case["seed"][0]) + 1, len(draws))
    one = tf.constant(1.0, tf.float64)
    found = [
        int(sample.draw(tf.math.log(probs), one, 0, tf.constant(number)))
        for number in given
    ]
    assert found == draws.tolist()
