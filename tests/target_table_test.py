import time

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.target_table import TargetTable

LABELS = Posterior.from_labels([0, 2, 1])


def text(tmp_path, content):
    (tmp_path / "targets").write_text(content)
    return f"ark:{tmp_path}/targets"


def test_text_labels(tmp_path):
    table = TargetTable(text(tmp_path, "a 0 2 1\nb 4\n"))
    assert table["a"] == LABELS and "b" in table and "c" not in table


def test_text_posteriors(tmp_path):
    table = TargetTable(text(tmp_path, "a [ 0 1 ] [ 2 1 ] [ 1 1 ]\nb [ 3 0.5 ] [ ]\n"))
    assert table["a"] == LABELS
    assert table["b"].frames() == [[(3, 0.5)], []]


@pytest.mark.parametrize(
    "content", ["a [ 3 0.5 4 -2.5 ]\n", "z [ ] [ ]\na [ 3 0.5 4 -2.5 ]\n"]
)
def test_a_posterior_of_one_frame(tmp_path, content):
    table = TargetTable(text(tmp_path, content))
    assert table["a"].frames() == [[(3, 0.5), (4, -2.5)]]


def test_a_posterior_of_thirteen_frames(tmp_path):
    line = (
        "utt1 [ 0 0.9991834 64 0.0008166544 ] [ 1 1 ] [ 0 1 ] [ 111 1 ] [ 0 1 ] "
        "[ 63 1 ] [ 0 1 ] [ 135 1 ] [ 0 1 ] [ 162 1 ] [ 0 1 ] "
        "[ 1 0.9937257 12 0.006274292 ] [ 0 1 ]\n"
    )
    post = TargetTable(text(tmp_path, line))["utt1"]
    assert len(post) == 13
    assert post.frames()[11] == [
        (1, pytest.approx(0.9937257)),
        (12, pytest.approx(0.006274292)),
    ]
    np.testing.assert_allclose(post.to_dense(163).sum(1), 1, rtol=1e-6)


@pytest.mark.parametrize("value", [[0, 2, 1], [0, 0, 0], [1, 1, 0], [2, 2], [7], []])
@pytest.mark.parametrize("kind", ["int32_vector", "posterior"])
@pytest.mark.parametrize("form", ["ark:", "ark,t:"])
def test_every_form_is_told_apart(tmp_path, value, kind, form):
    labels = np.array(value, np.int32)
    path = f"{tmp_path}/x.ark"
    with tables.Writer(form + path, kind) as writer:
        for key in "ab":
            value = labels if kind == "int32_vector" else Posterior.from_labels(labels)
            writer.write(key, value)
    table = TargetTable(f"ark:{path}")
    assert table["a"] == table["b"] == Posterior.from_labels(labels)


def test_matrices_are_targets_too(tmp_path):
    table = TargetTable(text(tmp_path, "a  [\n 1.5 -2\n 0 3 ]\n"))
    assert table["a"].frames() == [[(0, 1.5), (1, -2)], [(0, 0), (1, 3)]]


def test_mappings():
    table = TargetTable({"a": np.array([0, 2, 1]), "b": LABELS, "c": np.eye(2)})
    assert table["a"] == table["b"] == LABELS
    assert table["c"].frames()[1] == [(0, 0), (1, 1)]


@pytest.mark.parametrize("content", ["a one two\n", "a word\n", "a [ 1 2 3 ]\n"])
def test_other_things_are_refused(tmp_path, content):
    with pytest.raises(InputError, match="utterance a holds .* targets are"):
        TargetTable(text(tmp_path, content))["a"]


def test_a_bad_line_is_named(tmp_path):
    table = TargetTable(text(tmp_path, "a 0 1\nb 0 x\n"))
    with pytest.raises(InputError, match="targets:2: .*x"):
        table["b"]


def test_many_text_labels_take_little_time(tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"u{i} " + " ".join(map(str, rng.integers(0, 3000, 1000).tolist())) + "\n"
        for i in range(200)
    ]
    name = text(tmp_path, "".join(lines))
    start = time.process_time()
    table = TargetTable(name)
    assert sum(len(table[f"u{i}"]) for i in range(200)) == 200_000
    assert time.process_time() - start < 5
