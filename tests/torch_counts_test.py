"""Counts from the probabilities that Torch makes of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.language.torch_counts import whole_counts


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@settings(deadline=None)
@given(st.lists(st.integers(0, 5000), min_size=1).filter(any))
def test_counts_come_back_in_lowest_terms(dtype, counts):
    probs = np.array(counts, dtype) / np.array(sum(counts), dtype)
    found = whole_counts(probs, "x")
    assert found.dtype == np.int64
    np.testing.assert_allclose(found / found.sum(), probs, rtol=2e-7)
    lowest = np.array(counts) // math.gcd(*counts)
    # Fractions with larger denominators can be nearer than float32 tells apart.
    told_apart = dtype == "float64" or lowest.sum() <= 2000
    if told_apart and lowest[lowest > 0].min() <= 1000:
        np.testing.assert_array_equal(found, lowest)


def test_counts_that_others_come_near_by_two_roundings():
    counts = np.array([956, 4997], np.float32)  # 793 and 4,145 come so near.
    np.testing.assert_array_equal(whole_counts(counts / counts.sum(), "x"), counts)


def test_counts_of_the_size_of_the_benchmark():
    """The rarest words are seen three times, the marks 30 million times."""
    rng = np.random.default_rng(0)
    counts = np.minimum(3 / rng.uniform(size=200_000), 2e7).astype(np.int64)
    counts[-2:] = 30_301_028
    probs = (counts / counts.sum()).astype(np.float32)
    found = whole_counts(probs, "x")
    small = counts < 1 << 22
    np.testing.assert_array_equal(found[small], counts[small])
    np.testing.assert_allclose(found, counts, rtol=1e-7)
    np.testing.assert_allclose(found / found.sum(), probs, rtol=2e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_was_never_counted_is_scaled(dtype):
    probs = np.random.default_rng(1).exponential(size=2000).astype(dtype)
    probs[7] = 0
    probs /= probs.sum()
    found = whole_counts(probs, "x")
    assert found[7] == 0 and (found > 0).sum() == 1999
    np.testing.assert_allclose(found / found.sum(), probs, rtol=1e-6)


@pytest.mark.parametrize(
    "probs, told",
    [
        ([0.5, -0.5], "word 2 is -0.5"),
        ([math.nan, 1], "word 1 is nan"),
        ([0, math.inf], "word 2 is inf"),
        ([0, 0], "word 1 is 0; 0 or more is taken, and more for one word at least"),
    ],
)
def test_what_are_no_probabilities(probs, told):
    with pytest.raises(InputError, match=f"x.t7: the noise probability of {told}"):
        whole_counts(np.array(probs, np.float32), "x.t7")
