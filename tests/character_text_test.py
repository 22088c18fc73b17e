"""Text of characters: reading, counting, and ids."""

import numpy as np
import pytest

from seqzoo.datasets import character_text
from seqzoo.datasets.errors import InputError

TEXT = "né\r\n\u2028 𝄞ab\n\nb né"


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 1 << 20])
def test_blocks_end_anywhere(tmp_path, block_bytes):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    found = list(character_text.read(str(path), block_bytes=block_bytes))
    assert "".join(found) == TEXT and "" not in found
    assert len(found) > (block_bytes < 4)
    path.write_bytes(b"")
    assert list(character_text.read(str(path), block_bytes=block_bytes)) == []


@pytest.mark.parametrize("block_bytes", [1, 5, 1 << 20])
@pytest.mark.parametrize(
    "raw, message",
    [
        (b"ab\nc\n\xc3d", ":3: byte 0xc3 is not UTF-8"),
        (b"ab\n\xe2\x80", ":2: byte 0xe2 is not UTF-8"),
        (b"\na\n\nb\0\0", ":4: holds a NUL"),
    ],
)
def test_what_is_no_text(tmp_path, raw, message, block_bytes):
    path = tmp_path / "text"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=f"^{path}{message}"):
        list(character_text.read(str(path), block_bytes=block_bytes))


def test_the_most_frequent_are_first_and_of_like_ones_the_least_bytes():
    pieces = [TEXT[:5], TEXT[5:]]
    found = character_text.count(pieces)
    wanted = sorted(set(TEXT), key=lambda one: (-TEXT.count(one), one.encode()))
    assert found.words == wanted
    assert found.counts.tolist() == [TEXT.count(one) for one in wanted]
    ids = np.concatenate(list(character_text.encode(found, pieces)))
    assert "".join(found.decode(ids.tolist())) == TEXT


def test_a_character_that_is_not_there():
    vocabulary = character_text.count(["ab\n"])
    pieces = character_text.encode(vocabulary, ["a\n", "b\nac\n"], "f", "it lacks")
    assert next(pieces).tolist() == [2, 1]
    with pytest.raises(InputError) as error:
        next(pieces)
    assert str(error.value) == "f:3: it lacks the character 'c'; its 3 are '\\nab'."
