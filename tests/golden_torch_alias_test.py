"""Alias tables and draws equal those that Torch made."""

import pathlib

import numpy as np
import pytest

from seqzoo.layers.alias_sampler import alias_table

_TORCH = pathlib.Path(__file__).parent / "goldens" / "torch"


def _cases():
    for path in sorted(_TORCH.glob("alias*.npz")):
        with np.load(path) as case:
            for name in sorted(case.files):
                if name.startswith("p"):
                    yield pytest.param(path, name[1:], id=f"{path.stem}:{name}")


@pytest.mark.parametrize("path, name", list(_cases()))
def test_golden_torch_alias(path, name):
    with np.load(path) as case:
        table = alias_table(case["p" + name])
        assert table.keep.dtype == case["q" + name].dtype
        np.testing.assert_array_equal(table.keep, case["q" + name])
        other = case["J" + name]
        paired = other > 0
        np.testing.assert_array_equal(table.other[paired] + 1, other[paired])
        assert (table.keep[~paired] == 1).all()
        if "seed" + name not in case:
            return
        random = np.random.RandomState(int(case["seed" + name][0]))
        for draws in (case["draw" + name], case[f"draw{name}_second"]):
            np.testing.assert_array_equal(table.draw(random, draws.shape) + 1, draws)
