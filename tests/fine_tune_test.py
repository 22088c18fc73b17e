"""`seqzoo train --init`: what is taken of a trained model, and what is changed."""

import pathlib
import shutil

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.zoo.acoustic import fine_tune, trained_model
from seqzoo.zoo.checkpoints import components, nnet1, nnet_proto
from seqzoo.zoo.commands import main
from tests import small_runs


def tables_of(name, labels="ali"):
    """Flags of a set as tables, which take 3 targets."""
    return [
        f"--feats=scp:{name}/feats.scp",
        f"--cv_feats=scp:{name}/feats.scp",
        f"--labels=scp:{name}/{labels}.scp",
    ]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A folder with a set, `set`, and a run on it, `base`."""
    folder = tmp_path_factory.mktemp("fine_tune")
    small_runs.make_set(folder / "set", 1)
    words = [*small_runs.SMALL, "--max_iters=1", f"--run_dir={folder}/base"]
    given = tables_of(folder / "set")
    assert small_runs.train(*words, "--num_tgt=3", *given) == 0
    return folder


@pytest.fixture
def work(base, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set").symlink_to(base / "set")
    shutil.copytree(base / "base", tmp_path / "base", symlinks=True)
    return tmp_path


FLAGS = [f for f in small_runs.SMALL if not f.startswith(("--hid", "--splice"))]


def tune(*words, data=None, targets=3, model="acoustic/dnn", run="run"):
    data = data or tables_of("set")
    flags = [f for f in FLAGS if model == "acoustic/dnn" or "minibatch_size" not in f]
    words = [*flags, "--max_iters=1", f"--num_tgt={targets}", *data, *words]
    return main.main(["train", model, f"--run_dir={run}", *words])


def same(one, other, name):
    return np.array_equal(getattr(one, name), getattr(other, name))


def test_a_frozen_layer_stays_and_the_others_learn(work, capsys):
    assert tune("--init=base", "--freeze=1", "--learn_rate_coefs=3=0.5/2") == 0
    before, after = nnet1.read("base/final.nnet"), nnet1.read("run/final.nnet")
    for name in ("linearity", "bias"):
        assert same(before.components[0], after.components[0], name)
        assert not same(before.components[2], after.components[2], name)
    assert after.components[0].learn_rate_coef == 0
    assert after.components[0].bias_learn_rate_coef == 0
    assert after.components[2].learn_rate_coef == 0.5
    assert after.components[2].bias_learn_rate_coef == 1
    for name in ("final.feature_transform", "ali_train_pdf.counts"):
        found = (work / "run" / name).read_bytes()
        assert found == (work / "base" / name).read_bytes()
    report = (work / "run" / fine_tune.REPORT).read_text()
    assert report.splitlines() == [
        "component 1 <AffineTransform>, 18 to 8, 152 parameters: frozen",
        "component 3 <AffineTransform>, 8 to 3, 27 parameters: kept",
        "parameters: 27 learn on, 152 are frozen, 0 are new, 0 were dropped",
    ]
    assert "LOG (seqzoo train) parameters: 27 learn on" in capsys.readouterr().err


def test_the_first_loss_is_that_of_the_network_before(work):
    assert tune("--init=base") == 0
    before = (work / "base" / "log" / "iter1.cv.log").read_text()
    after = (work / "run" / "log" / "iter00.initial.log").read_text()

    def loss(text):
        [line] = [line for line in text.splitlines() if line.startswith("AvgLoss:")]
        return line

    assert loss(before) == loss(after)


def test_a_new_output_layer_for_other_targets(work):
    random = np.random.default_rng(3)
    with tables.Writer("ark,scp:more.ark,set/more.scp", "int32_vector") as writer:
        for utt, labels in tables.read("scp:set/ali.scp", "int32_vector"):
            extra = random.integers(0, 2, len(labels)).astype(np.int32)
            writer.write(utt, labels + 3 * extra)
    data = tables_of("set", "more")
    words = ["--init=base", "--replace_output=6", "--freeze=all", "--min_iters=1"]
    assert tune(*words, data=data, targets=6) == 0
    before, after = nnet1.read("base/final.nnet"), nnet1.read("run/final.nnet")
    assert after.output_dim == 6
    assert same(before.components[0], after.components[0], "linearity")
    initial = nnet1.read("run/nnet.init").components[2]
    assert initial.bias_learn_rate_coef == pytest.approx(0.1)
    assert not same(initial, after.components[2], "linearity")
    report = (work / "run" / fine_tune.REPORT).read_text()
    assert report.endswith(
        "parameters: 0 learn on, 152 are frozen, 54 are new, 27 were dropped\n"
    )
    counts = tables.read_object("run/ali_train_pdf.counts", "vector")
    assert len(counts) == 6


def test_it_goes_on_after_it_ended(work, capsys):
    words = ["--init=base", "--freeze=1"]
    assert tune(*words) == 0
    assert tune(*words) == 0
    assert "run: finished before" in capsys.readouterr().err
    assert tune("--init=base", "--freeze=3") == 1
    assert "holds a run with recipe.freeze '1', not '3'" in capsys.readouterr().err


def test_options_of_the_run_s_features_are_taken(work, capsys):
    (work / "base" / "delta_opts").write_text("--delta-order=0\n")
    (work / "base" / "cmvn_opts").write_text("--norm-vars=true\n")
    assert tune("--init=base") == 0
    err = capsys.readouterr().err
    assert "delta_opts of base: --delta-order=0" in err
    assert (
        "base was trained on normalised features (cmvn_opts '--norm-vars=true')" in err
    )
    assert (work / "run" / "delta_opts").read_text() == "--delta-order=0\n"
    assert not (work / "run" / "cmvn_opts").exists()
    # With the statistics they are normalised as before.
    from seqzoo.datasets import cmvn

    with tables.Writer("ark:cmvn.ark") as writer:
        for utt, stats in cmvn.compute("scp:set/feats.scp"):
            writer.write(utt, stats)
    given = ["--cmvn=ark:cmvn.ark", "--cv_cmvn=ark:cmvn.ark", "--min_iters=1"]
    assert tune("--init=base", *given, run="second") == 0
    assert (work / "second" / "cmvn_opts").read_text() == "--norm-vars=true\n"
    assert tune("--init=base", "--delta_opts=--delta-order=1", run="third") == 1
    assert (
        "base/final.feature_transform: takes 6 dimensions, but the features (with "
        "deltas) have 12."
    ) in capsys.readouterr().err


def test_a_network_s_file_gets_a_new_feature_transform(work):
    assert tune("--init=base/final.nnet", "--splice=1", "--min_iters=1") == 0
    assert trained_model.read("run").feature_transform.output_dim == 18
    before = nnet1.read("base/final.nnet")
    assert nnet1.to_bytes(nnet1.read("run/nnet.init")) == nnet1.to_bytes(before)


def test_a_run_with_a_keras_file_alone(work):
    (work / "base" / "final.nnet").unlink()
    assert tune("--init=base") == 0
    assert (work / "run" / "final.nnet").exists()


def test_layers_of_a_new_network_can_be_frozen(work):
    words = ["--freeze=1", "--hid_layers=1", "--hid_dim=4", "--splice=0"]
    assert tune(*words) == 0
    initial, final = nnet1.read("run/nnet.init"), nnet1.read("run/final.nnet")
    assert same(initial.components[0], final.components[0], "linearity")
    assert (work / "run" / fine_tune.REPORT).exists()


LSTM = """
<LstmProjected> <InputDim> 6 <OutputDim> 4 <CellDim> 5
<AffineTransform> <InputDim> 4 <OutputDim> 3
<Softmax> <InputDim> 3 <OutputDim> 3
"""


def test_a_recurrent_layer_is_frozen_while_utterances_are_learnt(work):
    nnet1.write("lstm.nnet", nnet_proto.initialize(LSTM, 1))
    words = ["--init=lstm.nnet", "--freeze=LstmProjected", "--num_streams=2"]
    assert tune(*words, "--batch_size=10", "--min_iters=1", model="acoustic/lstm") == 0
    initial, final = nnet1.read("run/nnet.init"), nnet1.read("run/final.nnet")
    lstm, affine = final.components[:2]
    assert (lstm.learn_rate_coef, lstm.bias_learn_rate_coef) == (0, 0)
    for name in lstm.parameters():
        assert same(initial.components[0], lstm, name)
    assert not same(initial.components[1], affine, "linearity")


def of_other_width(work):
    small_runs.make_set(pathlib.Path("narrow"), 2, dim=4)


def without_softmax(work):
    nnet = nnet1.read("base/final.nnet")
    nnet.components[-1] = components.Copy(3, 3, [0, 1, 2])
    nnet1.write("odd.nnet", nnet)


@pytest.mark.parametrize(
    ("prepare", "words", "message"),
    [
        (None, "--init=gone", "gone: no such run folder or network to start from"),
        (None, "--init=set", "set: a folder without final.nnet"),
        (
            of_other_width,
            "--init=base --feats=scp:narrow/feats.scp --cv_feats=scp:narrow/feats.scp",
            "base/final.feature_transform: takes 6 dimensions, but the features (with "
            "deltas) have 4",
        ),
        (
            None,
            "--init=base/final.nnet --splice=2",
            "base/final.nnet: takes 18 dimensions, but the feature transform puts out "
            "30",
        ),
        (
            None,
            "--init=base --num_tgt=5",
            "base: has 3 outputs, but there are 5 targets; give --replace_output=5.",
        ),
        (None, "--init=base --replace_output=4", "has 4 outputs, but there are 3 targ"),
        (None, "--init=base --freeze=5", "base: freeze '5': '5' is not within 1:4"),
        (None, "--init=base --freeze=all", "freeze 'all': nothing is left that learns"),
        (None, "--init=base --freeze=lstm", "base: freeze 'lstm': 'lstm' is no comp"),
        (None, "--init=base --learn_rate_coefs=1", "'1' is not of the form WHERE=COEF"),
        (None, "--init=base --replace_output=0", "--replace_output=0"),
        (None, "--init=base --hid_dim=4", "--hid_dim is for a new network"),
        (None, "--init=base --splice=4", "--splice is for a new feature transform"),
        (None, "--init=base --mlp_init=x", "mlp_init=x and init=base are two networks"),
        (
            without_softmax,
            "--init=odd.nnet --splice=1 --replace_output=3",
            "odd.nnet: replace_output: the output comes from <Copy>",
        ),
    ],
)
def test_what_does_not_fit_is_told_and_leaves_nothing(
    work, capsys, prepare, words, message
):
    if prepare:
        prepare(work)
    assert tune(*words.split()) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("seqzoo train: ") and message in line
    assert not (work / "run").exists()


def test_two_networks_are_not_started_from_one(work, capsys):
    assert tune("--init=base", model="acoustic/bottleneck") == 1
    assert "acoustic/bottleneck trains two" in capsys.readouterr().err
