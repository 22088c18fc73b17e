"""Batches of one long sequence, as Torch's `dataload.SequenceLoader` makes them.

The sequence is cut into as many parts of equal length as a batch has columns; they lie
side by side, and each goes on from chunk to chunk. What is left over is left out.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.multi_sequence import Chunk, State


class TextColumns:
    """The columns of a sequence.

    Args:
        ids: `(n,)`, of the sequence; may be a file mapped to memory.
        columns: of a batch.
        state: where to go on; None begins.

    Raises:
        InputError: if the sequence is too short, or the state is of another sequence
            or batch size.
    """

    def __init__(self, ids: np.ndarray, columns: int, state: State | None = None):
        if columns < 1:
            raise ValueError(f"columns must be 1 or more, not {columns}.")
        length = len(ids) // columns
        if length < 2:
            raise InputError(
                f"a set of {len(ids)} characters is too short for {columns} columns of "
                "two or more; give a smaller --batchsize, or more text."
            )
        self._ids = ids
        self._begins = np.arange(columns) * length
        self._size = length - 1
        self.state = self._at(0)
        if state is not None:
            self._check(state)
            self.state = state

    @property
    def columns(self) -> int:
        """The batch size."""
        return len(self._begins)

    @property
    def size(self) -> int:
        """Time steps of a pass."""
        return self._size

    def chunks(self, steps: int, epoch_steps: int = -1) -> Iterator[Chunk]:
        """Chunks of an epoch; the next epoch goes on where it ends.

        A chunk is shorter where the epoch or the pass ends. Where a pass begins within
        an epoch there is a time step of zeros more, at which a model empties its state.

        Args:
            steps: time steps of a chunk.
            epoch_steps: time steps in all; 0 or less is those of a pass.
        """
        left = epoch_steps if epoch_steps > 0 else self.size
        between = False
        while left > 0:
            step = self.state.step
            count = min(steps, left, self.size - step)
            at = self._begins + np.arange(step, step + count)[:, np.newaxis]
            inputs, targets = self._ids[at], self._ids[at + 1]
            if between:
                nothing = np.zeros((1, self.columns), np.int32)
                inputs, targets = (
                    np.concatenate([nothing, one]) for one in (inputs, targets)
                )
            left -= count
            self.state = self._at((step + count) % self.size)
            between = self.state.step == 0
            yield Chunk(inputs, targets, targets != 0, self.state)

    def _at(self, step: int) -> State:
        left = np.full(self.columns, self.size - step)
        return State(step, 0, self._begins + step, left)

    def _check(self, state: State) -> None:
        found = len(state.positions)
        if found != self.columns:
            raise InputError(
                f"the saved place in the data is that of {found} columns, but the "
                f"batch has {self.columns}; give --batchsize {found}, or begin anew."
            )
        wanted = self._at(state.step)
        same = 0 <= state.step < self.size and all(
            np.array_equal(getattr(state, field.name), getattr(wanted, field.name))
            for field in dataclasses.fields(State)
        )
        if not same:
            raise InputError(
                "the saved place in the data is not one of this set "
                f"({len(self._ids)} characters); give the same data or begin anew."
            )
