"""The vocabulary inside a SavedModel: strings to ids and back, in the graph."""

from collections.abc import Sequence

import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import END, START, UNKNOWN


class ServedVocabulary(tf.Module):
    """Words, or characters, as tensors and a table that a SavedModel keeps.

    The id of `words[i]` is `i + 1`; 0 is none.

    Args:
        words: each once. Bytes that are no UTF-8 stand in them as Python's
            `surrogateescape` has them, and are those bytes again in the graph.
        characters: the text is a string of characters, not of words between blanks.
            Where all are a byte long, they are bytes; otherwise the text is UTF-8.

    Attributes:
        start, end: ids of what stands in front of a sentence and behind it; 0 is none,
            as for characters.
        unknown: the id of what is not in the vocabulary; 0 is none.

    Raises:
        InputError: if a word is there twice, or words lack one of `<UNK>`, `<S>`,
            `</S>`.
    """

    def __init__(self, words: Sequence[str], characters: bool = False):
        super().__init__()
        raw = [word.encode("utf-8", "surrogateescape") for word in words]
        self.characters = characters
        self.kind = "character" if characters else "word"
        marks = {word: raw.index(word) + 1 for word in _marks(raw)}
        missing = [word.decode() for word in _MARKS if word not in marks]
        if missing and not characters:
            raise InputError(f"the vocabulary has no {missing[0]}; it is needed.")
        if len(set(raw)) != len(raw):
            raise InputError("the vocabulary has a word twice.")
        self.unknown, self.start, self.end = (
            0 if characters else marks[word] for word in _MARKS
        )
        self._bytes = all(len(word) == 1 for word in raw)
        self._words = tf.constant([b"", *raw])
        ids = tf.range(1, len(raw) + 1, dtype=tf.int64)
        self._table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(self._words[1:], ids), self.unknown
        )

    def __len__(self) -> int:
        return self._words.shape[0] - 1

    def tokens(self, ids: tf.Tensor) -> tf.Tensor:
        """The words of ids, of any shape; "" of 0."""
        return tf.gather(self._words, ids)

    def split(self, text: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The ids of lines of text.

        Words stand between blanks, those of ASCII, as in the training text.

        Args:
            text: `(batch,)` strings.

        Returns:
            `(batch, time)` int32 ids, 0 behind a line's end, and `(batch,)` int32, how
            many each line has. The graph fails for a character that is not there.
        """
        if not self.characters:
            pieces = tf.strings.split(text)
        elif self._bytes:
            pieces = tf.strings.bytes_split(text)
        else:
            pieces = tf.strings.unicode_split(text, "UTF-8", errors="strict")
        ids = tf.cast(self._table.lookup(pieces.values), tf.int32)
        if not self.unknown:
            strange = tf.boolean_mask(pieces.values, ids == 0)
            known = tf.debugging.Assert(
                tf.size(strange) == 0,
                ["text has characters that the model does not know:", strange],
                summarize=3,
            )
            with tf.control_dependencies([known]):
                ids = tf.identity(ids)
        dense = pieces.with_values(ids).to_tensor(0)
        return dense, tf.cast(pieces.row_lengths(), tf.int32)


_MARKS = tuple(word.encode() for word in (UNKNOWN, START, END))


def _marks(raw: Sequence[bytes]) -> set[bytes]:
    return set(_MARKS) & set(raw)
