import logging

import numpy as np
import pytest

from seqzoo.datasets import scp_table, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.scp_table import ScpTable

KEYS = ["c", "a", "d", "b"]


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """corpus/sub/{x.ark,x.scp} with the values 0, 1, 2, 3; seen from elsewhere."""
    (tmp_path / "corpus" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "corpus")
    with tables.Writer("ark,scp:sub/x.ark,sub/x.scp", "matrix") as writer:
        for i, key in enumerate(KEYS):
            writer.write(key, np.full((3, 2), i, np.float32))
    monkeypatch.chdir(tmp_path)
    return "corpus/sub/x.scp"


def test_values_by_key_and_in_file_order(corpus):
    table = ScpTable(f"scp:{corpus}")
    assert list(table) == KEYS and len(table) == 4
    assert table["d"][0, 0] == 2 and table["c"][0, 0] == 0
    assert "b" in table and "e" not in table and table.get("e") is None
    assert [(key, int(value[0, 0])) for key, value in table.read()] == list(
        zip(KEYS, range(4), strict=True)
    )
    table.close()
    assert table["a"][0, 0] == 1


def test_shuffled_order_is_fixed_by_the_seed_and_is_the_reading_order(corpus):
    table = ScpTable(f"scp:{corpus}")
    order = table.order(7)
    assert sorted(order) == sorted(KEYS)
    assert order == ScpTable(f"scp:{corpus}").order(7)
    assert [key for key, _ in table.read(7)] == order
    assert len({tuple(table.order(seed)) for seed in range(20)}) > 5
    assert all(value[0, 0] == KEYS.index(key) for key, value in table.read(3))


def test_ranges(corpus, tmp_path):
    (tmp_path / "corpus" / "y.scp").write_text("k sub/x.ark:2[1:2,0:0]\n")
    assert ScpTable("scp:corpus/y.scp")["k"].shape == (2, 1)
    (tmp_path / "corpus" / "y.scp").write_text("k sub/x.ark:2[9:10]\n")
    with pytest.raises(InputError, match="y.scp:1: utterance 'k': range 9:10"):
        ScpTable("scp:corpus/y.scp")["k"]


def test_broken_entries(corpus, tmp_path, caplog):
    with open(corpus, "a") as file:
        file.write("e nowhere.ark:2\n")
    with pytest.raises(InputError, match="nowhere.ark: .*entry 'e' of .*x.scp:5"):
        list(ScpTable(f"scp:{corpus}").read())
    table = ScpTable(f"scp,p:{corpus}")
    with caplog.at_level(logging.WARNING):
        assert [key for key, _ in table.read()] == KEYS
        assert "e" not in table
    assert "Entry 'e' is passed over" in caplog.text


def test_a_key_twice_and_an_archive(corpus):
    with open(corpus, "a") as file:
        file.write("a corpus/sub/x.ark:2\n")
    with pytest.raises(InputError, match="x.scp:5: key 'a' is already at .*x.scp:2"):
        ScpTable(f"scp:{corpus}")
    with pytest.raises(InputError, match="an scp is needed"):
        ScpTable("ark:corpus/sub/x.ark")


def test_pipes_only_if_allowed(tmp_path):
    path = tmp_path / "pipes.scp"
    path.write_text("k echo '[ 1 2 ]' |\n")
    with pytest.raises(InputError, match="would run"):
        ScpTable(f"scp:{path}", "vector")
    table = ScpTable(f"scp:{path}", "vector", allow_pipes=True)
    np.testing.assert_array_equal(table["k"], [1, 2])


def test_either_form(corpus):
    for rspecifier in (f"scp:{corpus}", "ark:corpus/sub/x.ark"):
        assert scp_table.open_table(rspecifier)["d"][0, 0] == 2
        assert [key for key, _ in scp_table.read_table(rspecifier)] == KEYS


@pytest.mark.parametrize("options", ["", ",o", ",s,cs", ",o,p"])
def test_a_table_can_be_asked_again(tmp_path, options):
    (tmp_path / "t").write_text("a 1\nb 2\n")
    table = scp_table.open_table(f"ark{options}:{tmp_path}/t", "token")
    for key, value in ["a1", "b2", "a1", "b2"]:
        assert key in table and table[key] == value
