"""Recorded chunks of Torch's dataload.SequenceLoader, at equality."""

import itertools
import pathlib

import numpy as np
import pytest

from seqzoo.datasets.text_columns import TextColumns

FOLDER = pathlib.Path(__file__).parent / "goldens" / "torch"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("sequenceloader*.npz")), ids=str)
def test_golden_torch_sequenceloader(path):
    with np.load(path) as golden:
        columns = golden["data"].shape[1]
        streams = TextColumns(golden["sequence"].astype(np.int32), columns)
        assert streams.size == golden["size"]
        chunks = streams.chunks(len(golden["in1"]))
        for number in itertools.count(1):
            chunk = next(chunks, None)
            assert (chunk is None) == (f"in{number}" not in golden)
            if chunk is None:
                break
            np.testing.assert_array_equal(chunk.inputs, golden[f"in{number}"])
            np.testing.assert_array_equal(chunk.targets, golden[f"tg{number}"])
            assert chunk.mask.all()
            done = int(golden[f"i{number}"].item())
            assert chunk.state.step == done % streams.size
        assert number > 1
