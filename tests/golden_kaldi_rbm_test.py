"""Replays recorded runs of rbm-train-cd1-frmshuff: `tests/goldens/kaldi/train_rbm_*`.

Each folder's README holds the command; mask.txt the shuffles, hid.ark the hidden states
that were drawn, one matrix a minibatch. A new recorded run is tested by dropping its
folder in.
"""

import re

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets import feature_blocks, frame_records, tables
from seqzoo.zoo.checkpoints import nnet1, nnet_edit
from seqzoo.zoo.training import frame_data
from seqzoo.zoo.training.rbm_ramp import RbmRamp
from seqzoo.zoo.training.rbm_trainer import RbmTrainer, RbmTrainOptions
from tests import recorded_runs
from tests.recorded_runs import RecordedRun

TOOL = "rbm-train-cd1-frmshuff"


class Run(RecordedRun):
    """One recorded command, run again with its files."""

    def __init__(self, case: str):
        super().__init__(case, TOOL)
        (self.feats,) = [w for w in self.words if w.startswith("ark:")]
        self.passes = int(self.number("num-iters", 1))
        self.lines: list[str] = []
        self.files = 0

    def train(self) -> RbmTrainer:
        start = nnet1.read(str(self.folder / "init.nnet"))
        trainer = RbmTrainer(start.components[0], self.train_options(), draw=self.draw)
        fillings = frame_data.fillings(
            frame_records.stream(self.blocks, start.input_dim),
            [],
            trainer.options.minibatch_size,
            self.permutation(),
            drop_tail=True,
        )
        for filling in fillings:
            trainer.train(filling["inputs"], self.lines.append)
        return trainer

    def train_options(self) -> RbmTrainOptions:
        names = {"momentum": 0.5, "momentum-max": 0.9, "learn-rate": 0.4}
        names |= {"momentum-steps": 40, "momentum-step-period": 500000}
        ramp = RbmRamp(
            with_bug=self.options.get("with-bug", "true") == "true",
            **{
                k.replace("-", "_"): type(v)(self.number(k, v))
                for k, v in names.items()
            },
        )
        return RbmTrainOptions(
            ramp=ramp,
            l2_penalty=self.number("l2-penalty", 0.0002),
            minibatch_size=int(self.number("minibatch-size", 100)),
        )

    def blocks(self):
        def once():
            self.files = 0
            for key, feats in tables.read(self.table(self.feats), "matrix"):
                self.files += 1
                yield key, feats

        return feature_blocks.blocks(
            once,
            self.passes,
            int(self.number("randomizer-size", 32768)),
            int(self.number("minibatch-size", 100)),
        )

    def draw(self, number, means):
        """The recorded states of a minibatch."""
        recorded = tables.read(f"ark:{self.folder / 'hid.ark'}", "matrix")
        return tf.constant(np.stack([states for _, states in recorded]))[number]


@pytest.fixture(scope="module", params=recorded_runs.cases(TOOL))
def replayed(request):
    run = Run(request.param)
    return run, run.train()


def test_golden_kaldi_rbm_ends_at_the_recorded_one(replayed):
    run, trainer = replayed
    found = trainer.rbm()
    expected = nnet1.read(str(run.folder / "final.nnet")).components[0]
    assert (found.visible_type, found.hidden_type) == (
        expected.visible_type,
        expected.hidden_type,
    )
    for name, values in expected.parameters().items():
        np.testing.assert_allclose(
            found.parameters()[name],
            values,
            rtol=1e-4,
            atol=1e-4 * np.abs(values).max(),
            err_msg=name,
        )


def test_golden_kaldi_rbm_log_has_the_recorded_numbers(replayed):
    run, trainer = replayed
    log = run.read("train.log")
    # Kaldi's line heads end in `.cc:256) ` or `.h:336) `.
    lines = re.findall(r"^\w+(?:\[\d+\])? \(.*?:\d+\) (.*)$", log, re.MULTILINE)
    kinds = ("Setting momentum", "Mismatch between")
    recorded = [line for line in lines if line.startswith(kinds)]
    assert [line.removeprefix("WARNING ") for line in run.lines] == recorded
    total = r"AvgLoss: .*|^progress: .*"
    told = re.findall(total, log, re.MULTILINE)
    assert re.findall(total, trainer.sums.report(), re.MULTILINE) == told
    files = re.search(r"Done \d+ iterations, (\d+) files", log)[1]
    assert run.files * run.passes == int(files)


def test_golden_kaldi_rbm_as_network(replayed):
    run, _ = replayed
    recorded = nnet1.read(str(run.folder / "as_nnet.txt"))
    found = nnet_edit.rbm_to_nnet(nnet1.read(str(run.folder / "final.nnet")))
    assert [c.marker for c in found.components] == [
        c.marker for c in recorded.components
    ]
    for ours, theirs in zip(found.components, recorded.components, strict=True):
        for name, values in getattr(theirs, "parameters", dict)().items():
            # The recorded text has 7 digits.
            np.testing.assert_allclose(
                ours.parameters()[name], values, rtol=1e-6, err_msg=name
            )
