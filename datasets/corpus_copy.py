"""Copies a corpus of the package to where the user wants it."""

import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable

from seqzoo.datasets.errors import InputError


def copy(
    corpus: pathlib.Path,
    directory: str,
    known_by: str,
    change: Callable[[pathlib.Path], None] | None = None,
) -> str:
    """Copies a folder, whole or not at all; a copy that is there already is kept.

    Args:
        corpus: the folder, whose name is the corpus's.
        directory: where to.
        known_by: a file of the corpus by which a copy is known.
        change: called with the copy before it takes its place.

    Returns:
        `directory`.

    Raises:
        InputError: something else is there.
    """
    target = pathlib.Path(directory)
    if target.exists() and any(target.iterdir() if target.is_dir() else [target]):
        if (target / known_by).exists():
            return directory
        raise InputError(
            f"{directory}: already there and not a copy of the {corpus.name}; "
            "give a new directory."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f".{corpus.name}-", dir=target.parent
    ) as scratch:
        made = pathlib.Path(scratch) / corpus.name
        shutil.copytree(corpus, made, copy_function=shutil.copyfile)
        if change is not None:
            change(made)
        os.replace(made, target)
    return directory
