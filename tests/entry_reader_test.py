import numpy as np
import pytest

from seqzoo.datasets import scp, tables
from seqzoo.datasets.entry_reader import EntryReader
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.scp_table import ScpTable


@pytest.fixture
def corpus(tmp_path):
    """An scp of 100 matrices in two archives, each full of its number."""
    lines = []
    for half in (0, 1):
        spec = f"ark,scp:{tmp_path}/{half}.ark,{tmp_path}/{half}.scp"
        with tables.Writer(spec, compression_method=2 * half) as writer:
            for i in range(50 * half, 50 * half + 50):
                writer.write(f"utt{i:02}", np.full((9 + i % 7, 3), i, np.float32))
        lines += (tmp_path / f"{half}.scp").read_text().splitlines(keepends=True)
    path = tmp_path / "x.scp"
    path.write_text("".join(lines))
    return path


def read(path, **options):
    with EntryReader() as reader:
        entries = scp.read(str(path), allow_pipes=False)
        yield from reader.read(
            entries, lambda r: r.read_matrix(), scp.cut, together=True, **options
        )


def check(found, order):
    assert [key for key, _ in found] == [f"utt{i:02}" for i in order]
    for key, matrix in found:
        assert matrix.shape == (9 + int(key[3:]) % 7, 3)
        np.testing.assert_allclose(matrix, int(key[3:]), rtol=1e-4)


def test_in_order_backwards_and_mixed(corpus):
    lines = corpus.read_text().splitlines(keepends=True)
    for order in (range(100), range(99, -1, -1), [3, 60, 4, 61, 5, 62, 7, 70, 71]):
        corpus.write_text("".join(lines[i] for i in order))
        check(list(read(corpus)), order)


def test_ranges_in_between(corpus):
    lines = corpus.read_text().splitlines()
    lines[4] += "[1:2]"
    corpus.write_text("\n".join(lines))
    found = dict(read(corpus))
    assert len(found) == 100
    assert found["utt04"].shape == (2, 3) and found["utt05"].shape == (14, 3)


def test_entries_before_an_error_come_first(corpus):
    lines = corpus.read_text().splitlines()
    lines[7] = "utt07"
    corpus.write_text("\n".join(lines))
    found = []
    with pytest.raises(InputError, match=r"x\.scp:8: found 'utt07' alone"):
        for pair in read(corpus):
            found.append(pair)
    check(found, range(7))


def test_a_broken_object_can_be_passed_over(corpus):
    lines = corpus.read_text().splitlines()
    path, _, offset = lines[7].rpartition(":")
    lines[7] = f"{path}:{int(offset) + 1}"
    corpus.write_text("\n".join(lines))
    with pytest.raises(InputError, match="utt07"):
        list(read(corpus))
    check(list(read(corpus, permissive=True)), [*range(7), *range(8, 100)])


def test_a_table_is_asked_while_it_is_read(corpus):
    table = ScpTable(f"scp:{corpus}")
    found = []
    for i, (key, matrix) in enumerate(table.read()):
        other = f"utt{99 - i:02}"
        check([(other, table[other])], [99 - i])
        found.append((key, matrix))
    check(found, range(100))


def test_files_whose_names_end_like_offsets(tmp_path):
    for i in (1, 2):
        tables.write_object(f"{tmp_path}/m:{i}", np.full((9, 3), i, np.float32))
    path = tmp_path / "x.scp"
    path.write_text(f"a {tmp_path}/m:1\nb {tmp_path}/m:2\n")
    assert [(key, m[0, 0]) for key, m in read(path)] == [("a", 1), ("b", 2)]
