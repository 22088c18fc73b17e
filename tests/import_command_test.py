"""`seqzoo import kaldi`: the run folder, what takes it, and what is refused."""

import json

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.zoo.acoustic import import_check, keras_file, trained_model
from seqzoo.zoo.checkpoints import components, nnet1, nnet_edit, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.commands import main

PROTO = """
<LstmProjected> <InputDim> 6 <OutputDim> 5 <CellDim> 4
<ParallelComponent> <InputDim> 5 <OutputDim> 4 <NestedNnetProto> {0}/nested
<AffineTransform> <InputDim> 4 <OutputDim> 3
<Softmax> <InputDim> 3 <OutputDim> 3
"""
NESTED = "<AffineTransform> <InputDim> 5 <OutputDim> 4\n"
COUNTS = np.float32([10, 20, 30])


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with a Kaldi run of 2-dimensional features, and its files elsewhere."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nested").write_text(NESTED)
    net = nnet_proto.initialize(PROTO.format(tmp_path), 1)
    exp = tmp_path / "exp"
    exp.mkdir()
    (exp / "nnet").mkdir()
    nnet1.write(str(exp / "nnet" / "nnet_iter03"), net, binary=False)
    (exp / "final.nnet").symlink_to("nnet/nnet_iter03")
    front = Nnet([components.Splice(2, 6, [-1, 0, 1])])
    nnet1.write(str(exp / "final.feature_transform"), front, binary=False)
    (exp / "cmvn_opts").write_text("--norm-means=true\n")
    tables.write_object(str(exp / "ali_train_pdf.counts"), COUNTS, False)
    return tmp_path


def run(*words):
    return main.main(["import", "kaldi", *words])


def whole(folder):
    model = trained_model.read(folder)
    return nnet_edit.concat(model.feature_transform, model.nnet)


def test_a_kaldi_run(work, capsys):
    assert run("exp", "run") == 0
    out, err = capsys.readouterr()
    assert out.startswith(
        "run: 4 components, 263 parameters, a feature transform of 1;"
    )
    assert "within " in out and "3 utterances of 48 frames" in out
    assert len(out.splitlines()) == 1 and err == ""
    assert {path.name for path in (work / "run").iterdir()} >= {
        "ali_train_pdf.counts",
        "cmvn_opts",
        "command.txt",
        "config.json",
        "final.feature_transform",
        "final.keras",
        "final.nnet",
        "log",
        "weights",
    }
    original = nnet1.to_bytes(nnet1.read("exp/final.nnet"))
    assert (work / "run" / "final.nnet").read_bytes() == original
    assert (work / "run" / "cmvn_opts").read_text() == "--norm-means=true\n"
    assert (work / "run" / "command.txt").read_text() == "seqzoo import kaldi exp run\n"
    config = json.loads((work / "run" / "config.json").read_text())
    assert config["model"] == "imported from kaldi"
    assert config["check"]["difference"] < 1e-5
    log = (work / "run" / "log" / "import.log").read_text()
    assert "num-components 5" in log and "read back the same" in log


def test_the_commands_take_the_run(work, capsys):
    assert run("exp", "run") == 0
    feats = np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32)
    with (
        tables.Writer("ark:feats.ark") as writer,
        tables.Writer("ark:labels.ark", "int32_vector") as labels,
    ):
        writer.write("utt", feats)
        labels.write("utt", np.array([0, 1, 2] * 3, np.int32))
    assert main.main(["forward", "run", "ark:feats.ark", "ark:out.ark"]) == 0
    [(_, found)] = tables.read("ark:out.ark", "matrix")
    np.testing.assert_allclose(found, whole("exp").propagate(feats), rtol=1e-5)
    data = ["--feats=ark:feats.ark", "--labels=ark:labels.ark", "--cmvn_opts="]
    assert main.main(["eval", "run", *data]) == 0
    assert main.main(["info", "run"]) == 0
    assert "<LstmProjected>" in capsys.readouterr().out
    words = ["--format=nnet1", "--binary=false", "run", "back"]
    assert main.main(["export", *words]) == 0
    for name in ("final.nnet", "final.feature_transform", "ali_train_pdf.counts"):
        original = (work / "exp" / name).read_bytes()
        assert (work / "back" / name).read_bytes() == original


@pytest.mark.parametrize("binary", [True, False])
def test_a_run_with_a_keras_file_alone_goes_back_to_kaldi(work, binary):
    assert run("exp", "run") == 0
    for name in ("final.nnet", "final.feature_transform"):
        (work / "run" / name).unlink()
    words = ["--format=nnet1", f"--binary={str(binary).lower()}", "run", "back"]
    assert main.main(["export", *words]) == 0
    for name in ("final.nnet", "final.feature_transform"):
        original = nnet1.to_bytes(nnet1.read(f"exp/{name}"), binary)
        assert (work / "back" / name).read_bytes() == original


def test_a_file_and_what_belongs_to_it(work, capsys):
    tables.write_object("counts", COUNTS[::-1].copy())
    (work / "exp" / "final.feature_transform").rename("transform")
    words = [
        "--feature_transform=transform",
        "--class_frame_counts=counts",
        "--cmvn_opts=",
        "--delta_opts=--delta-order=1",
    ]
    assert run(*words, "exp/final.nnet", "run") == 0
    assert capsys.readouterr().err == ""
    model = trained_model.read("run")
    assert model.cmvn_opts is None
    assert model.delta_opts == "--delta-order=1"
    counts = tables.read_object(model.class_frame_counts, "vector")
    np.testing.assert_array_equal(counts, COUNTS[::-1])
    assert model.feature_transform is not None


def test_a_transform_that_lies_beside_is_told_of(work, capsys):
    assert run("exp/final.nnet", "run") == 0
    assert "final.feature_transform is not taken" in capsys.readouterr().err
    assert trained_model.read("run").feature_transform is None


def test_features_to_check_on(work, capsys):
    with tables.Writer("ark:feats.ark") as writer:
        for number in range(12):
            writer.write(f"u{number:02d}", np.full((5, 2), number, np.float32))
    assert run("--check_feats=ark:feats.ark", "exp", "run") == 0
    assert "10 utterances of 50 frames" in capsys.readouterr().out


def test_a_run_is_not_trained_into(work, capsys):
    assert run("exp", "run") == 0
    with tables.Writer("ark:feats.ark") as writer:
        writer.write("utt", np.zeros((9, 2), np.float32))
    words = ["--feats=ark:feats.ark", "--cv_feats=ark:feats.ark", "--num_tgt=3"]
    words += ["--labels=ark:feats.ark", "--run_dir=run"]
    assert main.main(["train", "acoustic/dnn", *words]) == 1
    assert "holds a run with model 'imported from kaldi'" in capsys.readouterr().err


def test_one_that_differs_leaves_nothing(work, capsys, monkeypatch):
    right = import_check._outputs

    def wrong(*args):
        outputs = right(*args)
        outputs[-1, 2] += 1e-4
        return outputs

    monkeypatch.setattr(import_check, "_outputs", wrong)
    before = sorted(work.rglob("*"))
    assert run("exp", "run") == 1
    message = capsys.readouterr().err
    assert "self-check: utterance random_1, frame 0: output 2 of the Keras" in message
    assert sorted(work.rglob("*")) == before


def test_one_that_is_read_differently_leaves_nothing(work, capsys, monkeypatch):
    monkeypatch.setattr(
        keras_file, "read", lambda path: (nnet1.read("exp/final.nnet"), None)
    )
    before = sorted(work.rglob("*"))
    assert run("exp", "run") == 1
    assert "final.keras is read as another network" in capsys.readouterr().err
    assert sorted(work.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["kaldi", "exp"], 2, "give the toolkit, MODEL and RUN_DIR"),
        (["kaldy", "exp", "run"], 1, "did you mean kaldi?"),
        (["kaldi", "gone", "run"], 1, "gone: cannot read it"),
        (["kaldi", "nested", "run"], 1, "nested"),
        (["kaldi", "exp", "exp"], 1, "exp: is there already"),
        (["kaldi", "exp", "--cmvn_opts=--norm=1", "run"], 1, "'--norm=1' is not an"),
        (["kaldi", "exp", "--delta_opts=2", "run"], 1, "'2' is not an option"),
        (["kaldi", "exp", "--check_feats=ark:none", "run"], 1, "none"),
        (
            ["kaldi", "exp", "--class_frame_counts=counts", "run"],
            1,
            "counts: 2 class counts, but the network puts out 3",
        ),
        (
            ["kaldi", "exp", "--feature_transform=exp/final.nnet", "run"],
            1,
            "puts out 3 numbers a frame, but the network",
        ),
    ],
)
def test_errors_are_one_line_and_leave_nothing(work, capsys, words, code, message):
    tables.write_object("counts", np.float32([1, 2]))
    before = sorted(work.rglob("*"))
    assert main.main(["import", *words]) == code
    err = capsys.readouterr().err
    assert err.startswith("seqzoo import: ")
    assert message in err and "Traceback" not in err
    assert len(err.splitlines()) == code
    assert sorted(work.rglob("*")) == before
