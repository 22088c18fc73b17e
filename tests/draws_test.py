import numpy as np
import pytest

from seqzoo.zoo.checkpoints import draws


@pytest.mark.parametrize("kind", [draws.NumpyDraws, draws.KaldiDraws])
def test_a_seed_gives_the_same_numbers(kind):
    assert np.array_equal(kind(7).gauss(3, 4), kind(7).gauss(3, 4))
    assert not np.array_equal(kind(7).gauss(3, 4), kind(8).gauss(3, 4))


@pytest.mark.parametrize("kind", [draws.NumpyDraws, draws.KaldiDraws])
def test_the_distributions(kind):
    source = kind(777)
    normal, even = source.gauss(200, 200), source.uniform(40_000)
    assert normal.dtype == even.dtype == np.float32
    assert normal.shape == (200, 200)
    assert abs(normal.mean()) < 3 / 200
    assert abs(normal.std() - 1) < 3 / 200 / np.sqrt(2)
    assert 0 <= even.min() and even.max() <= 1
    assert abs(even.mean() - 0.5) < 3 / 200 / np.sqrt(12)


def test_numbers_of_the_gnu_c_library():
    # rand() after srand(1) is known from any GNU system.
    first = [1804289383, 846930886, 1681692777, 1714636915, 1957747793]
    assert draws.KaldiDraws(1)._words(5).tolist() == first
    assert draws.KaldiDraws(0)._words(5).tolist() == first


def test_draws_in_pieces_are_those_of_one_draw():
    whole, pieces = draws.KaldiDraws(3), draws.KaldiDraws(3)
    parts = [pieces.uniform(size) for size in (1, 30, 31, 2, 100)]
    assert np.array_equal(np.concatenate(parts), whole.uniform(164))
