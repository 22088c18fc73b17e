"""How often words were seen, from the probabilities that Torch keeps of it."""

import numpy as np

from seqzoo.datasets.errors import InputError

_MOST = 1000  # Counts tried for the rarest word.
_FEW = 256  # Words tried first.
_DIGITS = 24  # Bits that scaled counts have at least.


def whole_counts(probs: np.ndarray, name: str) -> np.ndarray:
    """Counts in proportion to probabilities: those they were made of, if that is seen.

    NCEModule divides the counts by their sum and keeps nothing else. The rarest word
    was seen a whole number of times, in most texts a small one; the first number that
    makes whole numbers of all counts, within the rounding of the probabilities, is it.
    Where none does, counts are as good as large whole numbers make them.

    Args:
        probs: (words,), float32 or float64; 0 for words never seen.
        name: begins errors.

    Returns:
        (words,) int64.

    Raises:
        InputError: if these are no probabilities.
    """
    given = np.asarray(probs, np.float64)
    wrong = ~(given >= 0) | ~np.isfinite(given)
    if wrong.any() or not given.any():
        word = int(np.argmax(wrong)) + 1 if wrong.any() else 1
        raise InputError(
            f"{name}: the noise probability of word {word} is {given[word - 1]:g}; "
            "0 or more is taken, and more for one word at least."
        )
    # Half a digit for the sum, half a one for the quotient, and as much for our own.
    rounding = float(np.finfo(probs.dtype).eps + np.finfo(np.float64).eps)
    rarest = given[given > 0].min()
    few = np.sort(given[given > 0])[:_FEW]
    for count in range(1, _MOST + 1):
        total = count / rarest
        if not _fits(few, total, 2 * rounding):  # That of the rarest adds to theirs.
            continue
        for _ in range(3):  # The sum of all is exact, if the first total nearly is.
            counts = np.rint(given * total)
            total = counts.sum()
        # But not where the greatest counts have more digits than the probabilities.
        exact = counts.max() * rounding < 0.5
        if _fits(given, total, rounding if exact else 2 * rounding):
            return counts.astype(np.int64)
    return np.rint(given * min(2.0**_DIGITS / rarest, 2.0**52)).astype(np.int64)


def _fits(probs: np.ndarray, total: float, rounding: float) -> bool:
    """Whether `probs` are whole numbers over `total`, but for their rounding."""
    counts = np.rint(probs * total)
    return bool(np.all(np.abs(counts / total - probs) <= rounding * probs))
