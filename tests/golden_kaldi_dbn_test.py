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
from tests.small_runs import train

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


@pytest.fixture(scope="module")
def dnn_run(tmp_path_factory):
    """train.sh's recorded command line, from the recorded stack."""
    folder = tmp_path_factory.mktemp("dbn_dnn")
    shutil.copytree(RECIPE / "data", folder / "data")
    shutil.copy(RECIPE / "labels.post", folder)
    stack = folder / "exp" / "dbn"
    stack.mkdir(parents=True)
    shutil.copy(RECIPE / "dbn.3.dbn.txt", stack / "3.dbn")
    shutil.copy(RECIPE / "dbn.feature_transform.txt", stack / "final.feature_transform")
    text = (RECIPE / "dbn_dnn.log").read_text()
    words = shlex.split(re.match(r"\$ bash steps/nnet/train.sh (.*)", text)[1])
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert train("--set=kaldi_draws=true", "--kaldi_tail", *words) == 0
    finally:
        os.chdir(before)
    return folder / "exp" / "dbn_dnn"


def test_golden_kaldi_dbn_dnn_makes_the_recorded_prototype(dnn_run):
    recorded = (RECIPE / "dbn_dnn.nnet.proto").read_text()
    assert (dnn_run / "nnet.proto").read_text() == recorded


def test_golden_kaldi_dbn_dnn_starts_with_the_stack_and_a_new_output(dnn_run):
    stack = nnet1.read(str(RECIPE / "dbn.3.dbn.txt")).components
    init = nnet1.read(str(dnn_run / "nnet_dbn_dnn.init")).components
    top = nnet1.read(str(dnn_run / "nnet.init")).components
    assert [c.marker for c in init] == [c.marker for c in (*stack, *top)]
    for ours, theirs in zip(init, (*stack, *top), strict=True):
        if hasattr(theirs, "linearity"):
            np.testing.assert_array_equal(ours.linearity, theirs.linearity)
            np.testing.assert_array_equal(ours.bias, theirs.bias)


def test_golden_kaldi_dbn_dnn_starts_from_the_recorded_loss(dnn_run):
    log = (RECIPE / "dbn_dnn.log").read_text()
    recorded = re.search(r"CROSSVAL PRERUN AVG.LOSS ([0-9.]+)", log)[1]
    first = (dnn_run / "log" / "iter00.initial.log").read_text()
    loss = float(re.search(r"AvgLoss: ([0-9.]+)", first)[1])
    assert f"{loss:.4f}" == recorded


def test_golden_kaldi_dbn_dnn_networks_have_the_recorded_names(dnn_run):
    def form(name):
        return re.sub(r"(tr|cv)[0-9.]+", r"\1N", name)

    recorded = (RECIPE / "dbn_dnn.nnetdir.txt").read_text().split()
    ours = sorted(path.name for path in (dnn_run / "nnet").iterdir())
    assert [form(name) for name in ours] == [form(name) for name in recorded]
    losses = [
        [float(loss) for loss in re.findall(r"(?:tr|cv)([0-9]+\.[0-9]+)", name)]
        for name in (ours[-1], sorted(recorded)[-1])
    ]
    # Of the same start and data, but shuffled otherwise.
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.02)
