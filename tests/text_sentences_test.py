import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.text_lines import LINE_BYTES
from seqzoo.datasets.text_sentences import text_sentences

# Ids: a 1, b 2, <UNK> 3, <S> 4, </S> 5, é 6.
VOCABULARY = Vocabulary(
    ["a", "b", "<UNK>", "<S>", "</S>", "é"], np.ones(6, np.int64)
).checked("here")


def read(*sources, **options):
    """All sentences, as lists of ids."""
    parts = text_sentences(sources, VOCABULARY, **options)
    return [part[k].tolist() for part in parts for k in range(len(part))]


def test_words_become_ids_between_the_marks_of_a_sentence():
    text = io.BytesIO("a b zebra\n\n  é\t<UNK>  a\r\nb".encode())
    assert read(text) == [[4, 1, 2, 3, 5], [4, 6, 3, 1, 5], [4, 2, 5]]


@settings(deadline=None, max_examples=80)
@given(
    text=st.text(st.sampled_from("ab \t\n\r\x0b\x1c\x85é\u3000\u2028字"), max_size=80),
    block_bytes=st.integers(1, 30),
)
def test_any_text_in_any_blocks(text, block_bytes):
    lines = [line.split() for line in text.encode().split(b"\n")]
    ids = {word.encode(): number for word, number in VOCABULARY.ids.items()}
    expected = [[4, *(ids.get(w, 3) for w in line), 5] for line in lines if line]
    if expected:
        assert read(io.BytesIO(text.encode()), block_bytes=block_bytes) == expected
    else:
        with pytest.raises(InputError, match="no word"):
            read(io.BytesIO(text.encode()), block_bytes=block_bytes)


def test_files_follow_one_another_packed_or_not(tmp_path):
    (tmp_path / "one").write_bytes(b"\xef\xbb\xbfa\n")  # With a byte order mark.
    (tmp_path / "two.gz").write_bytes(gzip.compress(b"b\n"))
    command = f"cat {tmp_path}/one |"
    found = read(str(tmp_path / "one"), str(tmp_path / "two.gz"), command)
    assert found == [[4, 1, 5], [4, 2, 5], [4, 1, 5]]
    with pytest.raises(InputError, match="would run a command"):
        read(command, allow_pipes=False)


class Endless(io.RawIOBase):
    """The same bytes again and again; counts those that were read."""

    name = "pipe"

    def __init__(self, line):
        self.line, self.given = line, 0

    def read(self, n=-1):
        self.given += n
        return (self.line * (n // len(self.line) + 1))[:n]


def test_a_stream_is_read_no_further_than_needed():
    stream = Endless(b"a b\n")
    parts = text_sentences([stream], VOCABULARY, block_bytes=1 << 16)
    for _ in range(3):
        assert len(next(parts)) == (1 << 16) // 4
    assert stream.given <= 8 << 16


def fails(source, **options):
    with pytest.raises(InputError) as error:
        read(source, **options)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_a_line_without_end_is_refused_before_it_fills_the_memory():
    stream = Endless(b"a ")
    assert fails(stream).startswith(f"pipe:1: a line of more than {LINE_BYTES} bytes")
    assert stream.given < 8 * LINE_BYTES


def test_a_line_of_50_megabytes(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\n" + b"x" * 50_000_000 + b"\na\n")
    assert fails(str(path)).startswith(f"{path}:3: a line of more than")
    path.write_bytes(b"a\n" + b"x" * LINE_BYTES)
    assert read(str(path)) == [[4, 1, 5], [4, 3, 5]]
    path.write_bytes(b"a\n" + b"x" * (LINE_BYTES + 1))
    assert fails(str(path)).startswith(f"{path}:2: a line of more than")


@pytest.mark.parametrize("block_bytes", [3, 1 << 21])
@pytest.mark.parametrize(
    "raw, message",
    [
        (b"a\nb\n\nd\xcc f\n", ":4: byte 2 of the line, 0xcc, is not UTF-8; convert"),
        (b"a\nb a\0b\n", ":2: byte 4 of the line is NUL"),
        ("a\n".encode("utf-16-be"), ":1: byte 1 of the line is NUL"),
        (b"a\na </S> b\n", ":2: holds the word </S>, which marks sentences"),
        (b"<S> b\n", ":1: holds the word <S>"),
        (b"", ": an empty file, no word; text with one sentence a line is taken."),
        (b"\n \n", ": 2 blank lines, no word; "),
    ],
)
def test_errors_name_file_and_line(raw, message, block_bytes, tmp_path):
    path = tmp_path / "text"
    path.write_bytes(raw)
    found = fails(str(path), block_bytes=block_bytes)
    assert found.startswith(f"{path}{message}")


def test_what_cannot_be_read(tmp_path):
    assert fails(f"{tmp_path}/none").startswith(f"{tmp_path}/none: cannot read it")
    assert "directory" in fails(str(tmp_path))
    packed = gzip.compress(b"a b\n" * 1000)
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    assert "copy it again" in fails(f"{tmp_path}/cut.gz")
