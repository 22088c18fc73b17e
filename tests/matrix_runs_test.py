import numpy as np
import pytest

from seqzoo.datasets import files, matrix_runs, tables
from seqzoo.datasets.errors import InputError

RNG = np.random.default_rng(3)
SHAPES = [(9, 3)] * 4 + [(1, 1), (50, 4), (300, 70), (5000, 60), (2, 3)]


def write(tmp_path):
    """An archive of float and compressed matrices, and what it holds."""
    path = tmp_path / "x.ark"
    expected, data = {}, b""
    for method in (0, 2, 3, 5):
        part = tmp_path / "part"
        with tables.Writer(f"ark:{part}", compression_method=method) as writer:
            for i, shape in enumerate(SHAPES):
                writer.write(f"m{method}_{i}", RNG.normal(size=shape))
        data += part.read_bytes()
        with tables.RandomAccess(f"ark:{part}") as table:
            for i in range(len(SHAPES)):
                expected[f"m{method}_{i}"] = table[f"m{method}_{i}"]
    path.write_bytes(data)
    return str(path), expected


@pytest.mark.parametrize("chunk", [1, 1000, 70_000, None])
def test_entries_are_read_as_one_by_one(tmp_path, chunk):
    path, expected = write(tmp_path)
    found = {}
    with files.open_input(path, chunk=chunk) as source:
        while not source.at_end():
            run = matrix_runs.scan_entries(source)
            if not run:  # A large compressed one, which the run leaves alone.
                break
            for key, matrix in zip(run.keys, run, strict=True):
                found[key.decode()] = matrix
    assert len(found) >= 16
    for key, matrix in found.items():
        np.testing.assert_array_equal(matrix, expected[key])
        assert matrix.dtype == np.float32 and matrix.flags.writeable
        assert matrix.base is None or matrix.base.size == matrix.size
    assert [key for key, _ in tables.read(f"ark:{path}")] == list(expected)
    for key, matrix in tables.read(f"ark:{path}"):
        np.testing.assert_array_equal(matrix, expected[key])


def test_objects_at_offsets(tmp_path):
    spec = f"ark,scp:{tmp_path}/x.ark,{tmp_path}/x.scp"
    matrices = [RNG.normal(size=(9, 3)).astype(np.float32) for _ in range(20)]
    with tables.Writer(spec, compression_method=2) as writer:
        for i, matrix in enumerate(matrices):
            writer.write(f"utt{i}", matrix)
    scp = (tmp_path / "x.scp").read_text().split()
    offsets = [int(place.rpartition(":")[2]) for place in scp[1::2]]
    whole = [matrix for _, matrix in tables.read(f"ark:{tmp_path}/x.ark")]
    with files.open_input(f"{tmp_path}/x.ark:{offsets[2]}") as source:
        run = matrix_runs.scan_objects(source, offsets[2::3])
        assert len(run) == 6
        for matrix, expected in zip(run, whole[2::3], strict=True):
            np.testing.assert_array_equal(matrix, expected)
        source.seek(offsets[0])
        assert len(matrix_runs.scan_objects(source, [offsets[0], 10**9])) == 1
        source.seek(offsets[0] + 1)
        assert len(matrix_runs.scan_objects(source, [offsets[0] + 1])) == 0


def test_what_is_not_sound_is_left_where_it_stands(tmp_path):
    path = tmp_path / "x"
    sound = b"a \0BFM \4\1\0\0\0\4\1\0\0\0\0\0\x80?"
    for rest in (
        b"b \0BFM \4\0\0\0\0\4\0\0\0\0",
        b"b \0BFM \4\xff\xff\xff\xff\4\1\0\0\0",
        b"b \0BFM \5\1\0\0\0\4\1\0\0\0",
        b"b \0BFM \4\1\0\0\0\4\2\0\0\0\0\0\x80?",
        b"b \0BCM " + b"\xff" * 16,
        b"b  [ 1 ]\n",
        b"",
    ):
        path.write_bytes(sound + rest)
        with files.open_input(str(path)) as source:
            assert [m.tolist() for m in matrix_runs.scan_entries(source)] == [[[1]]]
            assert source.offset == len(sound)
            assert len(matrix_runs.scan_entries(source)) == 0
            assert source.offset == len(sound)


def test_a_large_float_matrix_cut_short_names_its_utterance(tmp_path):
    path = tmp_path / "x"
    with tables.Writer(f"ark:{path}") as writer:
        writer.write("long", np.zeros((40_000, 4)))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="'long': a matrix of 40000 rows.* only"):
        list(tables.read(f"ark:{path}"))
