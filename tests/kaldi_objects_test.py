import io

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter


def written(binary, write):
    stream = io.BytesIO()
    write(ObjectWriter(stream, binary))
    return stream.getvalue()


def model(writer):
    writer.write_token("<Nnet>")
    writer.write_newline()
    writer.write_int32(-5)
    writer.write_float(0.1)
    writer.write_bool(True)
    writer.write_int32_vector([-2, 3])
    writer.write_matrix([[1, 2.5], [3e10, -4]])
    writer.write_vector([])
    writer.write_token("</Nnet>")


@pytest.mark.parametrize("binary", [True, False])
def test_what_is_written_is_read(binary):
    reader = ObjectReader(io.BytesIO(written(binary, model)), "m")
    assert reader.binary is binary
    assert reader.peek_token() == "<Nnet>"
    assert reader.read_token() == "<Nnet>"
    assert reader.read_int32() == -5
    assert reader.read_float() == pytest.approx(0.1)
    assert reader.read_bool() is True
    assert reader.read_int32_vector().tolist() == [-2, 3]
    assert reader.read_matrix().tolist() == [[1, 2.5], [np.float32(3e10), -4]]
    assert reader.read_vector().tolist() == []
    assert reader.peek() == b"<"
    assert not reader.at_end()
    assert reader.expect_token("</Nnet>") == "</Nnet>"
    assert reader.at_end()


def test_the_bytes():
    assert written(True, model) == (
        b"\0B<Nnet> \4\xfb\xff\xff\xff\4\xcd\xcc\xcc=T"
        b"\4\2\0\0\0\xfe\xff\xff\xff\3\0\0\0"
        b"FM \4\2\0\0\0\4\2\0\0\0\0\0\x80?\0\0 @v\x84\xdfP\0\0\x80\xc0"
        b"FV \4\0\0\0\0</Nnet> "
    )
    assert written(False, model) == (
        b"<Nnet> \n-5 0.1 T [ -2 3 ]\n [\n  1 2.5 \n  3e+10 -4 ]\n [ ]\n</Nnet> "
    )


def test_doubles_are_read_where_floats_are():
    def write(writer):
        writer.write_vector([1 / 3], double=True)
        writer.write_matrix([[1 / 3]], double=True)

    data = written(True, write)
    reader = ObjectReader(io.BytesIO(data), "m")
    assert reader.read_vector().dtype == np.float32
    assert reader.read_matrix(double=True).tolist() == [[1 / 3]]
    assert (
        ObjectReader(io.BytesIO(b"\10\0\0\0\0\0\0\xf0?"), "m", True).read_float() == 1
    )


def test_the_offset_counts_from_the_start_of_the_file(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"key " + written(True, model))
    with open(path, "rb") as file:
        file.seek(4)
        reader = ObjectReader(file, str(path))
        assert reader.offset == 6
        reader.read_token()
        assert reader.offset == 13


@pytest.mark.parametrize(
    "data, read, message",
    [
        (b"\0B<A> ", lambda r: r.expect_token("<B>"), "m:2: expected <B>, found '<A>'"),
        (b"\0B", lambda r: r.read_token(), "m:2: expected a token, found the end"),
        (b"\0B\3\0\0\0\0", lambda r: r.read_int32(), "m:2: expected an int32.*size 3"),
        (
            b"\0B\4\0",
            lambda r: r.read_int32(),
            "m:2: an int32 takes 5 bytes, but only 2",
        ),
        (b"\0B\7\0\0", lambda r: r.read_float(), "m:2: expected a float.*found size 7"),
        (b"\0BX", lambda r: r.read_bool(), "m:2: expected T or F, found b'X'"),
        (b"1.5 ", lambda r: r.read_int32(), "m:0: expected an integer, found '1.5'"),
        (b"x ", lambda r: r.read_float(), "m:0: expected a number, found 'x'"),
        (
            b"\0B\4\5\0\0\0",
            lambda r: r.read_int32_vector(),
            "vector of 5 takes 20 bytes",
        ),
        (
            b"\0BDV ",
            lambda r: r.read_matrix(),
            r"expected a matrix .*double vector \(DV",
        ),
        (
            b"\0BFM ",
            lambda r: r.read_vector(),
            r"expected a vector .*float matrix \(FM",
        ),
        (b"[ 1 2", lambda r: r.read_vector(), r"no closing ']'"),
    ],
)
def test_errors_name_the_place(data, read, message):
    with pytest.raises(InputError, match=message):
        read(ObjectReader(io.BytesIO(data), "m"))


def test_text_errors_name_the_line(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"<Nnet> \n<Affine> 3\nx\n")
    with open(path, "rb") as file:
        reader = ObjectReader(file, str(path))
        reader.read_token()
        reader.read_token()
        reader.read_int32()
        with pytest.raises(InputError, match=r"m:3: expected an integer, found 'x'"):
            reader.read_int32()


def test_matrix_text_of_other_writers():
    for text in (
        b"[1 2\n3 4]",
        b" [ 1 2 ; 3 4 ]\n",
        b"\n[\r\n 1\t2\r\n\r\n 3 4\r\n]\r\n",
    ):
        reader = ObjectReader(io.BytesIO(text), "m")
        assert reader.read_matrix().tolist() == [[1, 2], [3, 4]]
        assert reader.at_end()
    reader = ObjectReader(io.BytesIO(b"[ inf -inf nan 1e5 ]"), "m")
    assert str(reader.read_vector().tolist()) == "[inf, -inf, nan, 100000.0]"
