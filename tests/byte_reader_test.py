import io

import numpy as np
import pytest

from seqzoo.datasets.byte_reader import ByteReader, of_stream
from seqzoo.datasets.errors import InputError


class Trickle(io.RawIOBase):
    """A stream of unknown length that gives three bytes at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def read(self, n=-1):
        return self.data.read(min(n, 3))


def readers(data):
    """The same bytes behind a known and an unknown size, with a tiny buffer."""
    yield ByteReader(io.BytesIO(data), "f", len(data), chunk=2)
    yield ByteReader(io.BytesIO(data), "f", len(data))
    yield ByteReader(Trickle(data), "f", chunk=2)


def test_reading_front_to_back():
    data = b"key  word\nline two\n" + np.arange(5, dtype="<i4").tobytes() + b"[ab]tail"
    for reader in readers(data):
        assert reader.word() == b"key"
        reader.skip_space()
        assert reader.offset == 5
        assert reader.word() == b"word"
        assert reader.take(1) == b"\n"
        assert reader.line() == b"line two"
        assert reader.array("<i4", 5).tolist() == [0, 1, 2, 3, 4]
        assert reader.through(b"]", "it") == b"[ab]"
        assert reader.peek(9) == b"tail"
        reader.skip(3)
        assert not reader.at_end()
        assert reader.take(1) == b"l"
        assert reader.at_end() and reader.peek(1) == b"" and reader.line() == b""


def test_too_few_bytes():
    for reader in readers(b"abc"):
        with pytest.raises(
            InputError, match="f:0: it takes 4 bytes, but only 3 are left"
        ):
            reader.take(4, "it")
    for reader in readers(b"abc"):
        with pytest.raises(InputError, match="only 3 are left"):
            reader.array("<f4", 1)
    for reader in readers(b"abc"):
        with pytest.raises(InputError):
            reader.skip(4)


def test_a_huge_claim_takes_no_memory():
    for reader in readers(b"abc"):
        with pytest.raises(InputError, match="takes 8000000000000 bytes"):
            reader.array("<f8", 10**12)


def test_an_endless_word_ends():
    for reader in readers(b"x" * 100_000):
        with pytest.raises(InputError, match="no white space in 65536 bytes"):
            reader.word()


def test_seeking_inside_and_outside_the_buffer():
    data = bytes(range(200))
    for chunk in (2, 50, 1000):
        reader = ByteReader(io.BytesIO(data), "f", 200, chunk=chunk)
        for at in (10, 150, 12, 199, 0):
            reader.seek(at)
            assert reader.offset == at and reader.take(1)[0] == at


def test_the_size_of_a_stream_is_found_where_that_is_free(tmp_path):
    assert of_stream(io.BytesIO(b"abc"), "f").size == 3
    assert of_stream(Trickle(b"abc"), "f").size is None
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    with open(path, "rb") as file:
        reader = of_stream(file, "f")
        assert reader.size == 3 and of_stream(reader, "f") is reader


def test_errors_name_the_line_in_text(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"one\ntwo\nthree")
    with open(path, "rb") as file:
        reader = of_stream(file, str(path))
        reader.line()
        reader.line()
        assert reader.where(text=True) == f"{path}:3"
        assert reader.where() == f"{path}:8"
