"""Compares a training run with one recorded from Kaldi."""

import pathlib
import re

import numpy as np

from seqzoo.zoo.checkpoints import keras_layers, nnet1

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"

_TOTAL = r"AvgLoss: .*|^progress: .*|^FRAME_ACCURACY.*"


def assert_same_report(sums, log: str) -> None:
    """The figures of a pass are those of a log, to the printed digits."""
    assert _lines(sums.report(), _TOTAL) == _lines(log, _TOTAL)
    ours = _lines(sums.per_class_report(), "^@@@ .*")
    for line, recorded in zip(ours, _lines(log, "^@@@ .*"), strict=True):
        assert line.split("[")[0] == recorded.split("[")[0]
        # Kaldi sums a class in float32, so the sixth digit may be the next one.
        theirs = np.array(_numbers(recorded))
        digit = 10 ** (np.floor(np.log10(np.maximum(theirs, 1e-30))) - 5)
        assert (np.abs(_numbers(line) - theirs) <= 1.01 * digit).all()


def assert_same_net(net, path: pathlib.Path) -> None:
    """Within 1e-4 of the largest weight of each matrix and vector."""
    expected = nnet1.read(str(path)).components
    found = keras_layers.to_nnet(net).components
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.marker == theirs.marker
        if not hasattr(theirs, "parameters"):
            continue
        for name, values in theirs.parameters().items():
            np.testing.assert_allclose(
                ours.parameters()[name],
                values,
                rtol=1e-4,
                atol=1e-4 * np.abs(values).max(),
                err_msg=f"{ours.marker} {name}",
            )


def _lines(log: str, pattern: str) -> list[str]:
    """The lines or ends of lines that match, without Kaldi's own line heads."""
    return re.findall(pattern, log, re.MULTILINE)


def _numbers(line: str) -> list[float]:
    return [float(word) for word in line.split("[")[1].split("]")[0].split()]
