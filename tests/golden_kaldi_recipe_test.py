"""steps/nnet/train.sh's recorded runs: `tests/goldens/kaldi/recipe`.

Each `NAME.log` begins with the command line; a new one is tested by dropping its files
in.
"""

import os
import pathlib
import re
import shlex
import shutil

import numpy as np
import pytest

from seqzoo.zoo.checkpoints import nnet1
from tests.small_runs import train

RECIPE = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "recipe"


_COMMAND = re.compile(r"\$ bash steps/nnet/train.sh (.*)")
# One that starts from a DBN needs the DBN's own folder, which is not recorded.
NAMES = sorted(
    log.stem
    for log in RECIPE.glob("*.log")
    if (command := _COMMAND.match(log.read_text())) and "--dbn" not in command[1]
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """steps/nnet/train.sh's own recorded command lines, given to `seqzoo train`."""
    folder = tmp_path_factory.mktemp("recipe")
    for name in ("data", "labels.post"):
        copy = shutil.copytree if name == "data" else shutil.copy
        copy(RECIPE / name, folder / name)
    before = os.getcwd()
    os.chdir(folder)
    try:
        for name in NAMES:
            words = shlex.split(_COMMAND.match(_recorded(f"{name}.log"))[1])
            assert train("--set", "kaldi_draws=true", "--kaldi_tail", *words) == 0
    finally:
        os.chdir(before)
    return folder / "exp"


def _recorded(name: str) -> str:
    return (RECIPE / name).read_text()


@pytest.mark.parametrize("name", NAMES)
def test_golden_kaldi_recipe_takes_train_shs_command_as_it_is(runs, name):
    assert (runs / name / "final.nnet").exists()
    recorded = _recorded(f"{name}.nnetdir.txt").split()
    ours = sorted(path.name for path in (runs / name / "nnet").iterdir())

    def form(name):
        return re.sub(r"(tr|cv)[0-9.]+", r"\1N", name)

    assert [form(name) for name in ours] == [form(name) for name in recorded]


@pytest.mark.parametrize("name", NAMES)
def test_golden_kaldi_recipe_makes_the_recorded_prototype(runs, name):
    made = (runs / name / "nnet.proto").read_text()
    assert made == _recorded(f"{name}.nnet.proto")


@pytest.mark.parametrize("name", NAMES)
def test_golden_kaldi_recipe_makes_the_recorded_feature_transform(runs, name):
    made = nnet1.read(str(runs / name / "final.feature_transform"))
    ours = made.components
    theirs = nnet1.read(str(RECIPE / f"{name}.feature_transform.txt")).components
    assert [c.marker for c in ours] == [c.marker for c in theirs]
    assert ours[0].offsets == theirs[0].offsets
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        # The file has 7 digits of Kaldi's float32 sums.
        np.testing.assert_allclose(one.data, other.data, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_golden_kaldi_recipe_starts_from_the_recorded_loss(runs, name):
    log = _recorded(f"{name}.log")
    recorded = re.search(r"CROSSVAL PRERUN AVG.LOSS ([0-9.]+)", log)
    first = (runs / name / "log" / "iter00.initial.log").read_text()
    loss = float(re.search(r"AvgLoss: ([0-9.]+)", first)[1])
    assert f"{loss:.4f}" == recorded[1]


@pytest.mark.parametrize("name", NAMES)
def test_golden_kaldi_recipe_log_lines_have_the_recorded_form(runs, name):
    log = (runs / name / "log" / "iter1.tr.log").read_text().splitlines()
    assert log[0].startswith("seqzoo train acoustic/dnn ")
    assert re.match(r"The active device is CPU:0: .* total:\d+M, free/total:", log[1])
    tail = "\n".join(log[2:])
    assert re.search(
        r"^Done 14 files, 0 with no tgt_mats, 0 with other errors\. "
        r"\[TRAINING, RANDOMIZED, [0-9.e-]+ min, fps[0-9.e+]+\]$",
        tail,
        re.MULTILINE,
    )
    assert re.search(
        r"^AvgLoss: [0-9.]+ \(Xent\), \[AvgXent: [0-9.]+, AvgTargetEnt: 0\]\n"
        r"progress: \[\]\nFRAME_ACCURACY >> [0-9.]+% <<$",
        tail,
        re.MULTILINE,
    )
    assert "### After" not in tail
