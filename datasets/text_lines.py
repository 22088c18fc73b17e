"""Lines of tokenised text: what they may hold, and what is told where they do not."""

from collections.abc import Callable

from seqzoo.datasets.errors import InputError

LINE_BYTES = 1 << 20
"""The longest line taken; a longer one is hardly a sentence."""

MARKS = (b"<S>", b"</S>")

Where = Callable[[int], str]
"""Of a byte's place in a block, `file:line`. It is asked for errors only."""


def check(block: bytes, where: Where) -> None:
    """Raises an InputError unless a block is lines of text.

    Args:
        block: whole lines, or more of one than it may have.
        where: tells places in it.
    """
    if (byte := block.find(b"\0")) >= 0:
        raise InputError(
            f"{where(byte)}: byte {_column(block, byte)} of the line is NUL, so this "
            "is no text in UTF-8; one of UTF-16 can be converted with iconv."
        )
    line = 0
    while line < len(block):
        end = block.rfind(b"\n", line, line + LINE_BYTES + 1) + 1
        if not end:
            raise long_line(where(line))
        line = end
    if block.isascii():
        return
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = error.start
        raise InputError(
            f"{where(byte)}: byte {_column(block, byte)} of the line, "
            f"0x{block[byte]:02x}, is not UTF-8; convert the file, for instance with "
            "iconv."
        ) from None


def long_line(place: str) -> InputError:
    """The error for a line that is too long."""
    return InputError(
        f"{place}: a line of more than {LINE_BYTES} bytes; text with one sentence a "
        "line is taken."
    )


def mark_in_text(block: bytes, where: Where) -> InputError:
    """The error for a block among whose words is a mark."""
    line = 0
    for text in block.split(b"\n"):
        for mark in MARKS:
            if mark in text.split():
                return InputError(
                    f"{where(line)}: holds the word {mark.decode()}, which marks "
                    "sentences here; it is set by itself at each line, so take it out "
                    "of the text."
                )
        line += len(text) + 1
    raise AssertionError("no mark in the block")


def _column(block: bytes, byte: int) -> int:
    return byte - block.rfind(b"\n", 0, byte)
