"""The newbob schedule: recorded traces and the manual's own example."""

import math
import pathlib
import re

import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.training import newbob

TRACE = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "scheduler" / "trace.txt"
RUNS = [run for run in TRACE.read_text().split("\n### ") if "train_scheduler" in run]


def replay(options, initial, losses, base="nnet"):
    """What the schedule does when epochs end at given (train, cv) losses."""
    told = iter(losses)
    state = newbob.start(options, "init", initial)
    return list(newbob.run(options, state, base, lambda *_: next(told)))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: re.search(r"exp_\w+", run)[0])
def test_golden_kaldi_scheduler_trace(run):
    given = dict(re.findall(r"--([a-z-]+) ([0-9.]+)", run.splitlines()[0]))
    options = newbob.NewbobOptions(
        **{
            name.replace("-", "_"): int(value) if "iters" in name else float(value)
            for name, value in given.items()
        }
    )
    initial = float(re.search(r"PRERUN AVG.LOSS ([0-9.]+)", run)[1])
    lines = re.findall(r"^ITERATION .*", run, re.MULTILINE)
    losses = [
        tuple(map(float, re.findall(r"AVG.LOSS ([0-9.]+)", line))) for line in lines
    ]
    steps = replay(options, initial, losses, base="init")
    assert [epoch.line for _, epoch in steps] == lines
    end = re.search(r"^finished, (.*) ([0-9.e-]+)$", run, re.MULTILINE)
    if end:
        # The trace prints losses to 4 places, so the last figure agrees roughly.
        told = steps[-1][0].finished
        assert told.startswith(end[1])
        assert float(told.split()[-1]) == pytest.approx(float(end[2]), abs=1e-4)
    names = re.findall(r"^(init_iter\S+)$", run.split("[nnet dir]")[1], re.MULTILINE)
    assert f"{steps[-1][0].best}_final_" == names[-1]
    assert [epoch.name for _, epoch in steps] == names[:-1]


SEED = [
    (1.1919, 1.5895),
    (0.9566, 1.5289),
    (0.8819, 1.4983),
    (0.8347, 1.5097),
    (0.8255, 1.3760),
    (0.7920, 1.2981),
    (0.7803, 1.2412),
]


def test_the_manuals_example_replayed():
    # The manual leaves out epochs 8 to 18; improvements of 0.3 % stand for them.
    later = [(0.7780, 1.2412 * (1 - 0.003) ** (i + 1)) for i in range(11)]
    losses = [*SEED, *later, (0.7770, 1.1448), (0.7769, 1.1446)]
    steps = replay(newbob.NewbobOptions(), 2.0, losses, base="nnet_6.dbn_dnn")
    names = [epoch.name for _, epoch in steps]
    assert names[:7] == [
        "nnet_6.dbn_dnn_iter01_learnrate0.008_tr1.1919_cv1.5895",
        "nnet_6.dbn_dnn_iter02_learnrate0.008_tr0.9566_cv1.5289",
        "nnet_6.dbn_dnn_iter03_learnrate0.008_tr0.8819_cv1.4983",
        "nnet_6.dbn_dnn_iter04_learnrate0.008_tr0.8347_cv1.5097_rejected",
        "nnet_6.dbn_dnn_iter05_learnrate0.004_tr0.8255_cv1.3760",
        "nnet_6.dbn_dnn_iter06_learnrate0.002_tr0.7920_cv1.2981",
        "nnet_6.dbn_dnn_iter07_learnrate0.001_tr0.7803_cv1.2412",
    ]
    assert names[-2:] == [
        "nnet_6.dbn_dnn_iter19_learnrate2.44141e-07_tr0.7770_cv1.1448",
        "nnet_6.dbn_dnn_iter20_learnrate1.2207e-07_tr0.7769_cv1.1446",
    ]
    assert steps[4][0].best == names[4]
    assert steps[-1][0].finished


def test_a_rejected_epoch_goes_on_from_the_best_before():
    asked = []

    def train(iteration, learn_rate, best):
        asked.append((learn_rate, best))
        return 1.0, {1: 1.0, 2: 1.5, 3: 0.5}[iteration]

    options = newbob.NewbobOptions(learn_rate=0.1, max_iters=3)
    state = newbob.start(options, "init", 2.0)
    steps = list(newbob.run(options, state, "n", train))
    first = steps[0][1].name
    assert asked == [(0.1, "init"), (0.1, first), (0.05, first)]
    assert [epoch.accepted for _, epoch in steps] == [True, False, True]


def test_a_run_started_again_from_any_state_ends_alike():
    losses = [(1.0, loss) for loss in (1.6, 1.5, 1.495, 1.6, 1.4, 1.39, 1.3899)]
    whole = replay(newbob.NewbobOptions(), 2.0, losses)
    for done in range(1, len(whole)):
        left = list(losses[done:])
        again = newbob.run(
            newbob.NewbobOptions(),
            whole[done - 1][0],
            "nnet",
            lambda *_, left=left: left.pop(0),
        )
        assert list(again) == whole[done:]


def test_a_loss_that_is_not_a_number_is_rejected():
    (state, epoch), *_ = replay(
        newbob.NewbobOptions(max_iters=1), 2.0, [(math.nan, math.nan)]
    )
    assert not epoch.accepted
    assert state.best == "init"


@pytest.mark.parametrize(
    "wrong", [{"learn_rate": 0.0}, {"halving_factor": 1.5}, {"max_iters": 0}]
)
def test_options_out_of_range(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        newbob.start(newbob.NewbobOptions(**wrong), "init", 1.0)
