"""Random numbers for new weights: NumPy's, or those of Kaldi's C library."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from typing import Protocol

import numpy as np


class Draws(Protocol):
    """A source of random float32 arrays."""

    def gauss(self, *shape: int) -> np.ndarray:
        """Numbers from the normal distribution of mean 0 and deviation 1."""

    def uniform(self, *shape: int) -> np.ndarray:
        """Numbers spread evenly over 0 to 1."""


class NumpyDraws:
    """The default: fast, and the same for the same seed on every machine."""

    def __init__(self, seed: int):
        self._generator = np.random.default_rng(seed)

    def gauss(self, *shape: int) -> np.ndarray:
        return self._generator.standard_normal(shape, np.float32)

    def uniform(self, *shape: int) -> np.ndarray:
        return self._generator.random(shape, np.float32)


class KaldiDraws:
    """The numbers that nnet-initialize draws with `--seed` on a GNU system.

    There `rand()` is an additive generator, `r[i] = r[i-3] + r[i-31]` modulo
    2^32, of which the upper 31 bits come out. A normal number takes two of
    them, `sqrt(-2 log u1) cos(2 pi u2)`, in reading order of the matrix.
    """

    def __init__(self, seed: int):
        word = seed % 2**32 or 1
        word -= 2**32 if word >= 2**31 else 0
        words = [word % 2**32]
        for _ in range(30):
            # The C library divides towards zero, so the sign follows `word`.
            high = int(word / 127773)
            word = 16807 * (word - high * 127773) - 2836 * high
            word += 2**31 - 1 if word < 0 else 0
            words.append(word)
        # The first three new words repeat the oldest three.
        self._state = np.array(words[3:] + words[:3], np.uint32)
        self._left = np.empty(0, np.uint32)
        self._words(310)

    def rand(self) -> int:
        """The next value of `rand()`."""
        return int(self._words(1)[0])

    def _words(self, count: int) -> np.ndarray:
        """The next `count` values of `rand()`."""
        blocks = [self._left]
        have = len(self._left)
        block = np.zeros(36, np.uint32)
        while have < count:
            block[:3] = self._state[-3:]
            block[3:34] = self._state
            rows = np.add.accumulate(block.reshape(12, 3), axis=0, dtype=np.uint32)
            self._state = rows.reshape(-1)[3:34]
            blocks.append(self._state)
            have += 31
        values = np.concatenate(blocks)
        self._left = values[count:]
        return values[:count] >> 1

    def uniform(self, *shape: int) -> np.ndarray:
        words = self._words(int(np.prod(shape)))
        return (words.astype(np.float32) / np.float32(2**31)).reshape(shape)

    def gauss(self, *shape: int) -> np.ndarray:
        words = self._words(2 * int(np.prod(shape)))
        # Never 0 nor 1, unlike `uniform`, and divided before it is rounded.
        pairs = ((words + 1.0) / (2.0**31 + 1)).astype(np.float32).reshape(*shape, 2)
        log = _as_in_c("logf", np.log, pairs[..., 0], 0.33)
        angle = (2 * np.pi * pairs[..., 1].astype(np.float64)).astype(np.float32)
        return np.sqrt(-2 * log) * _as_in_c("cosf", np.cos, angle, 0.07)


def _as_in_c(name: str, function: np.ufunc, x: np.ndarray, doubt: float) -> np.ndarray:
    """`function` of float32 `x`, to the last bit as the C library's `name` rounds it.

    That is the exact value rounded, except near the middle between two float32:
    those within `doubt` of it, in units of the last place, are left to C.
    """
    exact = function(x, dtype=np.float64)
    result = exact.astype(np.float32)
    in_c = _c_function(name)
    if in_c is not None:
        off = np.abs(exact - result) / np.spacing(np.abs(result))
        near = np.abs(off - 0.5) < doubt
        result[near] = list(map(in_c, x[near].tolist()))
    return result


def _c_function(name: str) -> Callable[[float], float] | None:
    path = ctypes.util.find_library("m")
    try:
        function = getattr(ctypes.CDLL(path), name)
    except (OSError, AttributeError):
        return None
    function.restype = ctypes.c_float
    function.argtypes = [ctypes.c_float]
    return function
