"""Replays recorded runs of nnet1's tools for sequences: `tests/goldens/kaldi/train_*`.

Each folder's README holds the command, of nnet-train-multistream,
nnet-train-multistream-perutt or nnet-train-perutt; a new recorded run is tested by
dropping its folder in.
"""

import re
import shlex

import pytest

from seqzoo import layers
from seqzoo.datasets import frame_blocks, frame_records
from seqzoo.datasets.utterances import Utterances
from seqzoo.zoo.acoustic import train_tools
from seqzoo.zoo.checkpoints import keras_layers, nnet1
from seqzoo.zoo.training.sequence_data import Batching, SequenceEpochs
from seqzoo.zoo.training.sequence_trainer import SequenceTrainer
from tests.recorded_runs import GOLDENS, assert_same_net, assert_same_report

_COMMAND = r"^(nnet-train-(?:multistream|multistream-perutt|perutt)) .*$"
CASES = sorted(
    readme.parent.name
    for readme in GOLDENS.glob("train_*/README")
    if re.search(_COMMAND, readme.read_text(), re.MULTILINE)
)


class Run:
    """One recorded command with its files."""

    def __init__(self, case: str):
        self.folder = GOLDENS / case
        command = re.search(
            _COMMAND, (self.folder / "README").read_text(), re.MULTILINE
        )
        words = shlex.split(command[0])[1:]
        self.options = dict(w[2:].split("=", 1) for w in words if w.startswith("--"))
        feats, targets, *_ = [w for w in words if not w.startswith("--")]
        tool = command[1]
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
        self.utterances = Utterances(
            self.table(feats),
            self.table(targets),
            frame_weights=self.table(self.options.get("frame-weights")),
        )

    def table(self, rspecifier: str | None) -> str | None:
        if rspecifier is None:
            return None
        kind, name = rspecifier.split(":", 1)
        return f"{kind}:{self.folder / name}"

    def data(self) -> SequenceEpochs:
        blocks = list(frame_blocks.blocks(self.utterances, 10**6, 1))
        transform = []
        if "feature-transform" in self.options:
            read = nnet1.read(str(self.folder / self.options["feature-transform"]))
            transform = keras_layers.to_layers(read, trainable=False)
        dim = blocks[0].feats.shape[1]
        stream = frame_records.stream(lambda: blocks, dim)
        return SequenceEpochs(stream, transform, self.batching)

    def net(self, name: str):
        read = nnet1.read(str(self.folder / name))
        return keras_layers.to_layers(read, kaldi_gradients=True)

    def trainer(self, net) -> SequenceTrainer:
        optimizer = layers.KaldiSGD(
            *(
                float(self.options.get(name, default))
                for name, default in (
                    ("learn-rate", 0.008),
                    ("momentum", 0),
                    ("l1-penalty", 0),
                    ("l2-penalty", 0),
                )
            )
        )
        objective = self.options.get("objective-function", "xent")
        return SequenceTrainer(
            net, objective, optimizer, self.batching, kaldi_gradients=True
        )


@pytest.mark.parametrize("case", CASES)
def test_golden_kaldi_sequence_training_ends_at_the_recorded_net(case):
    run = Run(case)
    net, data = run.net("init.nnet"), run.data()
    sums = run.trainer(net).train(data)
    log = (run.folder / "train.log").read_text()
    assert_same_net(net, run.folder / "final.nnet")
    assert_same_report(sums, log)
    counts = re.search(r"Done (\d+) files, (\d+) with no tgt_mats, (\d+) with", log)
    told = run.utterances
    assert [data.utterances, told.no_targets, told.other_errors] == [
        int(count) for count in counts.groups()
    ]


@pytest.mark.parametrize(
    "case", [case for case in CASES if (GOLDENS / case / "cv.log").exists()]
)
def test_golden_kaldi_sequence_validation_gives_the_recorded_loss(case):
    run = Run(case)
    sums = run.trainer(run.net("final.nnet")).evaluate(run.data())
    assert_same_report(sums, (run.folder / "cv.log").read_text())
