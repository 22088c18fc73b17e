import os

import pytest

from seqzoo.datasets import gbw_sources, kjv
from seqzoo.datasets.errors import InputError


def test_the_legend_lies_beside_the_text():
    with open(os.path.join(kjv.path(), "README.md"), encoding="utf-8") as file:
        text = " ".join(file.read().split())
    assert "Bible Retrieval System, Chip Chapin, Hewlett Packard Company" in text


def test_a_copy(tmp_path):
    target = str(tmp_path / "data" / "kjv")
    assert kjv.copy_to(target) == target
    ours, copied = gbw_sources.find(kjv.path()), gbw_sources.find(target)
    for name, paths in ours.items():
        for path, copy in zip(paths, copied[name], strict=True):
            with open(path, "rb") as a, open(copy, "rb") as b:
                assert a.read() == b.read()
    assert os.listdir(tmp_path / "data") == ["kjv"]
    (tmp_path / "data" / "kjv" / "mine").touch()
    kjv.copy_to(target)
    assert (tmp_path / "data" / "kjv" / "mine").exists()


def test_other_things_are_not_touched(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not a copy of the kjv; give a new directory"):
        kjv.copy_to(str(tmp_path))
    assert os.listdir(tmp_path) == ["file"]
