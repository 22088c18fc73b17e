"""Replays recorded runs of nnet-train-frmshuff: `tests/goldens/kaldi/train_*`.

Each folder's README holds the command; its options, the initial network and the
data drive the run, and the final network and the log are what must come out. A new
recorded run is tested by dropping its folder in.
"""

import pathlib
import re
import shlex

import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets import frame_blocks, frame_records
from seqzoo.datasets.utterances import Utterances
from seqzoo.zoo.checkpoints import keras_layers, nnet1
from seqzoo.zoo.training import frame_data
from seqzoo.zoo.training.frame_trainer import FrameTrainer

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"
CASES = sorted(
    readme.parent.name
    for readme in GOLDENS.glob("train_*/README")
    if re.search(r"^nnet-train-frmshuff ", readme.read_text(), re.MULTILINE)
)


class Run:
    """One recorded command with its files."""

    def __init__(self, case: str):
        self.folder = GOLDENS / case
        text = (self.folder / "README").read_text()
        command = re.search(r"^nnet-train-frmshuff .*$", text, re.MULTILINE)[0]
        words = shlex.split(command)[1:]
        self.options = dict(w[2:].split("=", 1) for w in words if w.startswith("--"))
        feats, targets, *_ = [w for w in words if not w.startswith("--")]
        self.utterances = Utterances(
            self.table(feats),
            self.table(targets),
            frame_weights=self.table(self.options.get("frame-weights")),
            utt_weights=self.table(self.options.get("utt-weights")),
        )
        self.minibatch_size = int(self.options.get("minibatch-size", 256))

    def table(self, rspecifier: str | None) -> str | None:
        if rspecifier is None:
            return None
        kind, name = rspecifier.split(":", 1)
        return f"{kind}:{self.folder / name}"

    def number(self, option: str, default: float) -> float:
        return float(self.options.get(option, default))

    def fillings(self) -> tf.data.Dataset:
        blocks = list(
            frame_blocks.blocks(
                self.utterances,
                int(self.number("randomizer-size", 32768)),
                self.minibatch_size,
            )
        )
        transform = []
        if "feature-transform" in self.options:
            read = nnet1.read(str(self.folder / self.options["feature-transform"]))
            transform = keras_layers.to_layers(read, trainable=False)
        return frame_data.fillings(
            frame_records.stream(lambda: blocks, blocks[0].feats.shape[1]),
            transform,
            self.minibatch_size,
            self.permutation(),
            drop_tail=True,
        )

    def permutation(self):
        """The recorded shuffle, one line a filling of the buffer."""
        masks = self.folder / "mask.txt"
        if not masks.exists():
            return None
        lines = masks.read_text().splitlines()
        rows = tf.ragged.constant([[int(i) for i in line.split()] for line in lines])

        def recorded(number, frames):
            tf.debugging.assert_equal(tf.size(rows[number]), frames)
            return rows[number]

        return recorded

    def trainer(self, net) -> FrameTrainer:
        optimizer = layers.KaldiSGD(
            self.number("learn-rate", 0.008),
            self.number("momentum", 0),
            self.number("l1-penalty", 0),
            self.number("l2-penalty", 0),
        )
        return FrameTrainer(
            net,
            self.options.get("objective-function", "xent"),
            optimizer,
            self.minibatch_size,
            int(self.number("loss-report-frames", 1_800_000)),
        )


def _lines(log: str, pattern: str) -> list[str]:
    """The lines or ends of lines that match, without Kaldi's own line heads."""
    return re.findall(pattern, log, re.MULTILINE)


def _assert_summary(sums, log: str):
    total = r"AvgLoss: .*|^progress: .*|^FRAME_ACCURACY.*"
    assert _lines(sums.report(), total) == _lines(log, total)
    ours = _lines(sums.per_class_report(), "^@@@ .*")
    for line, recorded in zip(ours, _lines(log, "^@@@ .*"), strict=True):
        assert line.split("[")[0] == recorded.split("[")[0]
        # Kaldi sums a class in float32, so the sixth digit may be the next one.
        theirs = np.array(_numbers(recorded))
        digit = 10 ** (np.floor(np.log10(np.maximum(theirs, 1e-30))) - 5)
        assert (np.abs(_numbers(line) - theirs) <= 1.01 * digit).all()


def _numbers(line: str) -> list[float]:
    return [float(word) for word in line.split("[")[1].split("]")[0].split()]


def _assert_equal(net, path):
    """Within 1e-4 of the largest weight of each matrix and vector."""
    expected = nnet1.read(str(path)).components
    for ours, theirs in zip(
        keras_layers.to_nnet(net).components, expected, strict=True
    ):
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


@pytest.mark.parametrize("case", CASES)
def test_golden_kaldi_training_ends_at_the_recorded_net(case):
    run = Run(case)
    net = keras_layers.to_layers(
        nnet1.read(str(run.folder / "init.nnet")), kaldi_gradients=True
    )
    sums = run.trainer(net).train(run.fillings())
    log = (run.folder / "train.log").read_text()
    _assert_equal(net, run.folder / "final.nnet")
    _assert_summary(sums, log)
    counts = re.search(r"Done (\d+) files, (\d+) with no tgt_mats, (\d+) with", log)
    told = run.utterances
    assert [told.num_done, told.no_targets, told.other_errors] == [
        int(count) for count in counts.groups()
    ]


@pytest.mark.parametrize(
    "case", [case for case in CASES if (GOLDENS / case / "cv.log").exists()]
)
def test_golden_kaldi_cross_validation_gives_the_recorded_loss(case):
    run = Run(case)
    net = keras_layers.to_layers(nnet1.read(str(run.folder / "final.nnet")))
    sums = run.trainer(net).evaluate(run.fillings())
    _assert_summary(sums, (run.folder / "cv.log").read_text())
