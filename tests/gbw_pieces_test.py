import collections

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets import gbw_pieces, text_lines
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_pieces import Piece, Range


def sentences(piece):
    """The words of each sentence of a piece."""
    names = [None, None, *piece.words]
    found = []
    for number in piece.ids.tolist():
        if number == gbw_pieces.START:
            found.append([])
        elif number != gbw_pieces.END:
            found[-1].append(names[number])
    return found


def read_all(path, piece_bytes=gbw_pieces.PIECE_BYTES):
    return [gbw_pieces.read(r) for r in gbw_pieces.ranges(str(path), piece_bytes)]


@settings(deadline=None, max_examples=60)
@given(
    text=st.text(st.sampled_from("ab \t\n\r\x0b\x1c\x85é\u3000\u2028字"), max_size=80),
    piece_bytes=st.integers(1, 30),
    block_bytes=st.integers(1, 30),
)
def test_any_text_in_any_pieces(text, piece_bytes, block_bytes, tmp_path_factory):
    data = text.encode()
    path = tmp_path_factory.mktemp("text") / "shard"
    path.write_bytes(data or b"\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gbw_pieces, "_BLOCK_BYTES", block_bytes)
        pieces = read_all(path, piece_bytes)
    whole = (data or b"\n").removesuffix(b"\n")
    lines = [line.split() for line in whole.split(b"\n")]
    assert [s for p in pieces for s in sentences(p)] == [line for line in lines if line]
    assert sum(p.blank_lines for p in pieces) == sum(not line for line in lines)
    for piece in pieces:
        words = collections.Counter(w for s in sentences(piece) for w in s)
        assert dict(zip(piece.words, piece.counts[2:].tolist(), strict=True)) == words


def test_a_piece_comes_back_from_disk(tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(b"\xef\xbb\xbfa b a\n\n\x1c c\x0b\n")  # With a byte order mark.
    (where,) = gbw_pieces.ranges(str(path))
    piece = gbw_pieces.read(where)
    assert sentences(piece) == [[b"a", b"b", b"a"], [b"\x1c", b"c"]]
    piece.save(str(tmp_path / "p.npz"))
    again = Piece.load(str(tmp_path / "p.npz"))
    assert again.ids.tolist() == piece.ids.tolist()
    assert again.counts.tolist() == piece.counts.tolist()
    assert (again.words, again.blank_lines) == (piece.words, 1)
    assert again.crc32 == piece.crc32 == gbw_pieces.crc32(where)
    assert len(Piece.load(str(tmp_path / "p.npz"), with_ids=False).ids) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.npz", "shard"]


def fails(path, piece_bytes=gbw_pieces.PIECE_BYTES):
    with pytest.raises(InputError) as error:
        read_all(path, piece_bytes)
    message = str(error.value)
    assert "\n" not in message
    return message.removeprefix(str(path))


@pytest.mark.parametrize("piece_bytes", [3, 1 << 24])
def test_what_is_not_utf_8_is_told_by_line_and_byte(piece_bytes, tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(b"one\ntw\xc3\xb6\n\nde\xcc f\xfcr\nfive\n")
    assert fails(path, piece_bytes).startswith(
        ":4: byte 3 of the line, 0xcc, is not UTF-8; convert the file"
    )


def test_bytes_that_stand_for_marks_are_no_text(tmp_path):
    path = tmp_path / "shard"
    for byte in (b"\xfe", b"\xff"):
        path.write_bytes(b"a " + byte + b" b\n")
        assert "is not UTF-8" in fails(path)


@pytest.mark.parametrize("piece_bytes", [3, 1 << 24])
def test_a_nul_is_no_text(piece_bytes, tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(b"a\nb a\0b\n")
    assert fails(path, piece_bytes).startswith(":2: byte 4 of the line is NUL")


def test_marks_in_the_text(tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(b"a\nb <UNK> c\n<S> d </S>\n")
    assert fails(path).startswith(":3: holds the word <S>, which marks sentences")
    path.write_bytes(b"a <S>b\n\n</S>\n")
    assert fails(path, 2).startswith(":3: holds the word </S>")


@pytest.mark.parametrize("newline", [b"", b"\n"])
@pytest.mark.parametrize("piece_bytes", [1 << 20, 1 << 24, 1 << 30])
def test_a_line_of_50_megabytes(newline, piece_bytes, tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(b"one\ntwo\n" + b"word " * 10_000_000 + newline)
    assert fails(path, piece_bytes) == (
        ":3: a line of more than 1048576 bytes; text with one sentence a line is taken."
    )


def test_the_longest_line(tmp_path):
    path = tmp_path / "shard"
    line = b"a " * (text_lines.LINE_BYTES // 2)
    path.write_bytes(b"b\n" + line + b"\n" + line)
    for piece_bytes in (10, 1 << 24):
        pieces = read_all(path, piece_bytes)
        assert [len(s) for p in pieces for s in sentences(p)] == [1, 1 << 19, 1 << 19]
    path.write_bytes(b"b\na" + line + b"\n")
    assert fails(path).startswith(":2: a line of more than")


def test_an_empty_shard_and_none(tmp_path):
    path = tmp_path / "shard"
    path.touch()
    assert fails(path).startswith(": an empty shard")
    assert fails(tmp_path / "none").endswith(
        "cannot read it: No such file or directory."
    )


def test_a_file_that_became_shorter(tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(b"a\n")
    with pytest.raises(InputError, match="became shorter while it was read"):
        gbw_pieces.read(Range(str(path), 0, 10))
