"""pretrain_dbn.sh's recorded run, `tests/goldens/kaldi/recipe/dbn.*`, given to seqzoo.

Hidden states and shuffles were not recorded, so weights cannot be the same; what does
not hang on them is: prototypes, feature transform, files, frames, the form of the log.
"""

import os
import pathlib
import re
import shlex
import shutil

import numpy as np
import pytest

from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.commands import main

RECIPE = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "recipe"
LAYERS = (1, 2, 3)


@pytest.fixture(scope="module")
def dbn_run(tmp_path_factory):
    """The recorded command line of pretrain_dbn.sh, as it is."""
    folder = tmp_path_factory.mktemp("recipe")
    shutil.copytree(RECIPE / "data", folder / "data")
    text = (RECIPE / "dbn.log").read_text()
    words = shlex.split(re.match(r"\$ bash steps/nnet/pretrain_dbn.sh (.*)", text)[1])
    before = os.getcwd()
    os.chdir(folder)
    try:
        told = ("train", "acoustic/dbn", "--set=kaldi_draws=true", *words)
        assert main.main(told) == 0
    finally:
        os.chdir(before)
    return folder / "exp" / "dbn"


def test_golden_kaldi_dbn_leaves_the_recorded_files(dbn_run):
    listed = (RECIPE / "listing.txt").read_text().split()
    recorded = {name.removeprefix("exp/dbn/") for name in listed if "/dbn/" in name}
    # What the script makes on the way to its feature transform, and its lists.
    between = r"cmvn-g\.stats|splice1\.proto|tr_splice1.*|train.*"
    wanted = {name for name in recorded if not re.fullmatch(between, name)}
    ours = {str(p.relative_to(dbn_run)) for p in dbn_run.rglob("*") if not p.is_dir()}
    assert wanted <= ours


@pytest.mark.parametrize("layer", LAYERS)
def test_golden_kaldi_dbn_makes_the_recorded_prototypes(dbn_run, layer):
    recorded = (RECIPE / f"dbn.{layer}.rbm.proto").read_text()
    assert (dbn_run / f"{layer}.rbm.proto").read_text() == recorded


def test_golden_kaldi_dbn_makes_the_recorded_feature_transform(dbn_run):
    ours = nnet1.read(str(dbn_run / "final.feature_transform")).components
    theirs = nnet1.read(str(RECIPE / "dbn.feature_transform.txt")).components
    assert [c.marker for c in ours] == [c.marker for c in theirs]
    assert ours[0].offsets == theirs[0].offsets
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        # The file has 7 digits of Kaldi's float32 sums.
        np.testing.assert_allclose(one.data, other.data, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("layer", LAYERS)
def test_golden_kaldi_dbn_logs_the_recorded_lines(dbn_run, layer):
    log = (dbn_run / "log" / f"rbm.{layer}.log").read_text()
    recorded = (RECIPE / f"dbn.{layer}.log").read_text()
    momenta = re.findall(r"Setting momentum .*", recorded)
    assert re.findall(r"Setting momentum .*", log) == momenta
    frames = re.search(r"frames (\d+)\]", recorded)[1]
    loss, ours = (
        float(re.search(r"AvgLoss: ([0-9.]+) \(Mse\), \[RMS", text)[1])
        for text in (recorded, log)
    )
    assert re.search(r"frames (\d+)\]", log)[1] == frames
    # Of the same start and data, but of other shuffles and states.
    assert ours == pytest.approx(loss, rel=0.05)
    assert re.search(
        r"^Done \d iterations, \d+ files, skipped 0 files\. "
        r"\[[0-9.e-]+ min, processing [0-9.e+]+ frames per sec\.\]$",
        log,
        re.MULTILINE,
    )
    assert (
        f"exp/dbn/log/rbm.{layer}.log:progress: []" in (RECIPE / "dbn.log").read_text()
    )
    assert "progress: []" in log.splitlines()


@pytest.mark.parametrize("layer", LAYERS)
def test_golden_kaldi_dbn_stacks_have_the_recorded_form(dbn_run, layer):
    ours = nnet1.read(str(dbn_run / f"{layer}.dbn")).components
    theirs = nnet1.read(str(RECIPE / f"dbn.{layer}.dbn.txt")).components
    assert [(c.marker, c.input_dim, c.output_dim) for c in ours] == [
        (c.marker, c.input_dim, c.output_dim) for c in theirs
    ]
    rbm = nnet1.read(str(dbn_run / f"{layer}.rbm")).components[0]
    recorded = nnet1.read(str(RECIPE / f"dbn.{layer}.rbm.txt")).components[0]
    assert rbm.visible_type == recorded.visible_type
    assert rbm.hidden_type == recorded.hidden_type
    np.testing.assert_array_equal(ours[-2].linearity, rbm.linearity)
    np.testing.assert_array_equal(ours[-2].bias, rbm.hidden_bias)


@pytest.mark.parametrize("layer", LAYERS[1:])
def test_golden_kaldi_dbn_starts_from_the_means_of_the_stack_below(dbn_run, layer):
    """Against the initial weights that nnet-initialize draws: the seed's."""
    cmvn = nnet1.read(str(dbn_run / f"{layer}.cmvn")).components[0]
    init = nnet1.read(str(dbn_run / f"{layer}.rbm.init")).components[0]
    means = 1 / (1 + np.exp(-init.visible_bias))
    np.testing.assert_allclose(means, -cmvn.data, rtol=1e-5)
    moved = nnet1.read(str(RECIPE / f"dbn.{layer}.rbm.txt")).components[0]
    # 29 steps do not take the recorded weights far from where they started.
    between = np.corrcoef(moved.linearity.ravel(), init.linearity.ravel())[0, 1]
    assert between > 0.9
