"""Runs recorded from Kaldi: their commands, and what came out, to compare with."""

import pathlib
import re
import shlex

import numpy as np
import tensorflow as tf

from seqzoo import layers
from seqzoo.zoo.checkpoints import components, keras_layers, nnet1

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"


def cases(tools: str, *files: str) -> list[str]:
    """The cases whose README has a command of some tools, and that have some files.

    Args:
        tools: a regular expression.
        files: names.
    """
    return sorted(
        readme.parent.name
        for readme in GOLDENS.glob("train_*/README")
        if re.search(f"^(?:{tools}) ", readme.read_text(), re.MULTILINE)
        and all((readme.parent / name).exists() for name in files)
    )


class RecordedRun:
    """One recorded command with its files.

    Args:
        case: its folder.
        tools: as of `cases`.

    Attributes:
        tool: its name.
        options: by name.
        words: what else it was given.
    """

    def __init__(self, case: str, tools: str):
        self.folder = GOLDENS / case
        text = (self.folder / "README").read_text()
        command = re.search(f"^(?:{tools}) .*$", text, re.MULTILINE)[0]
        self.tool, *words = shlex.split(command)
        self.options = dict(w[2:].split("=", 1) for w in words if w.startswith("--"))
        self.words = [w for w in words if not w.startswith("--")]

    def number(self, option: str, default: float) -> float:
        return float(self.options.get(option, default))

    def table(self, rspecifier: str | None) -> str | None:
        if rspecifier is None:
            return None
        kind, name = rspecifier.split(":", 1)
        return f"{kind}:{self.folder / name}"

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def net(self, name: str, **options) -> list:
        """The layers of a network in its folder."""
        return keras_layers.to_layers(nnet1.read(str(self.folder / name)), **options)

    def transform(self) -> list:
        """The layers of --feature-transform."""
        name = self.options.get("feature-transform")
        return [] if name is None else self.net(name, trainable=False)

    def optimizer(self) -> layers.KaldiSGD:
        return layers.KaldiSGD(
            self.number("learn-rate", 0.008),
            self.number("momentum", 0),
            self.number("l1-penalty", 0),
            self.number("l2-penalty", 0),
        )

    def permutation(self):
        """The recorded shuffle, one line a filling of the buffer; None if there is
        none."""
        if not (self.folder / "mask.txt").exists():
            return None
        lines = self.read("mask.txt").splitlines()
        rows = tf.ragged.constant([[int(i) for i in line.split()] for line in lines])

        def recorded(number, frames):
            tf.debugging.assert_equal(tf.size(rows[number]), frames)
            return rows[number]

        return recorded


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


def assert_same_counts(found: list[int], log: str) -> None:
    """Utterances done, without targets and with other errors are those of a log."""
    counts = re.search(r"Done (\d+) files, (\d+) with no tgt_mats, (\d+) with", log)
    assert found == [int(count) for count in counts.groups()]


def assert_same_net(net, path: pathlib.Path) -> None:
    """Within 1e-4 of the largest weight of each matrix and vector."""
    _assert_same(keras_layers.to_nnet(net), nnet1.read(str(path)))


def _assert_same(found: nnet1.Nnet, expected: nnet1.Nnet) -> None:
    for ours, theirs in zip(found.components, expected.components, strict=True):
        assert ours.marker == theirs.marker
        if isinstance(theirs, components.NestedComponent):
            for one, other in zip(ours.nets, theirs.nets, strict=True):
                _assert_same(one, other)
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
