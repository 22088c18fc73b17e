import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.archive import Archive
from seqzoo.datasets.errors import InputError


def test_keys_of_binary_and_text_entries_in_one_archive(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(
        b"a \0BFM \4\1\0\0\0\4\1\0\0\0\0\0\x80?" + "b\u00e9 [ 2 ]\n".encode()
    )
    with Archive(str(path), "matrix") as archive:
        assert archive.next_key() == "a" and archive.reader.binary
        assert archive.reader.read_matrix().tolist() == [[1]]
        assert archive.next_key() == "b\u00e9" and not archive.reader.binary
        assert archive.reader.read_matrix().tolist() == [[2]]
        assert archive.next_key() is None


def test_an_empty_file_is_an_empty_archive(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"")
    assert list(tables.read(f"ark:{path}")) == []


def test_runs_of_compressed_matrices_end_where_the_form_changes(tmp_path):
    rng = np.random.default_rng(0)
    shapes = [(9, 3)] * 7 + [(2, 3), (9, 3), (9, 4), (0, 0), (700, 300)] + [(12, 4)] * 5
    matrices = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    path = tmp_path / "x"
    spec = f"ark,scp:{path},{path}.scp"
    with tables.Writer(spec, compression_method=1) as writer:
        for i, matrix in enumerate(matrices):
            writer.write(f"utt{i}", matrix)
    together = dict(tables.read(f"ark:{path}"))
    apart = dict(tables.read(f"scp:{path}.scp"))
    assert list(together) == list(apart) == [f"utt{i}" for i in range(len(shapes))]
    for key in apart:
        np.testing.assert_array_equal(together[key], apart[key])
    path.write_bytes(path.read_bytes()[:-20])
    found = []
    with pytest.raises(InputError, match="'utt16': .* only"):
        for key, _ in tables.read(f"ark:{path}"):
            found.append(key)
    assert found == [f"utt{i}" for i in range(16)]
