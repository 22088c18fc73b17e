"""Batches of sentences end to end, as Torch's `dataload.MultiSequence` makes them.

Each column of a batch is a stream: a separator, a sentence, a separator, the next one.
A call fills its columns one after another, each for the whole length of the chunk, and
a column that has come to the end of its sentence takes the next one that no column has
had. So which sentence comes to which column depends on the lengths of the chunks.
"""

import bisect
import dataclasses
from collections.abc import Iterator
from typing import Literal

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.sentences import Sentences

Compat = Literal["torch"] | None


@dataclasses.dataclass(frozen=True)
class State:
    """Where the batching stands between two chunks; all there is to go on from.

    Attributes:
        step: time steps of the current pass that were given, from 0 to its size.
        next_sentence: the first sentence, from 0, that no column has taken yet.
        positions: `(columns,)` int64, where in the ids each column goes on.
        remaining: `(columns,)` int64, how many ids of its sentence a column has left;
            with 0 it takes a new one.
    """

    step: int
    next_sentence: int
    positions: np.ndarray
    remaining: np.ndarray

    def to_array(self) -> np.ndarray:
        """`(2 + 2 columns,)` int64, for a checkpoint."""
        head = np.array([self.step, self.next_sentence], np.int64)
        return np.concatenate([head, self.positions, self.remaining])

    @classmethod
    def from_array(cls, array: np.ndarray) -> "State":
        """From what `to_array` made."""
        array = np.asarray(array, np.int64)
        positions, remaining = array[2:].reshape(2, -1)
        return cls(int(array[0]), int(array[1]), positions, remaining)


@dataclasses.dataclass(frozen=True)
class Chunk:
    """Some time steps of all columns.

    Attributes:
        inputs: `(time, columns)` int32 word ids; 0 between sentences.
        targets: `(time, columns)` int32, the words that follow; 0 between sentences,
            or 1 with `compat="torch"`.
        mask: `(time, columns)` bool, False between sentences. Word 1 is a real word,
            so targets alone do not tell.
        state: after this chunk.
    """

    inputs: np.ndarray
    targets: np.ndarray
    mask: np.ndarray
    state: State


class MultiSequence:
    """The streams of a set.

    Args:
        sentences: the set; not empty.
        batch_size: columns.
        compat: None gives targets between sentences as 0; "torch" as 1, which is what
            Torch does and what its saved criterion expects.
        state: where to go on; None begins.

    Raises:
        InputError: if the set is empty, or the state is of another set or batch size.
        ValueError: if `batch_size` is below 1 or `compat` unknown.
    """

    def __init__(
        self,
        sentences: Sentences,
        batch_size: int,
        compat: Compat = None,
        state: State | None = None,
    ):
        if batch_size < 1:
            raise ValueError(f"batch_size must be 1 or more, not {batch_size}.")
        if compat not in (None, "torch"):
            raise ValueError(f'compat must be None or "torch", not {compat!r}.')
        if not len(sentences):
            raise InputError("a set without a sentence of two words or more.")
        self._sentences = sentences
        self._separator = 1 if compat == "torch" else 0
        self._columns = batch_size
        self._total = len(sentences.ids)
        self.reset()
        if state is not None:
            self._check(state)
            self.state = state

    @property
    def columns(self) -> int:
        """The batch size."""
        return self._columns

    @property
    def size(self) -> int:
        """Time steps of a pass: a sentence of `n` ids takes `n` steps of a column."""
        return -(-self._total // self._columns)

    def reset(self) -> None:
        """Begins anew, with the first sentence."""
        none = np.zeros(self._columns, np.int64)
        self.state = State(0, 0, none, none)

    def sub(self, steps: int) -> Chunk:
        """The next time steps. Torch's `sub(start, stop)` has `stop - start + 1`.

        It does not count for the passes of `chunks`, as in Torch.
        """
        if steps < 1:
            raise ValueError(f"steps must be 1 or more, not {steps}.")
        state, head = self.state, np.minimum(self.state.remaining, steps)
        begins, left, taken, after = self._take(steps - head)

        # Where in the ids each step's target is. A separator stands for the first id
        # of a sentence, so the sentences of a column lie as they do in the set.
        time = np.arange(steps)[:, np.newaxis]
        places = np.where(
            time < head, state.positions + time, begins + (time - head)
        ) % np.int64(self._total)
        targets = self._sentences.ids[places]
        inputs = self._sentences.ids[places - 1]
        mask = np.ones(places.shape, bool)
        columns = np.repeat(np.arange(self._columns), [len(t) for t in taken])
        separators = np.concatenate([np.zeros(0, np.int64), *taken])
        separators += np.repeat(head, [len(t) for t in taken])
        mask[separators, columns] = False
        inputs[separators, columns] = 0
        targets[separators, columns] = self._separator

        going_on = head == steps
        self.state = State(
            step=state.step,
            next_sentence=after % len(self._sentences),
            positions=np.where(going_on, state.positions, begins - head) + steps,
            remaining=np.where(going_on, state.remaining - steps, left),
        )
        np.remainder(self.state.positions, self._total, out=self.state.positions)
        return Chunk(inputs, targets, mask, self.state)

    def chunks(self, steps: int, epoch_steps: int = -1) -> Iterator[Chunk]:
        """Torch's `subiter`: chunks of an epoch.

        A chunk is shorter where the epoch or the pass ends. The streams go on from
        epoch to epoch and from pass to pass; only `reset` begins anew.

        Args:
            steps: time steps of a chunk.
            epoch_steps: time steps in all; 0 or less is those of a pass.
        """
        left = epoch_steps if epoch_steps > 0 else self.size
        while left > 0:
            step = self.state.step
            chunk = self.sub(min(steps, left, self.size - step))
            given = len(chunk.inputs)
            left -= given
            state = dataclasses.replace(chunk.state, step=(step + given) % self.size)
            self.state = state
            yield dataclasses.replace(chunk, state=state)

    def _take(
        self, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, list[np.ndarray], int]:
        """Lets each column in turn take sentences for so many steps.

        Returns:
            Of each column: where in the ids its first new sentence begins, counted on
            over the end of the set; how much of its last one is left; the steps, from
            there, at which sentences begin. And the next sentence of all.
        """
        first = self.state.next_sentence
        count = int(wanted.sum()) // 16 + self._columns
        bounds = self._bounds(first, count)
        begins = np.zeros(self._columns, np.int64)
        left = np.zeros(self._columns, np.int64)
        taken, now = [], 0
        for column, steps in enumerate(wanted.tolist()):
            stop = bounds[now] + steps
            while bounds[-1] < stop:
                count *= 2
                bounds = self._bounds(first, count)
            then = bisect.bisect_left(bounds, stop, now)
            begins[column] = bounds[now]
            left[column] = bounds[then] - stop
            taken.append(np.array(bounds[now:then], np.int64) - bounds[now])
            now = then
        return begins, left, taken, first + now

    def _bounds(self, first: int, count: int) -> list[int]:
        """Where sentences begin, `first` and `count` more, on over the end."""
        passes, numbers = np.divmod(
            np.arange(first, first + count + 1), len(self._sentences)
        )
        return (self._sentences.starts[numbers] + passes * self._total).tolist()

    def _check(self, state: State) -> None:
        found = len(state.positions)
        if found != self._columns:
            raise InputError(
                f"the saved place in the data is that of {found} columns, but the "
                f"batch has {self._columns}; give --batchsize {found}, or begin anew."
            )
        if not (
            0 <= state.step < self.size
            and 0 <= state.next_sentence < len(self._sentences)
            and np.all((state.positions >= 0) & (state.positions < self._total))
            and np.all((state.remaining >= 0) & (state.remaining < self._total))
        ):
            raise InputError(
                "the saved place in the data is not one of this set "
                f"({len(self._sentences)} sentences); give the same data or begin anew."
            )
