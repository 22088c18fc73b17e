"""Damaged archives give values or an InputError, never anything else."""

import random
import tracemalloc

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.posterior import Posterior

FEATS = np.linspace(-3, 5, 12, dtype=np.float32).reshape(4, 3)
SAMPLES = [
    ("matrix", [FEATS, np.zeros((0, 0))], {}),
    ("matrix", [FEATS, FEATS[:1]], {"double": True}),
    ("matrix", [FEATS, np.zeros((0, 0)), FEATS], {"compression_method": 2}),
    ("matrix", [FEATS, FEATS], {"compression_method": 3}),
    ("matrix", [FEATS], {"compression_method": 5}),
    ("vector", [FEATS[0], np.zeros(0)], {}),
    ("int32_vector", [[1, -2, 3], []], {}),
    ("posterior", [Posterior.from_labels([3, 1]), Posterior.from_frames([[]])], {}),
    ("token", ["speaker", "other"], {}),
    ("tokens", [["a", "b"], []], {}),
]


def originals(folder):
    """Small archives of every kind, binary and text: `(kind, bytes)`."""
    found = []
    for number, (kind, values, options) in enumerate(SAMPLES):
        for form in ("ark", "ark,t"):
            path = folder / f"{number}.{form}"
            with tables.Writer(f"{form}:{path}", kind, **options) as writer:
                for i, value in enumerate(values):
                    writer.write(f"utt{i}", value)
            found.append((kind, path.read_bytes()))
    return found


def mutated(data, rng):
    """`data` with a few bytes changed, dropped, doubled, or cut off."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(data) + 1)
        way = rng.randrange(6)
        if way == 0:
            del data[at:]
        elif way == 1:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 2:
            data[at : at + 4] = rng.choice(
                [b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 4, b"\0" * 4]
            )
        elif way == 3:
            del data[at : at + rng.randrange(1, 9)]
        elif way == 4:
            data[at:at] = data[max(0, at - rng.randrange(1, 30)) : at]
        else:
            data[at:at] = rng.choice([b" ", b"\n", b"[", b"]", b"\0B", b"CM ", b"1e9"])
        if not data:
            break
    return bytes(data)


def assert_clean(kind, value):
    if kind == "any":
        return
    if kind == "matrix":
        assert value.dtype == np.float32 and value.ndim == 2
    elif kind in ("vector", "int32_vector"):
        assert value.ndim == 1
    elif kind == "posterior":
        assert value.offsets[-1] == len(value.indices) == len(value.values)


def read_all(path, kind):
    """Reads in every way; says how many values came."""
    values = 0
    try:
        for _, value in tables.read(f"ark:{path}", kind):
            assert_clean(kind, value)
            values += 1
    except InputError as error:
        assert "\n" not in str(error) and len(str(error)) < 2000, error
    return values


@pytest.mark.slow
def test_ten_thousand_damaged_archives(tmp_path):
    rng = random.Random(1)
    samples = originals(tmp_path)
    path = tmp_path / "damaged.ark"
    values = 0
    tracemalloc.start()
    for number in range(10_000):
        kind, data = samples[number % len(samples)]
        path.write_bytes(mutated(data, rng))
        values += read_all(path, "any" if number % 7 == 0 else kind)
        if kind == "matrix" and number % 5 == 0:
            try:
                assert all(rows >= 0 for _, (rows, _) in tables.shapes(f"ark:{path}"))
            except InputError:
                pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1000 < values < 20_000
    assert peak < 50e6, f"{peak / 1e6:.0f} MB for files of some hundred bytes"


def test_damaged_gzip(tmp_path):
    rng = random.Random(2)
    path = tmp_path / "feats.ark.gz"
    with tables.Writer(f"ark:{path}") as writer:
        for i in range(20):
            writer.write(f"utt{i}", FEATS + i)
    data = path.read_bytes()
    for _ in range(300):
        path.write_bytes(mutated(data, rng))
        read_all(path, "matrix")
    path.write_bytes(data[:-30])
    with pytest.raises(InputError, match="too early"):
        list(tables.read(f"ark:{path}"))


def test_random_access_on_damaged_archives(tmp_path):
    rng = random.Random(3)
    samples = [sample for sample in originals(tmp_path) if sample[0] == "matrix"]
    path = tmp_path / "damaged.ark"
    for number in range(500):
        path.write_bytes(mutated(samples[number % len(samples)][1], rng))
        for options in ("ark", "ark,p", "ark,s,cs"):
            try:
                with tables.RandomAccess(f"{options}:{path}") as table:
                    assert table.get("utt1", FEATS).ndim == 2
            except InputError:
                assert options != "ark,p"
