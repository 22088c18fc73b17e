"""The text of nnet-info: what a network is made of and how its weights are spread."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from seqzoo.zoo.checkpoints.nnet1 import Nnet

_SMALL = 1 << 14  # elements
_CHUNK = 1 << 15  # elements: the copies of a chunk stay in the cache


@dataclasses.dataclass(frozen=True)
class Moments:
    """How the numbers of an array are spread; kurtosis is 0 for a normal one."""

    min: float
    max: float
    mean: float
    variance: float
    skewness: float
    kurtosis: float


def compute(array: np.ndarray) -> Moments:
    """The moments of all numbers of `array`.

    With `d = x - mean`: variance is `mean(d^2)`, skewness
    `mean(d^3) / variance^1.5`, kurtosis `mean(d^4) / variance^2 - 3`. Where all
    numbers are equal the last two are NaN, as they are for an empty array.

    Small arrays are summed as nnet-info sums them, in float32 and in order, so
    that all digits it prints are the same; large ones, where that would cost
    digits, in two passes over chunks whose sums are added in float64.
    """
    flat = np.asarray(array).reshape(-1)
    if not flat.size:
        return Moments(*[math.nan] * 6)
    with np.errstate(all="ignore"):
        return _small(flat) if flat.size <= _SMALL else _large(flat)


def _small(flat: np.ndarray) -> Moments:
    values = flat.astype(np.float32)
    size = np.float32(values.size)

    def total(terms: np.ndarray) -> np.float32:
        return np.add.accumulate(terms)[-1]

    mean = total(values) / size
    first = values - mean
    powers = first * first
    variance = total(powers) / size
    powers *= first
    skewness = np.float32(
        np.float64(total(powers)) / np.float64(variance) ** 1.5 / values.size
    )
    powers *= first
    kurtosis = total(powers) / (variance * variance) / size - np.float32(3)
    found = (values.min(), values.max(), mean, variance, skewness, kurtosis)
    return Moments(*map(float, found))


def _large(flat: np.ndarray) -> Moments:
    chunks = [flat[i : i + _CHUNK] for i in range(0, flat.size, _CHUNK)]
    low, high = float(flat.min()), float(flat.max())
    # In float32 a chunk stays in the cache, and its sums keep seven digits; fourth
    # powers of huge numbers need float64.
    kind: Any = np.float32 if max(-low, high) < 1e8 else np.float64
    mean = sum(float(c.sum(dtype=kind)) for c in chunks) / flat.size
    sums = np.zeros(3)
    for chunk in chunks:
        first = chunk.astype(kind)
        first -= kind(mean)
        second = first * first
        sums += second.sum(), second @ first, second @ second
    variance, third, fourth = sums / flat.size
    if low == high:
        variance = np.float64(0)
    skewness, kurtosis = third / variance**1.5, fourth / variance**2 - 3
    if low == high:
        skewness = kurtosis = math.nan
    found = (low, high, mean, variance, skewness, kurtosis)
    return Moments(*map(float, found))


def _number(value: float) -> str:
    """Six significant digits; NaN as C++ streams print the 0 / 0 of constant data."""
    return "-nan" if math.isnan(value) else f"{value:g}"


def moments(array: np.ndarray) -> str:
    """`( min .., max .., mean .., variance .., skewness .., kurtosis .. )`.

    The form of the statistics that training logs print for buffers and gradients.
    """
    found = dataclasses.asdict(compute(array))
    return f"( {', '.join(f'{k} {_number(v)}' for k, v in found.items())} )"


def stddev_moments(array: np.ndarray) -> str:
    """The same with the standard deviation in place of the variance, as nnet-info."""
    found = dataclasses.asdict(compute(array))
    found = {"stddev" if k == "variance" else k: v for k, v in found.items()}
    found["stddev"] = math.sqrt(found["stddev"])
    return f"( {', '.join(f'{k} {_number(v)}' for k, v in found.items())} )"


def info(nnet: Nnet) -> str:
    """What nnet-info prints about `nnet`, without its log lines."""
    lines = [
        f"num-components {len(nnet.components)}",
        f"input-dim {nnet.input_dim}",
        f"output-dim {nnet.output_dim}",
        f"number-of-parameters {nnet.num_parameters() / 1e6:g} millions",
    ]
    for number, component in enumerate(nnet.components, 1):
        lines.append(
            f"component {number} : {component.marker}, "
            f"input-dim {component.input_dim}, output-dim {component.output_dim}, "
            f"{component.info()}"
        )
    return "\n".join(lines) + "\n"
