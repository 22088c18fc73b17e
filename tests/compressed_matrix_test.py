import io

import kaldi_native_io
import numpy as np
import pytest

from seqzoo.datasets import compressed_matrix
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectReader

RNG = np.random.default_rng(0)


def decoded(data):
    return ObjectReader(io.BytesIO(data), "m", binary=True).read_matrix()


def test_two_bytes_by_hand():
    data = compressed_matrix.encode(np.array([[0, 1], [2, 4]], np.float32), 3)
    assert data == (b"CM2 \0\0\0\0\0\0\x80@\2\0\0\0\2\0\0\0\0\0\0\x40\xff\x7f\xff\xff")


def test_a_byte_by_hand():
    data = compressed_matrix.encode(np.array([[0, 51, 255]], np.float32), 6)
    assert data == b"CM3 \0\0\0\0\0\0\x7fC\1\0\0\0\3\0\0\0\0\x33\xff"
    assert decoded(data).tolist() == [[0, 51, 255]]


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 5), (8, 2), (9, 2), (300, 40), (20, 300)]
)
@pytest.mark.parametrize("method", [1, 2, 3, 5])
def test_errors_stay_within_a_step(shape, method):
    matrix = RNG.normal(size=shape).astype(np.float32)
    found = decoded(compressed_matrix.encode(matrix, method))
    span = matrix.max() - matrix.min()
    if method == 3 or (method == 1 and shape[0] <= 8):
        step = span / 65535
    elif method == 5:
        step = span / 255
    else:  # A quartile range is cut in 63 to 128.
        step = (matrix.max(0) - matrix.min(0) + span / 1000) / 63
    assert (np.abs(found - matrix) <= 0.6 * step + 1e-6).all()


@pytest.mark.parametrize("method", [2, 3, 5])
def test_what_was_decoded_is_encoded_alike(method):
    matrix = RNG.normal(size=(30, 4)).astype(np.float32)
    once = decoded(compressed_matrix.encode(matrix, method))
    twice = decoded(compressed_matrix.encode(once, method))
    np.testing.assert_allclose(once, twice, atol=0.05)


def test_constants_and_whole_numbers():
    matrix = np.full((9, 3), 2.5, np.float32)
    for method in (1, 2, 3, 5):
        np.testing.assert_array_equal(
            decoded(compressed_matrix.encode(matrix, method)), matrix
        )
    whole = RNG.integers(-32768, 32768, (7, 3)).astype(np.float32)
    np.testing.assert_array_equal(decoded(compressed_matrix.encode(whole, 4)), whole)


def test_empty_is_16_bytes_and_20_are_read():
    data = compressed_matrix.encode(np.zeros((0, 0), np.float32), 2)
    assert data == b"CM " + bytes(16)
    for tail in (b"", bytes(4)):
        reader = ObjectReader(io.BytesIO(data + tail + b"next "), "m", binary=True)
        assert reader.read_matrix().shape == (0, 0)
        assert reader.read_token() == "next"


def test_what_cannot_be_compressed():
    with pytest.raises(InputError, match="compression method 8; known: 1 CM"):
        compressed_matrix.encode(np.ones((1, 1), np.float32), 8)
    with pytest.raises(InputError, match="not finite"):
        compressed_matrix.encode(np.array([[np.nan]], np.float32), 1)
    with pytest.raises(InputError, match="further apart"):
        compressed_matrix.encode(np.array([[-3e38, 3e38]], np.float32), 1)


@pytest.mark.parametrize("cols", [1, 3, 100, 256, 257])
def test_decoded_together_as_one_by_one(cols):
    rows = (9, 10, 40, 27, 28, 256, 257, 600)
    matrices = [RNG.normal(size=(n, cols)).astype(np.float32) * n for n in rows]
    data = [compressed_matrix.encode(matrix, 2) for matrix in matrices]
    buffer, places = b"", []
    for one in data:
        low, span, n, _ = compressed_matrix.HEADER.unpack_from(one, 3)
        start = len(buffer) + 3 + compressed_matrix.HEADER.size
        places.append(compressed_matrix.Columns(start, n, low, span))
        buffer += one
    found = compressed_matrix.decode_columns(buffer, places, cols)
    for one, together in zip(data, found, strict=True):
        np.testing.assert_array_equal(decoded(one), together)
        assert together.flags.writeable and together.flags.c_contiguous


@pytest.mark.parametrize("rows", [7, 300])
def test_every_byte_as_kaldi_rounds_it(rows):
    cols = 64
    marks = np.sort(RNG.choice(65536, (cols, 4), replace=False), axis=1).astype("<u2")
    codes = RNG.integers(0, 256, (cols, rows)).astype(np.uint8)
    data = marks.tobytes() + codes.tobytes()
    low, span = np.float32(-3.7), np.float32(11.3)
    (found,) = compressed_matrix.decode_columns(
        data, [compressed_matrix.Columns(0, rows, float(low), float(span))], cols
    )
    unit = span * np.float32(1.52590218966964e-05)
    for (column, row), code in np.ndenumerate(codes):
        p = [low + unit * np.float32(mark) for mark in marks[column]]
        i, first, steps = (
            (0, 0, 64.0)
            if code <= 64
            else (1, 64, 128.0)
            if code <= 192
            else (2, 192, 63)
        )
        step = (p[i + 1] - p[i]) * np.float32(int(code) - first)
        expected = np.float32(float(p[i]) + float(step) * (1 / steps))
        assert found[row, column] == expected


@pytest.mark.parametrize("method, name", [(2, "kSpeechFeature"), (5, "kOneByteAuto")])
def test_bytes_and_values_of_another_reader(tmp_path, method, name):
    path = tmp_path / "o.ark"
    for shape in ((4, 2), (5, 2), (37, 3)):
        matrix = (RNG.normal(size=shape) * 9).astype(np.float32)
        with kaldi_native_io.CompressedMatrixWriter(f"ark:{path}") as writer:
            writer.write(
                "a", matrix, method=getattr(kaldi_native_io.CompressionMethod, name)
            )
        data = path.read_bytes()[4:]
        assert compressed_matrix.encode(matrix, method) == data
        with kaldi_native_io.SequentialFloatMatrixReader(f"ark:{path}") as reader:
            values = [np.array(value) for _, value in reader]
        np.testing.assert_array_equal(decoded(data), values[0])
