"""One sequence, cut into columns."""

import numpy as np
import pytest

from seqzoo.datasets import language_batches
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.multi_sequence import State
from seqzoo.datasets.text_columns import TextColumns

IDS = np.arange(1, 24, dtype=np.int32)  # 3 columns of 7; 22 and 23 are left out.


def shown(chunk):
    return chunk.inputs.T.tolist()


def test_epochs_go_on_from_one_to_the_next():
    streams = TextColumns(IDS, 3)
    assert (streams.size, streams.columns) == (6, 3)
    first, second = streams.chunks(3, 4)
    assert shown(first) == [[1, 2, 3], [8, 9, 10], [15, 16, 17]]
    assert shown(second) == [[4], [11], [18]]
    assert second.targets.tolist() == [[5, 12, 19]]
    # The pass ends within the epoch, and the next one begins with an empty state.
    rest, again = streams.chunks(3, 4)
    assert shown(rest) == [[5, 6], [12, 13], [19, 20]] and rest.mask.all()
    assert shown(again) == [[0, 1, 2], [0, 8, 9], [0, 15, 16]]
    assert again.targets.T[1].tolist() == [0, 9, 10]
    assert again.mask.tolist() == [[False] * 3, [True] * 3, [True] * 3]
    assert again.inputs.dtype == again.targets.dtype == np.int32


def test_a_pass_has_all_targets_but_the_first_of_each_column():
    streams = TextColumns(IDS, 3)
    for _ in range(2):
        chunks = list(streams.chunks(4))
        targets = np.concatenate([chunk.targets for chunk in chunks])
        inputs = np.concatenate([chunk.inputs for chunk in chunks])
        assert targets.T.tolist() == IDS[:21].reshape(3, 7)[:, 1:].tolist()
        np.testing.assert_array_equal(inputs, targets - 1)


def test_going_on_from_a_state():
    streams = TextColumns(IDS, 3)
    data = language_batches.chunks(streams, 2, 4, time_major=True)
    array = [chunk["state"].numpy() for chunk in data][-1]
    again = TextColumns(IDS, 3, State.from_array(array))
    for one, other in zip(streams.chunks(2), again.chunks(2), strict=True):
        assert shown(one) == shown(other)


def test_what_does_not_fit():
    state = next(TextColumns(IDS, 3).chunks(2)).state
    with pytest.raises(InputError, match="of 3 columns, but the batch has 2"):
        TextColumns(IDS, 2, state)
    with pytest.raises(InputError, match=r"not one of this set \(40 characters\)"):
        TextColumns(np.ones(40, np.int32), 3, state)
    with pytest.raises(InputError, match="23 characters is too short for 12 columns"):
        TextColumns(IDS, 12)
    with pytest.raises(ValueError, match="1 or more"):
        TextColumns(IDS, 0)
