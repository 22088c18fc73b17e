import numpy as np
import pytest

from seqzoo.datasets import language_batches
from seqzoo.datasets.multi_sequence import MultiSequence, State
from seqzoo.datasets.sentences import Sentences

SENTENCES = Sentences.of(
    [[3, 4, 5, 6], [7, 1], [3, 3, 3, 3, 3, 9], [8, 2, 1], [5, 1, 1]]
)


def test_chunks_are_those_of_the_streams_in_either_layout():
    wanted = list(MultiSequence(SENTENCES, 2).chunks(4))
    assert {len(chunk.inputs) for chunk in wanted} == {4, 1}
    for time_major in (False, True):
        data = language_batches.chunks(
            MultiSequence(SENTENCES, 2), 4, time_major=time_major
        )
        for chunk, element in zip(wanted, data.as_numpy_iterator(), strict=True):
            for name in ("inputs", "targets", "mask"):
                array = getattr(chunk, name)
                np.testing.assert_array_equal(
                    element[name], array if time_major else array.T
                )
            np.testing.assert_array_equal(element["state"], chunk.state.to_array())


def test_going_on_from_the_last_element_used_though_the_dataset_ran_ahead():
    whole = list(MultiSequence(SENTENCES, 2).chunks(3, 21))
    data = language_batches.chunks(MultiSequence(SENTENCES, 2), 3, 21).prefetch(4)
    used = [element for element, _ in zip(data, range(3), strict=False)]
    state = State.from_array(used[-1]["state"].numpy())
    streams = MultiSequence(SENTENCES, 2, state=state)
    rest = language_batches.chunks(streams, 3, 21 - 9)
    for chunk, element in zip(whole[3:], rest.as_numpy_iterator(), strict=True):
        np.testing.assert_array_equal(element["inputs"], chunk.inputs.T)


def test_an_epoch_goes_on_where_the_last_one_ended():
    streams, alone = MultiSequence(SENTENCES, 2), MultiSequence(SENTENCES, 2)
    data = language_batches.chunks(streams, 2, 5)
    for _ in range(3):
        found = [element["inputs"].T for element in data.as_numpy_iterator()]
        wanted = [chunk.inputs for chunk in alone.chunks(2, 5)]
        assert [f.tolist() for f in found] == [w.tolist() for w in wanted]


def rows(**options):
    data = language_batches.rows(SENTENCES, 2, **options)
    return list(data.as_numpy_iterator())


def test_a_sentence_a_row():
    first, second, third = rows()
    assert first["inputs"].tolist() == [[3, 4, 5], [7, 0, 0]]
    assert first["targets"].tolist() == [[4, 5, 6], [1, 0, 0]]
    assert first["lengths"].tolist() == [3, 1]
    assert second["targets"].tolist() == [[3, 3, 3, 3, 9], [2, 1, 0, 0, 0]]
    assert third["inputs"].tolist() == [[5, 1]]
    assert third["index"].tolist() == [4]


def test_rows_of_like_length_are_put_together():
    assert [batch["index"].tolist() for batch in rows(window=2)] == [
        [2, 0],
        [3, 1],
        [4],
    ]


def test_no_more_words_than_asked_for_but_one_row():
    assert [batch["index"].tolist() for batch in rows(most_words=4)] == [
        [0],
        [1],
        [2],
        [3, 4],
    ]


def test_rows_go_on_at_a_batch():
    assert [b["index"].tolist() for b in rows(first_batch=2)] == [[4]]
    with pytest.raises(ValueError, match="1 or more"):
        language_batches.rows(SENTENCES, 0)


@pytest.mark.parametrize("window", [1, 3])
def test_every_word_is_there_once(window):
    found = {}
    for batch in rows(window=window, most_words=6):
        for i, index in enumerate(batch["index"].tolist()):
            length = batch["lengths"][i]
            assert not batch["inputs"][i, length:].any()
            found[index] = [batch["inputs"][i, 0], *batch["targets"][i, :length]]
    assert [found[k] for k in range(5)] == [SENTENCES[k].tolist() for k in range(5)]
