"""Replays recorded runs of nnet-train-frmshuff: `tests/goldens/kaldi/train_*`.

Each folder's README holds the command; its options, the initial network and the
data drive the run, and the final network and the log are what must come out. A new
recorded run is tested by dropping its folder in.
"""

import pytest
import tensorflow as tf

from seqzoo.datasets import frame_blocks, frame_records
from seqzoo.datasets.utterances import Utterances
from seqzoo.zoo.training import frame_data
from seqzoo.zoo.training.frame_trainer import FrameTrainer
from tests import recorded_runs
from tests.recorded_runs import (
    RecordedRun,
    assert_same_counts,
    assert_same_net,
    assert_same_report,
)

TOOL = "nnet-train-frmshuff"


class Run(RecordedRun):
    """One recorded command with its files."""

    def __init__(self, case: str):
        super().__init__(case, TOOL)
        feats, targets, *_ = self.words
        self.utterances = Utterances(
            self.table(feats),
            self.table(targets),
            frame_weights=self.table(self.options.get("frame-weights")),
            utt_weights=self.table(self.options.get("utt-weights")),
        )
        self.minibatch_size = int(self.number("minibatch-size", 256))

    def fillings(self) -> tf.data.Dataset:
        blocks = list(
            frame_blocks.blocks(
                self.utterances,
                int(self.number("randomizer-size", 32768)),
                self.minibatch_size,
            )
        )
        return frame_data.fillings(
            frame_records.stream(lambda: blocks, blocks[0].feats.shape[1]),
            self.transform(),
            self.minibatch_size,
            self.permutation(),
            drop_tail=True,
        )

    def trainer(self, net) -> FrameTrainer:
        return FrameTrainer(
            net,
            self.options.get("objective-function", "xent"),
            self.optimizer(),
            self.minibatch_size,
            int(self.number("loss-report-frames", 1_800_000)),
        )


@pytest.mark.parametrize("case", recorded_runs.cases(TOOL))
def test_golden_kaldi_training_ends_at_the_recorded_net(case):
    run = Run(case)
    net = run.net("init.nnet", kaldi_gradients=True)
    sums = run.trainer(net).train(run.fillings())
    assert_same_net(net, run.folder / "final.nnet")
    assert_same_report(sums, run.read("train.log"))
    told = run.utterances
    counts = [told.num_done, told.no_targets, told.other_errors]
    assert_same_counts(counts, run.read("train.log"))


@pytest.mark.parametrize("case", recorded_runs.cases(TOOL, "cv.log"))
def test_golden_kaldi_cross_validation_gives_the_recorded_loss(case):
    run = Run(case)
    sums = run.trainer(run.net("final.nnet")).evaluate(run.fillings())
    assert_same_report(sums, run.read("cv.log"))
