"""Targets of several sets as one, in blocks of outputs side by side."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.joined_features import SEPARATOR
from seqzoo.datasets.paste_post import paste_post
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.scp_table import open_table
from seqzoo.datasets.target_table import TargetTable


class JoinedTables(Mapping[str, Any]):
    """Tables of several sets as one; key `u` of set `s` is `s/u`.

    Args:
        tables: by the name of their set, anything that has keys.
    """

    def __init__(self, tables: Mapping[str, Any]):
        self._tables = dict(tables)

    @classmethod
    def open(cls, rspecifiers: Mapping[str, str], kind: str) -> "JoinedTables":
        """The tables of rspecifiers; `kind` as for `tables.read`."""
        return cls({name: open_table(text, kind) for name, text in rspecifiers.items()})

    def __contains__(self, key: object) -> bool:
        name, _, utt = str(key).partition(SEPARATOR)
        return name in self._tables and utt in self._tables[name]

    def __getitem__(self, key: str) -> Any:
        name, _, utt = key.partition(SEPARATOR)
        return self._tables[name][utt]

    def __iter__(self) -> Iterator[str]:
        for name, table in self._tables.items():
            for utt in table:
                yield f"{name}{SEPARATOR}{utt}"

    def __len__(self) -> int:
        return sum(len(table) for table in self._tables.values())


class PastedTargets(JoinedTables):
    """The targets of several sets, those of each in a block of outputs of its own.

    Args:
        targets: what `TargetTable` takes, by the name of the set.
        dims: the outputs of each set, in the same order.

    Raises:
        InputError: another number of `dims`; on reading, a target outside its block.
    """

    def __init__(self, targets: Mapping[str, Any], dims: Mapping[str, int]):
        if list(targets) != list(dims):
            raise InputError(
                f"targets of {', '.join(targets)}, but outputs of {', '.join(dims)}."
            )
        super().__init__({name: TargetTable(one) for name, one in targets.items()})
        self._dims = dict(dims)

    def __getitem__(self, key: str) -> Posterior:
        post = super().__getitem__(key)
        name = key.partition(SEPARATOR)[0]
        dim = self._dims[name]
        wrong = (post.indices < 0) | (post.indices >= dim)
        if wrong.any():
            place = int(wrong.argmax())
            frame = int(np.searchsorted(post.offsets, place, side="right")) - 1
            raise InputError(
                f"utterance {key}, frame {frame}: the target's index is "
                f"{post.indices[place]}, but those of {name} are 0 to {dim - 1}, {dim} "
                "in all."
            )
        try:
            return paste_post(
                [post if name == other else None for other in self._dims],
                list(self._dims.values()),
                len(post),
            )
        except InputError as error:
            raise InputError(f"utterance {key}: {error}") from None
