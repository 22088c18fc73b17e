"""`seqzoo export`: SavedModels, Kaldi's form, and errors."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets import tables
from seqzoo.export import saved_model
from seqzoo.zoo.acoustic import priors
from seqzoo.zoo.checkpoints import (
    components,
    nnet1,
    nnet_edit,
    nnet_proto,
)
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.commands import main

PROTO = """
<AffineTransform> <InputDim> 120 <OutputDim> 8 <BiasMean> 0 <BiasRange> 2
<Sigmoid> <InputDim> 8 <OutputDim> 8
<AffineTransform> <InputDim> 8 <OutputDim> 4 <BiasMean> 0 <BiasRange> 2 <ParamStddev> 2
<Softmax> <InputDim> 4 <OutputDim> 4
"""
COUNTS = np.float32([10, 20, 30, 40])
FEATS = np.random.default_rng(1).normal(size=(1, 6, 40)).astype(np.float32)


@pytest.fixture(scope="module")
def net():
    return nnet_proto.initialize(PROTO, 1)


@pytest.fixture(scope="module")
def transform():
    return Nnet([components.Splice(40, 120, [-1, 0, 1])])


@pytest.fixture
def work(tmp_path, monkeypatch, net, transform):
    """A folder with a run of 40-dimensional features."""
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "exp" / "dnn"
    run.mkdir(parents=True)
    nnet1.write(str(run / "final.nnet"), net)
    nnet1.write(str(run / "final.feature_transform"), transform, binary=False)
    tables.write_object(str(run / "ali_train_pdf.counts"), COUNTS, False)
    (run / "cmvn_opts").write_text("--norm-vars=true\n")
    return tmp_path


def ask(folder, signature="serving_default"):
    loaded = tf.saved_model.load(folder)
    lengths = tf.constant([FEATS.shape[1]])
    [output] = loaded.signatures[signature](
        feats=tf.constant(FEATS), lengths=lengths
    ).values()
    return output.numpy()[0]


def signatures(folder):
    return set(tf.saved_model.load(folder).signatures)


def log_posteriors(net, transform):
    return np.log(nnet_edit.concat(transform, net).propagate(FEATS[0]) + 1e-20)


def test_a_run_with_its_transform_and_counts(work, net, transform, capsys):
    assert main.main(["export", "--check", "exp/dnn", "models/dnn"]) == 0
    out, err = capsys.readouterr()
    assert out == "models/dnn/1\n"
    assert "log_likelihoods: as in the model, within " in err
    expected = log_posteriors(net, transform) - priors.log_priors(COUNTS)
    np.testing.assert_allclose(ask("models/dnn/1"), expected, rtol=1e-5)
    assert saved_model.description("models/dnn/1")["cmvn_opts"] == "--norm-vars=true"


def test_counts_and_their_scale(work, net, transform):
    tables.write_object("counts", COUNTS[::-1].copy())
    words = ["--class_frame_counts=counts", "--prior_scale=0.5", "--version=5"]
    assert main.main(["export", *words, "exp/dnn", "m"]) == 0
    expected = log_posteriors(net, transform) - 0.5 * priors.log_priors(COUNTS[::-1])
    np.testing.assert_allclose(ask("m/5"), expected, rtol=1e-5)


def test_a_network_s_file_has_no_counts(work, net, transform, capsys):
    words = [
        "--feature-transform=exp/dnn/final.feature_transform",
        "exp/dnn/final.nnet",
    ]
    assert main.main(["export", *words, "m"]) == 0
    assert "no class counts, so log_likelihoods are left out" in capsys.readouterr().err
    assert signatures("m/1") == {"posteriors", "log_posteriors", "serving_default"}
    np.testing.assert_allclose(ask("m/1"), log_posteriors(net, transform), rtol=1e-5)


def test_counts_can_be_left_out(work):
    words = ["--class_frame_counts=none", "exp/dnn", "m"]
    assert main.main(["export", *words]) == 0
    assert "log_likelihoods" not in signatures("m/1")


def test_a_network_without_softmax_takes_no_counts(work, net):
    nnet1.write("exp/dnn/final.nnet", nnet_edit.remove_last_components(net, 1))
    assert main.main(["export", "--check", "exp/dnn", "m"]) == 0
    assert signatures("m/1") == {"outputs", "serving_default"}


@pytest.mark.parametrize("binary", ["true", "false"])
def test_back_to_kaldi(work, binary):
    words = ["--format=nnet1", f"--binary={binary}"]
    assert main.main(["export", *words, "exp/dnn", "back"]) == 0
    assert sorted(path.name for path in (work / "back").iterdir()) == [
        "ali_train_pdf.counts",
        "cmvn_opts",
        "final.feature_transform",
        "final.nnet",
    ]
    for name in ("ali_train_pdf.counts", "cmvn_opts"):
        before = (work / "exp" / "dnn" / name).read_bytes()
        assert (work / "back" / name).read_bytes() == before
    if binary == "true":
        before = (work / "exp" / "dnn" / "final.nnet").read_bytes()
        assert (work / "back" / "final.nnet").read_bytes() == before
    else:
        assert (work / "back" / "final.nnet").read_text().startswith("<Nnet>")
    assert main.main(["export", "back", "m"]) == 0


def counts_of_another(work):
    tables.write_object("counts", np.float32([1, 2]))


def exported_already(work):
    assert main.main(["export", "--version=2", "exp/dnn", "m"]) == 0


def no_softmax(work):
    nnet = nnet1.read("exp/dnn/final.nnet")
    nnet1.write("cut.nnet", nnet_edit.remove_last_components(nnet, 1))


def file_in_the_way(work):
    (work / "m").write_text("")


@pytest.mark.parametrize(
    ("prepare", "words", "message"),
    [
        (None, "missing m", "missing: cannot read it"),
        (None, "exp m", "exp: a folder without final.nnet"),
        (counts_of_another, "--class_frame_counts=counts exp/dnn m", "counts: 2 class"),
        (exported_already, "--version=2 exp/dnn m", "m: version 2 is there already"),
        (None, "--version=-1 exp/dnn m", "--version=-1"),
        (file_in_the_way, "exp/dnn m", "m: cannot write a SavedModel"),
        (
            no_softmax,
            "--class_frame_counts=exp/dnn/ali_train_pdf.counts cut.nnet m",
            "without a softmax at its end",
        ),
        (
            None,
            "--format=nnet1 --check exp/dnn m",
            "--check is not for --format=nnet1",
        ),
        (None, "--binary exp/dnn m", "--binary is not for --format=saved_model"),
        (None, "--format=nnet1 exp/dnn exp", "exp: is there already"),
        (None, "--format=onnx exp/dnn m", "one of saved_model, nnet1"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(work, prepare, words, message, capsys):
    if prepare:
        prepare(work)
    before = sorted(work.rglob("*"))
    capsys.readouterr()
    assert main.main(["export", *words.split()]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("seqzoo export: ")
    assert message in line
    assert sorted(work.rglob("*")) == before
