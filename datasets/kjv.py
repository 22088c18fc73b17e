"""The King James Bible that comes with the package: text for small language models.

What it is, and the legend to keep with it, stands in `README.md` of `path()`.
"""

import pathlib

from seqzoo.datasets import corpus_copy, gbw_sources

_ROOT = pathlib.Path(__file__).parent / "corpora" / "kjv"
_SHARD = f"{gbw_sources.TRAINING}/news.en-00001-of-00004"


def path() -> str:
    """Its folder, laid out as the billion-word benchmark: `gbw.open_data` takes it."""
    return str(_ROOT)


def copy_to(directory: str) -> str:
    """Copies the corpus, whole or not at all; a copy that is there already is kept.

    Returns:
        `directory`.

    Raises:
        InputError: something else is there.
    """
    return corpus_copy.copy(_ROOT, directory, _SHARD)
