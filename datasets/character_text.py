"""Text of characters: read in blocks, counted, and as ids of a vocabulary."""

import codecs
from collections.abc import Iterable, Iterator

import numpy as np

from seqzoo.datasets import files
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary

BLOCK_BYTES = 1 << 21
_CODES = 0x110000  # Of Unicode.
_SHOWN = 100


def read(
    source: str, *, allow_pipes: bool = True, block_bytes: int = BLOCK_BYTES
) -> Iterator[str]:
    """The text of a file in UTF-8, some at a time; a byte order mark is left out.

    Args:
        source: what `files.open_input` takes.
        allow_pipes: whether `command |` may run.
        block_bytes: held at a time.

    Raises:
        InputError: names file and line, if it is not UTF-8 or holds a NUL.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, first = 1, True
    with files.open_input(source, allow_pipes=allow_pipes) as reader:
        while True:
            block = bytes(reader.peek(block_bytes))
            reader.take(len(block))
            kept = decoder.getstate()[0]  # Of a character that was cut.
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raw = kept + block
                line += raw.count(b"\n", 0, error.start)
                raise InputError(
                    f"{reader.name}:{line}: byte 0x{raw[error.start]:02x} is not "
                    "UTF-8; convert the file, for instance with iconv."
                ) from None
            if (at := text.find("\0")) >= 0:
                line += text.count("\n", 0, at)
                raise InputError(
                    f"{reader.name}:{line}: holds a NUL, so this is no text in UTF-8; "
                    "one of UTF-16 can be converted with iconv."
                )
            line += text.count("\n")
            if first and text:
                first, text = False, text.removeprefix("\ufeff")
            if text:
                yield text
            if not block:
                return


def count(pieces: Iterable[str]) -> Vocabulary:
    """The characters of a text, the most frequent first; else by their bytes."""
    total = np.zeros(_CODES, np.int64)
    for piece in pieces:
        found = np.bincount(_codes(piece))
        total[: len(found)] += found
    # In UTF-8 bytes are ordered as codes are.
    codes = np.flatnonzero(total)
    codes = codes[np.argsort(-total[codes], kind="stable")]
    return Vocabulary([chr(code) for code in codes.tolist()], total[codes])


def encode(
    vocabulary: Vocabulary,
    pieces: Iterable[str],
    name: str = "the text",
    lacks: str = "the model does not know",
) -> Iterator[np.ndarray]:
    """The ids of each piece of a text, int32.

    Args:
        vocabulary: of characters.
        pieces: one behind the other, with the line ends that they have.
        name: what errors call the text.
        lacks: what errors say that the vocabulary does, with whose it is.

    Raises:
        InputError: names the line, if there is a character that the vocabulary lacks.
    """
    table = np.zeros(_CODES, np.int32)
    for number, character in enumerate(vocabulary.words, 1):
        if len(character) == 1:  # Those of torch-rnn may be names of bytes.
            table[ord(character)] = number
    line = 1
    for piece in pieces:
        ids = table[_codes(piece)]
        if not ids.all():
            at = int(np.argmin(ids != 0))
            line += piece.count("\n", 0, at)
            raise unknown(f"{name}:{line}", piece[at], vocabulary, lacks)
        line += piece.count("\n")
        yield ids


def unknown(
    where: str,
    character: str,
    vocabulary: Vocabulary,
    lacks: str = "the model does not know",
) -> InputError:
    """The error for a character that is not in the vocabulary; see `encode`."""
    text = "".join(sorted(vocabulary.words))
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    return InputError(
        f"{where}: {lacks} the character {character!r}; its {len(vocabulary)} are "
        f"{ascii(text)}."
    )


def _codes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
