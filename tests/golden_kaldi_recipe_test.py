"""steps/nnet/train.sh's recorded run: `tests/goldens/kaldi/recipe`."""

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


@pytest.fixture(scope="module")
def recipe_run(tmp_path_factory):
    """steps/nnet/train.sh's own recorded command line, given to `seqzoo train`."""
    folder = tmp_path_factory.mktemp("recipe")
    for name in ("data", "labels.post"):
        copy = shutil.copytree if name == "data" else shutil.copy
        copy(RECIPE / name, folder / name)
    text = (RECIPE / "dnn.log").read_text()
    words = shlex.split(re.match(r"\$ bash steps/nnet/train.sh (.*)", text)[1])
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert train("--set", "kaldi_draws=true", "--kaldi_tail", *words) == 0
    finally:
        os.chdir(before)
    return folder / "exp" / "dnn"


def test_golden_kaldi_recipe_takes_train_shs_command_as_it_is(recipe_run):
    assert (recipe_run / "final.nnet").exists()
    recorded = (RECIPE / "dnn.nnetdir.txt").read_text().split()
    ours = sorted(path.name for path in (recipe_run / "nnet").iterdir())

    def form(name):
        return re.sub(r"(tr|cv)[0-9.]+", r"\1N", name)

    assert [form(name) for name in ours] == [form(name) for name in recorded]


def test_golden_kaldi_recipe_makes_the_recorded_prototype(recipe_run):
    assert (recipe_run / "nnet.proto").read_text() == (
        RECIPE / "dnn.nnet.proto"
    ).read_text()


def test_golden_kaldi_recipe_makes_the_recorded_feature_transform(recipe_run):
    ours = nnet1.read(str(recipe_run / "final.feature_transform")).components
    theirs = nnet1.read(str(RECIPE / "dnn.feature_transform.txt")).components
    assert [c.marker for c in ours] == [c.marker for c in theirs]
    assert ours[0].offsets == theirs[0].offsets
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        # The file has 7 digits of Kaldi's float32 sums.
        np.testing.assert_allclose(one.data, other.data, rtol=1e-6, atol=1e-8)


def test_golden_kaldi_recipe_starts_from_the_recorded_loss(recipe_run):
    recorded = re.search(
        r"CROSSVAL PRERUN AVG.LOSS ([0-9.]+)", (RECIPE / "dnn.log").read_text()
    )
    log = (recipe_run / "log" / "iter00.initial.log").read_text()
    loss = float(re.search(r"AvgLoss: ([0-9.]+)", log)[1])
    assert f"{loss:.4f}" == recorded[1]


def test_golden_kaldi_recipe_log_lines_have_the_recorded_form(recipe_run):
    log = (recipe_run / "log" / "iter1.tr.log").read_text().splitlines()
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
