"""`seqzoo forward`: each kind of model, the run's options, and one line per error."""

import pathlib
import re

import numpy as np
import pytest

from seqzoo.datasets import cmvn, deltas, tables
from seqzoo.zoo.acoustic import priors
from seqzoo.zoo.checkpoints import components, nnet1, nnet_edit, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.commands import main

GOLDEN = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "forward_opts"
PROTO = """
<AffineTransform> <InputDim> 6 <OutputDim> 5 <BiasMean> 0 <BiasRange> 2 <ParamStddev> 1
<Sigmoid> <InputDim> 5 <OutputDim> 5
<AffineTransform> <InputDim> 5 <OutputDim> 3 <BiasMean> 0 <BiasRange> 2 <ParamStddev> 2
<Softmax> <InputDim> 3 <OutputDim> 3
"""
COUNTS = [5, 15, 80]


@pytest.fixture(scope="module")
def net():
    return nnet_proto.initialize(PROTO, 1)


@pytest.fixture(scope="module")
def feats():
    random = np.random.default_rng(3)
    shapes = {"a-1": 5, "a-2": 2, "b-1": 8}
    return {
        utt: random.normal(2, 3, size=(frames, 2)).astype(np.float32)
        for utt, frames in shapes.items()
    }


def splice(dim):
    return Nnet([components.Splice(dim, 6, list(range(6 // dim)))])


@pytest.fixture
def work(tmp_path, monkeypatch, net, feats):
    """A folder with a run of 2-dimensional features, and the features."""
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    nnet1.write(str(run / "final.nnet"), net)
    nnet1.write(str(run / "final.feature_transform"), splice(2), binary=False)
    tables.write_object(str(run / "ali_train_pdf.counts"), np.float32(COUNTS), False)
    with tables.Writer("ark,scp:feats.ark,feats.scp") as writer:
        for utt, matrix in feats.items():
            writer.write(utt, matrix)
    return tmp_path


def forward(*words):
    """Runs the command and gives what it wrote."""
    assert main.main(["forward", *words, "ark:out.ark"]) == 0
    return dict(tables.read("ark:out.ark"))


def check_close(found, expected):
    assert list(found) == list(expected)
    for utt, matrix in expected.items():
        np.testing.assert_allclose(found[utt], matrix, rtol=1e-5, atol=1e-6)


def by_numpy(net, feats, dim=2):
    whole = nnet_edit.concat(splice(dim), net)
    return {utt: whole.propagate(x) for utt, x in feats.items()}


def test_a_kaldi_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [
        f"--feature-transform={GOLDEN}/xform.txt",
        "--no-softmax=true",
        f"--class-frame-counts={GOLDEN}/counts",
        "--prior-scale=0.7",
    ]
    found = forward(*words, f"{GOLDEN}/nnet.bin", f"ark:{GOLDEN}/in.ark")
    check_close(found, dict(tables.read(f"ark:{GOLDEN}/pre_prior_scale.txt")))


def test_a_run_folder(work, net, feats, capsys):
    check_close(forward("run", "scp:feats.scp"), by_numpy(net, feats))
    line = capsys.readouterr().err
    assert line.startswith("LOG (seqzoo forward) Done 3 files in ")
    assert " min, (fps " in line


def test_another_transform_instead_of_the_run_s(work, net, feats):
    transform = nnet_edit.concat(
        splice(2), Nnet([components.AddShift(6, 6, np.ones(6, np.float32))])
    )
    nnet1.write("other.nnet", transform)
    found = forward("--feature_transform=other.nnet", "run", "ark:feats.ark")
    check_close(found, by_numpy(net, {utt: x + 1 for utt, x in feats.items()}))


def test_priors_with_their_floor(work, net, feats):
    words = ["--class_frame_counts=run/ali_train_pdf.counts", "--prior_floor=0.1"]
    found = forward("--apply_log", *words, "run", "ark:feats.ark")
    logs = priors.log_priors(COUNTS, prior_floor=0.1)
    expected = by_numpy(net, feats)
    check_close(found, {u: np.log(y + 1e-20) - logs for u, y in expected.items()})


def export(*words):
    assert main.main(["export", *words, "run", "models"]) == 0


def test_a_saved_model(work, net, feats):
    export("--version=3")
    export("--version=20")
    for model in ("models", "models/3"):
        check_close(forward(model, "scp:feats.scp"), by_numpy(net, feats))
    words = ["--apply_log", "--class_frame_counts=run/ali_train_pdf.counts"]
    check_close(
        forward(*words, "models", "ark:feats.ark"),
        forward(*words, "run", "ark:feats.ark"),
    )


def make_data(feats, work):
    """A data directory of the features, with statistics by speaker."""
    data = work / "data"
    data.mkdir()
    (data / "feats.scp").write_text((work / "feats.scp").read_text())
    (data / "utt2spk").write_text("".join(f"{u} {u[0]}\n" for u in feats))
    (data / "spk2utt").write_text("a a-1 a-2\nb b-1\n")
    with tables.Writer("ark,scp:data/cmvn.ark,data/cmvn.scp", double=True) as writer:
        for speaker, stats in cmvn.compute("scp:feats.scp", "ark:data/spk2utt"):
            writer.write(speaker, stats)


@pytest.fixture
def normalised_run(work, feats):
    """The run again, trained on normalised features with deltas."""
    make_data(feats, work)
    nnet1.write("run/final.feature_transform", splice(6), binary=False)
    (work / "run" / "cmvn_opts").write_text("--norm-vars=true\n")
    (work / "run" / "delta_opts").write_text("--delta-order=2\n")
    stats = dict(tables.read("scp:data/cmvn.scp"))
    return {
        utt: deltas.add_deltas(cmvn.apply(x, stats[utt[0]], norm_vars=True))
        for utt, x in feats.items()
    }


def test_a_run_s_options_are_those_of_its_features(work, net, normalised_run):
    expected = by_numpy(net, normalised_run, 6)
    check_close(forward("run", "data"), expected)
    words = ["--cmvn=scp:data/cmvn.scp", "--utt2spk=ark:data/utt2spk"]
    check_close(forward(*words, "run", "scp:feats.scp"), expected)
    export()
    check_close(forward("models", "data"), expected)


def test_options_given_win(work, net, feats, normalised_run):
    words = ["--cmvn=scp:data/cmvn.scp", "--utt2spk=ark:data/utt2spk"]
    words += ["--cmvn_opts=--norm-means=false", "--delta_opts=--delta-order=2"]
    plain = {utt: deltas.add_deltas(x) for utt, x in feats.items()}
    check_close(forward(*words, "run", "scp:feats.scp"), by_numpy(net, plain, 6))


def test_features_that_may_not_be_normalised_are_told_of(
    work, net, feats, normalised_run, capsys
):
    plain = {utt: deltas.add_deltas(x) for utt, x in feats.items()}
    check_close(forward("run", "scp:feats.scp"), by_numpy(net, plain, 6))
    assert "WARNING (seqzoo forward) the model was trained on normalised" in (
        capsys.readouterr().err
    )


def nan_in_frame_1(work):
    with tables.Writer("ark:nan.ark") as writer:
        writer.write("good", np.zeros((3, 2), np.float32))
        writer.write("bad", np.float32([[0, 0], [0, np.nan]]))


def wide(work):
    with tables.Writer("ark:wide.ark") as writer:
        writer.write("bad", np.zeros((3, 13), np.float32))


def cut_short(work):
    data = (work / "feats.ark").read_bytes()
    (work / "cut.ark").write_bytes(data[:-5])


def empty(work):
    (work / "empty.ark").write_bytes(b"")


def other_counts(work):
    tables.write_object("counts", np.float32([1, 2]))


def prototype(work):
    (work / "proto").write_text("<NnetProto>\n")


def unfinished(work):
    (work / "new").mkdir()


def saved_model(work):
    export()


def not_one(work):
    (work / "broken").mkdir()
    (work / "broken" / "saved_model.pb").write_bytes(b"no")


@pytest.mark.parametrize(
    ("prepare", "words", "message"),
    [
        (nan_in_frame_1, "run ark:nan.ark", "'bad': frame 1: feature 1 is nan"),
        (wide, "run ark:wide.ark", "'bad': .* takes 2 numbers a frame"),
        (cut_short, "run ark:cut.ark", "cut.ark"),
        (empty, "run ark:empty.ark", "the set is empty"),
        (None, "run ark:missing.ark", "missing.ark: cannot read it"),
        (None, "missing ark:feats.ark", "missing: cannot read it"),
        (None, "--apply_log --no_softmax run ark:feats.ark", "exclude each other"),
        (
            other_counts,
            "--class_frame_counts=counts run ark:feats.ark",
            "counts: 2 class counts, but the network puts out 3",
        ),
        (None, "--prior_scale=x run ark:feats.ark", "--prior_scale=x: "),
        (None, "--aply_log run ark:feats.ark", "did you mean --apply_log"),
        (
            prototype,
            "proto ark:feats.ark",
            "proto: this is a prototype; .* --input-format=proto`",
        ),
        (unfinished, "new ark:feats.ark", "new: a folder without final.nnet"),
        (
            None,
            "--feature_transform=run/final.nnet run ark:feats.ark",
            "run/final.nnet: puts out 3 .* run/final.nnet takes 6",
        ),
        (
            None,
            "--remove_last_components=9 run ark:feats.ark",
            "run/final.nnet: 9 components cannot be removed of",
        ),
        (
            None,
            "--block=en run ark:feats.ark",
            "run/final.nnet: ends in <Softmax>; only of <BlockSoftmax>",
        ),
        (
            saved_model,
            "--block=en models ark:feats.ark",
            "models: a SavedModel is used as it is; give --block and --remove_last_com",
        ),
        (None, "--cmvn_opts= run ark:feats.ark", "give --cmvn"),
        (saved_model, "--no_softmax models ark:feats.ark", "keeps its softmax"),
        (
            saved_model,
            "--feature_transform=run/final.nnet models ark:feats.ark",
            "has its feature transform in it",
        ),
        (not_one, "broken ark:feats.ark", "broken: cannot load it"),
        (None, "--use_gpu=yes run ark:feats.ark", "there is no GPU"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(work, prepare, words, message, capsys):
    if prepare:
        prepare(work)
    capsys.readouterr()
    assert main.main(["forward", *words.split(), "ark:out.ark"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("seqzoo forward: ")
    assert re.search(message, line)
    assert not list(work.glob("out*"))


def test_too_few_words(work, capsys):
    assert main.main(["forward", "run", "ark:feats.ark"]) == 2
    assert "give MODEL, RSPECIFIER and WSPECIFIER" in capsys.readouterr().err
