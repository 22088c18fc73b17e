"""Replays recorded runs of nnet1's tools for sequences: `tests/goldens/kaldi/train_*`.

Each folder's README holds the command, of nnet-train-multistream,
nnet-train-multistream-perutt or nnet-train-perutt; a new recorded run is tested by
dropping its folder in.
"""

import pytest

from seqzoo.datasets import frame_blocks, frame_records
from seqzoo.datasets.utterances import Utterances
from seqzoo.zoo.acoustic import train_tools
from seqzoo.zoo.training.sequence_data import Batching, SequenceEpochs
from seqzoo.zoo.training.sequence_trainer import SequenceTrainer
from tests import recorded_runs
from tests.recorded_runs import (
    RecordedRun,
    assert_same_counts,
    assert_same_net,
    assert_same_report,
)

TOOLS = "nnet-train-(?:multistream|multistream-perutt|perutt)"


class Run(RecordedRun):
    """One recorded command with its files."""

    def __init__(self, case: str):
        super().__init__(case, TOOLS)
        tool = self.tool
        defaults = {
            name: value
            for name, value in train_tools.TOOLS[tool].items()
            if name != "randomizer_size"
        }
        sizes = {
            name: int(self.options.get(name.replace("_", "-"), value))
            for name, value in defaults.items()
        }
        self.batching = Batching(kind=train_tools.kind(tool), kaldi_tail=True, **sizes)
        feats, targets, *_ = self.words
        self.utterances = Utterances(
            self.table(feats),
            self.table(targets),
            frame_weights=self.table(self.options.get("frame-weights")),
        )

    def data(self) -> SequenceEpochs:
        blocks = list(frame_blocks.blocks(self.utterances, 10**6, 1))
        dim = blocks[0].feats.shape[1]
        stream = frame_records.stream(lambda: blocks, dim)
        return SequenceEpochs(stream, self.transform(), self.batching)

    def trainer(self, net) -> SequenceTrainer:
        return SequenceTrainer(
            net,
            self.options.get("objective-function", "xent"),
            self.optimizer(),
            self.batching,
            kaldi_gradients=True,
        )


@pytest.mark.parametrize("case", recorded_runs.cases(TOOLS))
def test_golden_kaldi_sequence_training_ends_at_the_recorded_net(case):
    run = Run(case)
    net, data = run.net("init.nnet", kaldi_gradients=True), run.data()
    sums = run.trainer(net).train(data)
    assert_same_net(net, run.folder / "final.nnet")
    assert_same_report(sums, run.read("train.log"))
    told = run.utterances
    counts = [data.utterances, told.no_targets, told.other_errors]
    assert_same_counts(counts, run.read("train.log"))


@pytest.mark.parametrize("case", recorded_runs.cases(TOOLS, "cv.log"))
def test_golden_kaldi_sequence_validation_gives_the_recorded_loss(case):
    run = Run(case)
    net = run.net("final.nnet", kaldi_gradients=True)
    assert_same_report(run.trainer(net).evaluate(run.data()), run.read("cv.log"))
