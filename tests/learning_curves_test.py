import csv
import json
import math
import pathlib

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import learning_curves

_LOG = pathlib.Path(__file__).parent / "goldens/torch/gbw_tiny/xplog_tiny.t7"
_COLUMNS = (
    "epoch,learn_rate,train_error,valid_error,valid_perplexity,best,words,seconds,"
    "words_per_second,gradient_norm"
).split(",")


def make_run(path, epochs=6, perplexity_each=0, output="nce", base=3.0):
    """A run whose errors fall; its last epoch is not its best one."""
    path.mkdir()
    about = {"model": "language/lstm", "settings": {"output": output}}
    (path / "config.json").write_text(json.dumps(about))
    with (path / "history.csv").open("w") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n", restval="")
        writer.writeheader()
        for epoch in range(1, epochs + 1):
            valid = base + 2 / epoch + (epoch == epochs > 1)
            row = {
                "epoch": epoch,
                "learn_rate": 0.7 - 0.1 * epoch / epochs,
                "train_error": base + 1.5 / epoch,
                "valid_error": valid,
                "best": not epoch == epochs > 1,
                "words": 1000,
            }
            if perplexity_each and epoch % perplexity_each == 0:
                row["valid_perplexity"] = math.exp(valid + 1)
            writer.writerow(row)
    return str(path)


@pytest.fixture
def drawn(tmp_path, picture):
    """Draws the curves of runs, and gives the figure."""
    folder = tmp_path / "pictures"
    folder.mkdir()

    def draw(*runs):
        path = str(folder / "curves.png")
        return picture(path, learning_curves.draw, list(runs), path)

    return draw


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def test_what_a_run_says(tmp_path):
    curves = learning_curves.read(make_run(tmp_path / "lm", 4, 2))
    assert (curves.name, curves.kind) == ("lm", "NCE error a time step")
    assert list(curves.epochs) == [1, 2, 3, 4] and curves.best == 3
    np.testing.assert_allclose(curves.train, [4.5, 3.75, 3.5, 3.375])
    np.testing.assert_allclose(curves.valid, [5, 4, 3 + 2 / 3, 4.5])
    np.testing.assert_allclose(
        curves.perplexity, [math.nan, math.exp(5), math.nan, math.exp(5.5)]
    )
    np.testing.assert_allclose(curves.learn_rate, [0.675, 0.65, 0.625, 0.6])


def test_what_torch_saved():
    curves = learning_curves.read(str(_LOG))
    assert curves.name == "xplog_tiny" and curves.best == 17
    assert list(curves.epochs) == list(range(1, 18))
    np.testing.assert_allclose(curves.valid[-1], 3.0318616493572756, rtol=1e-15)
    assert np.isnan(curves.learn_rate).all() and np.isnan(curves.perplexity).all()


def test_one_run(tmp_path, drawn):
    run = make_run(tmp_path / "lm$a_{b")
    curves = learning_curves.read(run)
    errors, rate = drawn(run).axes
    named = lines(errors)
    np.testing.assert_allclose(named["training"].get_ydata(), curves.train)
    np.testing.assert_allclose(named["validation"].get_ydata(), curves.valid)
    assert errors.get_ylabel() == "NCE error a time step"
    assert errors.figure.get_suptitle() == "lm$a_{b"
    (steps,) = rate.patches
    values, edges, _ = steps.get_data()
    np.testing.assert_allclose(values, curves.learn_rate)
    assert edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    assert rate.get_zorder() < errors.get_zorder()
    (ring,) = [line for line in errors.lines if line.get_markersize() == 8]
    assert (ring.get_xdata(), ring.get_ydata()) == ([5], [curves.valid[4]])


def test_perplexity_has_a_panel_of_its_own(tmp_path, drawn):
    run = make_run(tmp_path / "lm", 9, 3)
    errors, perplexity, _ = drawn(run).axes
    assert perplexity.get_ylabel() == "validation perplexity (full softmax)"
    line = lines(perplexity)["lm"]
    assert list(line.get_xdata()) == [3, 6, 9]
    known = [value for value in learning_curves.read(run).perplexity if value > 0]
    np.testing.assert_allclose(line.get_ydata(), known)
    assert "NCE" in errors.get_ylabel()


def test_perplexities_far_apart_have_plain_numbers(tmp_path, drawn):
    axes = drawn(make_run(tmp_path / "lm", 8, 1)).axes[1]
    assert axes.get_yscale() == "log"
    told = [label.get_text() for label in axes.get_yticklabels()]
    assert told == ["70", "100", "150", "200", "300", "400"]
    assert not len(axes.get_yticks(minor=True))


def test_six_runs(tmp_path, drawn):
    runs = [
        make_run(tmp_path / f"lm_{n}", 4 + n, 2 * (n == 3), base=3 + n)
        for n in range(6)
    ]
    figure = drawn(*runs)
    errors, perplexity = figure.axes
    found = lines(errors)
    colors = {found[f"lm_{n}"].get_color() for n in range(6)}
    assert len(colors) == 6 and set(lines(perplexity)) >= {"lm_3"}
    trained = [line for line in errors.lines if line.get_linestyle() == "--"]
    assert [line.get_color() for line in trained] == [f"C{n}" for n in range(6)]
    (legend,) = figure.legends
    told = [text.get_text() for text in legend.get_texts()]
    assert told == [*(f"lm_{n}" for n in range(6)), "validation", "training"]


def test_runs_of_one_name_are_told_apart(tmp_path, drawn):
    for folder in "ab":
        (tmp_path / folder).mkdir()
    runs = [make_run(tmp_path / "a" / "lm"), make_run(tmp_path / "b" / "$lm")]
    runs.append(make_run(tmp_path / "b" / "lm"))
    (axes,) = drawn(*runs).axes
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert told[:3] == [runs[0], r"\$lm", runs[2]]


def test_twelve_runs_have_twelve_colors(tmp_path, drawn):
    runs = [make_run(tmp_path / f"{n}", 2) for n in range(12)]
    (axes,) = drawn(*runs).axes
    assert len({tuple(lines(axes)[str(n)].get_color()) for n in range(12)}) == 12


def test_a_first_epoch(tmp_path, drawn):
    errors, rate = drawn(make_run(tmp_path / "lm", 1)).axes
    assert lines(errors)["training"].get_marker() == "o"
    assert [tick for tick in errors.get_xticks() if 0.5 <= tick <= 1.5] == [1]


def test_training_with_different_outputs(tmp_path, drawn):
    runs = [make_run(tmp_path / o, output=o) for o in ("nce", "full_softmax")]
    (axes,) = drawn(*runs).axes
    assert axes.get_ylabel() == "error a time step"
    kind = learning_curves.read(runs[1]).kind
    assert kind == "cross-entropy a time step, nats"


def test_a_run_beside_what_torch_saved(tmp_path, drawn):
    (axes,) = drawn(make_run(tmp_path / "lm"), str(_LOG)).axes
    assert {"lm", "xplog_tiny"} <= set(lines(axes))
    assert axes.get_ylabel() == "NCE error a time step"


def acoustic(path):
    path.mkdir()
    (path / "history.csv").write_text(
        "iteration,learn_rate,train_loss,cv_loss,accepted\n"
        "1,0.008,2.5,2.25,True\n2,0.004,2.0,2.5,False\n"
    )
    return str(path)


def test_acoustic_runs(tmp_path, drawn):
    run = acoustic(tmp_path / "dnn")
    errors, _ = drawn(run).axes
    assert errors.get_ylabel() == "loss per frame"
    assert list(lines(errors)["validation"].get_ydata()) == [2.25, 2.5]
    assert learning_curves.read(run).best == 1
    lm = make_run(tmp_path / "lm")
    with pytest.raises(InputError, match="lm: its errors are NCE .* acoustic ones"):
        learning_curves.read_all([run, lm])


def test_a_table_of_an_imported_run_is_torchs(tmp_path):
    log = learning_curves.read(str(_LOG))
    rows = zip(log.epochs, log.train, log.valid, strict=True)
    run = tmp_path / "lm"
    run.mkdir()
    (run / "history.csv").write_text(
        "epoch,learn_rate,train_error,valid_error,valid_perplexity,best\n"
        + "".join(f"{epoch},,{train},{valid},,True\n" for epoch, train, valid in rows)
    )
    found = learning_curves.table([learning_curves.read(str(run))])
    assert found == (_LOG.parent / "learningcurve.csv").read_text()


def test_a_table_of_several_runs(tmp_path, capsys):
    runs = [make_run(tmp_path / name, 2) for name in ("a", "b,c")]
    assert main.main(["curves", *runs, "--csv=-"]) == 0
    assert capsys.readouterr().out == (
        "run,epoch,trainerr,validerr\n"
        "a,1,4.500000,5.000000\n"
        "a,2,3.750000,5.000000\n"
        '"b,c",1,4.500000,5.000000\n'
        '"b,c",2,3.750000,5.000000\n'
    )


def test_a_table_with_a_value_that_is_not_known(tmp_path):
    run = pathlib.Path(make_run(tmp_path / "lm", 1))
    (run / "history.csv").write_text("epoch,train_error,valid_error\n1,nan,\n2,inf,3\n")
    found = learning_curves.table([learning_curves.read(str(run))])
    assert found == "epoch,trainerr,validerr\n1,,\n2,,3.000000\n"


def test_the_command_draws(tmp_path, monkeypatch, capsys):
    run = make_run(tmp_path / "lm")
    monkeypatch.chdir(tmp_path)
    assert main.main(["curves", run, str(_LOG)]) == 0
    assert main.main(["curves", run, "--png", "a/b.png", "--csv", "c.csv"]) == 0
    assert main.main(["curves", "lm/", str(_LOG), "--dumpcsv"]) == 0
    told = capsys.readouterr().out.split()
    expected = ["curves.png", "a/b.png", "c.csv", "learningcurves/lm.csv"]
    assert told == [*expected, "learningcurves/xplog_tiny.csv"]
    assert all(pathlib.Path(name).exists() for name in told)
    assert pathlib.Path("a/b.png").read_bytes()[:4] == b"\x89PNG"
    table = pathlib.Path("learningcurves/lm.csv").read_text()
    assert table == pathlib.Path("c.csv").read_text()
    assert table.startswith("epoch,trainerr,validerr\n1,")


HEAD = "epoch,train_error,valid_error\n"


@pytest.mark.parametrize(
    "history, found",
    [
        (None, "lm: has no history.csv; it is not the folder of a training"),
        (HEAD, "lm: no epoch of its training has ended yet"),
        ("", "history.csv: has no column epoch but nothing"),
        ("layer,loss\n1,2\n", "has no column epoch but layer, loss; runs of"),
        (HEAD + "1,2,x\n", "history.csv:2: valid_error is 'x', not a number"),
        (HEAD + "1,2,3\n,2,3\n", "history.csv:3: has no number of an epoch"),
        (HEAD + "1.5,2,3\n", "history.csv:2: has no number of an epoch"),
        (b"\xff", "history.csv: cannot be read"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(tmp_path, capsys, history, found):
    (tmp_path / "lm").mkdir()
    if history is not None:
        data = history if isinstance(history, bytes) else history.encode()
        (tmp_path / "lm" / "history.csv").write_bytes(data)
    assert main.main(["curves", str(tmp_path / "lm"), "--csv=-"]) == 1
    captured = capsys.readouterr()
    assert found in captured.err and captured.err.count("\n") == 1
    assert not captured.out


def test_files_that_are_no_log(tmp_path, capsys):
    (tmp_path / "x.txt").write_text("words")
    for words, found in [
        ([f"{tmp_path}/none"], "none: is not there; a run folder, or a .t7"),
        ([f"{tmp_path}/x.txt"], "x.txt: is neither a run folder nor a .t7"),
        ([f"{_LOG.parent}/word_freq.th7"], "word_freq.th7: "),
        ([str(_LOG), "--png=a.jpg"], "--png=a.jpg: a name that ends with .png"),
        (["preset:none"], "no preset 'none'"),
    ]:
        assert main.main(["curves", *words]) == 1
        err = capsys.readouterr().err
        assert found in err and err.count("\n") == 1
    assert main.main(["curves"]) == 2
