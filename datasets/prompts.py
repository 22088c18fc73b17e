"""The voice prompts that come with the package: three languages of labelled speech.

What they are, and their licence (CC BY-SA 3.0), stands in `README.md` and `LICENSE.txt`
of `path()`.
"""

import difflib
import json
import os
import pathlib
from typing import Any

from seqzoo.datasets import corpus_copy
from seqzoo.datasets.errors import InputError

LANGUAGES = ("en", "es", "fr")
SETS = ("train", "cv", "test")
_ROOT = pathlib.Path(__file__).parent / "corpora" / "prompts"


def path(language: str | None = None) -> str:
    """The directory of a language, or the one above the languages.

    Below a language lie `train`, `cv` and `test`, each a data directory and an
    alignment directory in one. The paths in their scp files are relative to the
    directory above the languages; readers of this package find them from anywhere,
    for others see `copy_to`.
    """
    if language is None:
        return str(_ROOT)
    return str(_ROOT / _known(language))


def copy_to(directory: str) -> str:
    """Copies the corpus; its scp files then hold from the current directory.

    The copy appears whole or not at all. One that is there already is kept.

    Args:
        directory: where to; a relative one makes relative paths in the scp files.

    Returns:
        `directory`.

    Raises:
        InputError: something else is there.
    """

    def rewrite_scps(copy: pathlib.Path) -> None:
        for scp in copy.rglob("*.scp"):
            _rewrite(scp, directory)

    return corpus_copy.copy(_ROOT, directory, "recorded.json", rewrite_scps)


def _rewrite(scp: pathlib.Path, directory: str) -> None:
    lines = []
    for line in scp.read_text(encoding="utf-8").splitlines():
        key, place = line.split(maxsplit=1)
        lines.append(f"{key} {os.path.join(directory, place)}\n")
    scp.write_text("".join(lines), encoding="utf-8")


def recorded(language: str | None = None) -> dict[str, Any]:
    """Figures that Kaldi nnet1 and simple baselines reached.

    Args:
        language: one of `LANGUAGES`, for its `cv` and `test` figures
            (`accuracy` in per cent, `xent` in nats a frame); None is the whole
            record with the settings and the multilingual net.
    """
    record = json.loads((_ROOT / "recorded.json").read_text(encoding="utf-8"))
    return record if language is None else record["languages"][_known(language)]


def _known(language: str) -> str:
    if language in LANGUAGES:
        return language
    near = difflib.get_close_matches(language, LANGUAGES, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InputError(
        f"prompts: no language {language!r}; there are {', '.join(LANGUAGES)}.{hint}"
    )
