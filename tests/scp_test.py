import numpy as np
import pytest

from seqzoo.datasets import scp
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.posterior import Posterior


def entries(tmp_path, text, **options):
    path = tmp_path / "x.scp"
    path.write_bytes(text)
    return list(scp.read(str(path), allow_pipes=False, **options))


def test_lines(tmp_path):
    found = entries(tmp_path, b"a f.ark:2\r\nb\tg h.ark:3[0:1,:]\n\nc k.ark [2:3]")
    assert [(e.key, e.name, e.range) for e in found] == [
        ("a", "f.ark:2", ""),
        ("b", "g h.ark:3", "0:1,:"),
        ("c", "k.ark", "2:3"),
    ]
    assert found[2].where == f"{tmp_path / 'x.scp'}:4"


@pytest.mark.parametrize(
    "text, message",
    [
        (b"a x\nb\n", "x.scp:2: found 'b' alone; a line is KEY FILE"),
        (b"a cat x |\n", "x.scp:1: entry 'a' would run 'cat x |'"),
        (b"a \0BFM ", "x.scp:1: this is a binary archive, not an scp"),
        (b"\xff x\n", "x.scp:1: the line is not UTF-8"),
    ],
)
def test_bad_lines(tmp_path, text, message):
    with pytest.raises(InputError, match=message.replace("|", r"\|")):
        entries(tmp_path, text)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("0:0", np.s_[0:1]),
        ("2:5", np.s_[2:6]),
        (":", np.s_[:]),
        (":,1:2", np.s_[:, 1:3]),
        ("1:1,0:0", np.s_[1:2, 0:1]),
        ("5:7", np.s_[5:]),
        ("3:7,:", np.s_[3:]),
    ],
)
def test_ranges_include_both_ends(text, expected):
    matrix = np.arange(18).reshape(6, 3)
    np.testing.assert_array_equal(scp.cut(matrix, text), matrix[expected])


@pytest.mark.parametrize(
    "text",
    ["0:8", "6:7", "3:2", "-1:2", "0:1,0:3", "0:1,1:9", "1", "a:b", "0:1,:,:", ""],
)
def test_ranges_that_do_not_fit(text):
    matrix = np.zeros((6, 3))
    if text == "":
        assert scp.cut(matrix, text).shape == (6, 3)
        return
    with pytest.raises(InputError, match="range"):
        scp.cut(matrix, text)


def test_posteriors_and_words():
    assert len(scp.cut(Posterior.from_labels([1, 2, 3]), "1:2")) == 2
    with pytest.raises(InputError, match="no rows"):
        scp.cut("word", "0:1")
