import logging

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.posterior import Posterior

A = np.arange(6, dtype=np.float32).reshape(3, 2)
B = A + 10
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
KEYS = st.text(
    st.characters(categories=["L", "N", "P", "S"], codec="utf-8"), min_size=1
).filter(lambda key: len(key.split()) == 1 and key.isprintable() and key[-1] != "[")
FRAMES = st.lists(st.lists(st.tuples(st.integers(0, 2**31 - 1), FLOATS), max_size=3))
VALUES = {
    "matrix": hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=9),
        elements=FLOATS,
    ),
    "vector": hnp.arrays(np.float32, st.integers(0, 9), elements=FLOATS),
    "int32_vector": hnp.arrays(np.int32, st.integers(0, 9)),
    "posterior": FRAMES.map(Posterior.from_frames),
    "token": KEYS,
    "tokens": st.lists(KEYS),
}


def write(wspecifier, kind="matrix", **values):
    with tables.Writer(wspecifier, kind) as writer:
        for key, value in values.items():
            writer.write(key, value)


@pytest.fixture
def ark(tmp_path):
    path = tmp_path / "feats.ark"
    write(f"ark,scp:{path},{tmp_path / 'feats.scp'}", a=A, b=B)
    return path


def same(left, right):
    if isinstance(left, np.ndarray):
        return np.array_equal(left, right) or (left.size == 0 == right.size)
    return left == right


@pytest.mark.parametrize("kind", VALUES)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_round_trip(kind, data, tmp_path):
    values = data.draw(st.dictionaries(KEYS, VALUES[kind], max_size=4))
    spec = tmp_path / "t"
    with tables.Writer(f"ark,scp:{spec}.ark,{spec}.scp", kind) as writer:
        for key, value in values.items():
            writer.write(key, value)
    for rspecifier in (f"ark:{spec}.ark", f"scp:{spec}.scp"):
        found = dict(tables.read(rspecifier, kind))
        assert list(found) == list(values)
        assert all(same(found[key], values[key]) for key in values)
    for key, (rows, cols) in (
        tables.shapes(f"scp:{spec}.scp") if kind == "matrix" else ()
    ):
        assert (rows, cols) == values[key].shape


@pytest.mark.parametrize("kind", VALUES)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_text_is_stable_after_one_rounding(kind, data, tmp_path):
    values = data.draw(st.dictionaries(KEYS, VALUES[kind], max_size=4))
    spec = tmp_path / "t"
    with tables.Writer(f"ark,t,scp:{spec}.1,{spec}.scp", kind) as writer:
        for key, value in values.items():
            writer.write(key, value)
    with tables.Writer(f"ark,t:{spec}.2", kind) as writer:
        for key, value in tables.read(f"scp:{spec}.scp", kind):
            writer.write(key, value)
    first = (tmp_path / "t.1").read_bytes()
    assert first == (tmp_path / "t.2").read_bytes()
    read = dict(tables.read(f"ark:{spec}.1", kind))
    assert list(read) == list(values)
    for key, value in values.items():
        if kind in ("matrix", "vector"):
            np.testing.assert_allclose(read[key].ravel(), value.ravel(), 1e-6, 1e-44)
        elif kind != "posterior":
            assert same(read[key], value)


@pytest.mark.parametrize("double", [False, True])
def test_doubles(tmp_path, double):
    value = np.array([[1 / 3, 2.0]])
    with tables.Writer(f"ark:{tmp_path / 'a'}", double=True) as writer:
        writer.write("k", value)
    ((_, found),) = tables.read(f"ark:{tmp_path / 'a'}", double=double)
    assert found.dtype == (np.float64 if double else np.float32)
    np.testing.assert_array_equal(found, value if double else value.astype("f4"))


def test_any_kind_is_told_by_what_is_found(tmp_path):
    posterior = Posterior.from_frames([[(1, 0.5), (2, 0.5)], [(3, 1)]])
    cases = {
        "matrix": A,
        "vector": A[0],
        "int32_vector": np.array([3, 4], np.int32),
        "posterior": posterior,
    }
    for kind, value in cases.items():
        write(f"ark:{tmp_path / 'x'}", kind, a=value, b=value)
        found = dict(tables.read(f"ark:{tmp_path / 'x'}", "any"))
        assert same(found["a"], value) and same(found["b"], value), kind


@pytest.mark.parametrize("options", ["ark", "ark,s,cs", "ark,s", "ark,o", "ark,p"])
def test_random_access(ark, options):
    with tables.RandomAccess(f"{options}:{ark}") as table:
        assert "a" in table and "aa" not in table
        np.testing.assert_array_equal(table["b"], B)
        assert table.get("c") is None
        with pytest.raises(KeyError, match="no utterance 'c'"):
            table["c"]


def test_random_access_goes_back_in_an_archive_and_in_an_scp(ark):
    for spec in (f"ark:{ark}", f"scp:{ark.with_suffix('.scp')}"):
        with tables.RandomAccess(spec) as table:
            np.testing.assert_array_equal(table["b"], B)
            np.testing.assert_array_equal(table["a"], A)


def test_sorted_access_keeps_nothing(ark):
    with tables.RandomAccess(f"ark,s,cs:{ark}") as table:
        table["b"]
        assert not table._kept
        with pytest.raises(InputError, match="'a' is asked for after 'b'"):
            table["a"]


def test_sorted_access_to_an_unsorted_archive(tmp_path):
    write(f"ark:{tmp_path / 'x'}", b=B, a=A)
    with tables.RandomAccess(f"ark,s,cs:{tmp_path / 'x'}") as table:
        with pytest.raises(InputError, match="'a' comes after 'b', but 's'"):
            table["c"]


def test_keys_looked_up_are_unique(tmp_path):
    path = tmp_path / "x.scp"
    path.write_text("a x\na y\n")
    with pytest.raises(InputError, match=r"x.scp:2: key 'a' is already at .*x.scp:1"):
        tables.RandomAccess(f"scp:{path}")


def test_permissive_passes_over_what_is_broken(ark, tmp_path, caplog):
    scp = tmp_path / "feats.scp"
    lines = scp.read_text().splitlines()
    scp.write_text("\n".join([lines[0], "c missing.ark:3", lines[1]]))
    with pytest.raises(InputError, match=r"missing.ark: .*entry 'c' of .*feats.scp:2"):
        list(tables.read(f"scp:{scp}"))
    with caplog.at_level(logging.WARNING, "seqzoo"):
        assert [key for key, _ in tables.read(f"scp,p:{scp}")] == ["a", "b"]
    assert "'c' is passed over" in caplog.text
    with tables.RandomAccess(f"scp,p:{scp}") as table:
        assert "c" not in table and "b" in table


def test_permissive_ends_a_broken_archive_early(ark, caplog):
    ark.write_bytes(ark.read_bytes()[:-3])
    with pytest.raises(InputError, match="only 21 are left"):
        list(tables.read(f"ark:{ark}"))
    with caplog.at_level(logging.WARNING, "seqzoo"):
        assert [key for key, _ in tables.read(f"ark,p:{ark}")] == ["a"]


def test_commands_run_as_the_table_but_not_inside_an_scp(ark, tmp_path):
    assert len(list(tables.read(f"ark:cat {ark} |"))) == 2
    scp = tmp_path / "piped.scp"
    scp.write_text(f"a tail -c +3 {ark} |\n")
    message = r"piped.scp:1: entry 'a' would run 'tail .*--allow_pipes"
    with pytest.raises(InputError, match=message):
        list(tables.read(f"scp:{scp}"))
    with pytest.raises(InputError, match=message):
        tables.RandomAccess(f"scp:{scp}")
    ((_, value),) = tables.read(f"scp:{scp}", allow_pipes=True)
    np.testing.assert_array_equal(value, A)


def test_a_failing_command_is_an_error():
    with pytest.raises(InputError, match=r"'exit 3' failed \(exit 3\)"):
        list(tables.read("ark:exit 3 |"))


def test_ranges_are_clipped_with_a_warning(ark, tmp_path, caplog):
    scp = tmp_path / "r.scp"
    scp.write_text(f"x {ark}:2[1:4,1:1]\n")
    with caplog.at_level(logging.WARNING, "seqzoo"):
        ((_, value),) = tables.read(f"scp:{scp}")
    np.testing.assert_array_equal(value, A[1:, 1:])
    assert "Range 1:4 goes beyond the 3 rows" in caplog.text
    assert list(tables.shapes(f"scp:{scp}")) == [("x", (2, 1))]
    scp.write_text(f"x {ark}:2[1:5]\n")
    with pytest.raises(InputError, match=r"r.scp:1: utterance 'x': range 1:5 does not"):
        list(tables.read(f"scp:{scp}"))


def test_ranges_of_posteriors_and_labels(tmp_path):
    labels = np.array([5, 6, 7], np.int32)
    write(f"ark:{tmp_path / 'i'}", "int32_vector", a=labels)
    scp = tmp_path / "r.scp"
    scp.write_text(f"a {tmp_path / 'i'}:2[1:2]\n")
    ((_, found),) = tables.read(f"scp:{scp}", "int32_vector")
    assert found.tolist() == [6, 7]
    write(f"ark:{tmp_path / 'i'}", "posterior", a=Posterior.from_labels(labels))
    ((_, found),) = tables.read(f"scp:{scp}", "posterior")
    assert found == Posterior.from_labels([6, 7])


def test_shapes_read_headers_only(tmp_path, monkeypatch):
    big = np.ones((20_000, 40), np.float32)
    paths = []
    for method in (0, 2, 3, 5):
        paths.append(tmp_path / f"{method}.ark")
        spec = f"ark,scp:{paths[-1]},{paths[-1]}.scp"
        with tables.Writer(spec, compression_method=method) as writer:
            for key in "abc":
                writer.write(key, big)
    read = []
    from seqzoo.datasets import byte_reader

    pull = byte_reader.ByteReader._pull

    def counted(self, n):
        data = pull(self, n)
        read.append(len(data))
        return data

    monkeypatch.setattr(byte_reader.ByteReader, "_pull", counted)
    for path in paths:
        for spec in (f"ark:{path}", f"scp:{path}.scp"):
            read.clear()
            assert list(tables.shapes(spec)) == [(key, big.shape) for key in "abc"]
            assert sum(read) < 4000


def test_a_missing_blank_before_the_bracket(tmp_path):
    path = tmp_path / "t"
    path.write_text("utt1[ 1 2 ]\nutt2  [3  4]\nutt[ [ 5 ]\n")
    found = {key: value.tolist() for key, value in tables.read(f"ark:{path}", "vector")}
    assert found == {"utt1": [1, 2], "utt2": [3, 4], "utt[": [5]}


@pytest.mark.parametrize(
    "kind, data, message",
    [
        ("matrix", b"utt1 1 2 3\n", r"x:1: utterance 'utt1': found '1', but matrices"),
        (
            "matrix",
            b"a \0BFV \4\1\0\0\0aaaa",
            r"x:4: .*'a': holds a float vector \(FV\)",
        ),
        ("vector", b"a \0BCM2 0123", r"holds a compressed matrix \(CM2\), but vectors"),
        ("matrix", b"a \0B<Nnet3Eg> <NumIo> ", r"'<Nnet3Eg>'.*supported: FM, DM, CM,"),
        ("matrix", b"\0BFM \4\1\0\0\0\4\1\0\0\0abcd", r"x:0: .*without a key"),
        ("matrix", b" [\n 1 2 ]\n", r"x:1: .*without a key"),
        (
            "matrix",
            b"a [ 1 2\n 3 ]\n",
            r"x:1: .*row 1 .* has 1 columns, but row 0 has 2",
        ),
        ("matrix", b"a [ 1 2\n", r"x:1: .*no closing '\]'"),
        ("matrix", b"a [ 1 x ]\n", r"found 'x' in it"),
        ("matrix", b"a [ 1 [ 2 ]\n", r"has a \[ inside"),
        ("vector", b"a [ 1_0 ]\n", r"found '1_0' in it"),
        ("matrix", b"a [ 1 ]\nb", r"the file ends after the key"),
        ("matrix", b"a \0BFM \4\xff\xff\xff\x7f\4\xff\xff\xff\x7f", r"only 0 are left"),
        ("matrix", b"a \0BFM \4\0\0\0\x80\4\1\0\0\0", r"rows x 1 columns; it is dam"),
        ("matrix", b"a \0BFM \5\1\0\0\0\4\1\0\0\0", r"its integers are not int32"),
        ("int32_vector", b"a \0B\4\xff\xff\xff\x7f", r"only 0 are left"),
        ("int32_vector", b"a 1 2 99999999999\n", r"'99999999999'"),
        ("int32_vector", b"a 1 2.5\n", r"'2.5'"),
        ("int32_vector", b"a [ 1 2 ]\n", r"found a \[, but integer vectors"),
        ("posterior", b"a [ 1 ]\n", r"frame 0 of the posterior has 1 numbers"),
        ("posterior", b"a [ 1 1\n", r"no closing \]"),
        ("posterior", b"a \0B\4\xff\xff\xff\x7f", r"only 0 are left"),
        ("token", b"a b c\n", r"x:1: .*expected one word, found 2"),
        ("matrix", b"\xff\xfe \0BFM ", r"x:0: .*not UTF-8"),
    ],
)
def test_bad_archives(tmp_path, monkeypatch, kind, data, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        list(tables.read("ark:x", kind))
    assert "\n" not in str(caught.value)


def test_single_objects(tmp_path):
    path = f"{tmp_path / 'one.mat'}"
    tables.write_object(path, A)
    assert open_bytes(path)[:5] == b"\0BFM "
    np.testing.assert_array_equal(tables.read_object(path), A)
    np.testing.assert_array_equal(tables.read_object(f"{path}[1:2,0:0]"), A[1:, :1])
    np.testing.assert_array_equal(tables.read_object(f"cat {path} |"), A)
    tables.write_object(path, A[0], binary=False)
    assert open_bytes(path) == b" [ 0 1 ]\n"
    np.testing.assert_array_equal(tables.read_object(path, "vector"), A[0])
    np.testing.assert_array_equal(tables.read_object(path, "any"), A[0])
    with pytest.raises(InputError, match="cannot read it: No such file"):
        tables.read_object(f"{tmp_path / 'none'}")


def open_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def test_remote_paths(ark):
    spec = f"ark,scp:file://{ark}.copy,file://{ark}.scp"
    with tables.Writer(spec) as writer:
        for key, value in tables.read(f"ark:file://{ark}"):
            writer.write(key, value)
    assert open_bytes(f"{ark}.copy") == open_bytes(ark)
    found = dict(tables.read(f"scp:file://{ark}.scp"))
    np.testing.assert_array_equal(found["b"], B)
    with pytest.raises(InputError, match="file:///none/f.ark: cannot read it"):
        list(tables.read("ark:file:///none/f.ark"))
    with pytest.raises(InputError, match="file:///none/f.ark: cannot write it"):
        with tables.Writer("ark:file:///none/f.ark") as writer:
            writer.write("a", A)


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="kind='lattice'; known kinds: matrix"):
        tables.read("ark:x", "lattice")


def test_standard_input(ark, monkeypatch):
    with open(ark) as file:
        monkeypatch.setattr("sys.stdin", file)
        assert [key for key, _ in tables.read("ark:-")] == ["a", "b"]
        assert not file.closed
