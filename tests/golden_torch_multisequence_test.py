"""Recorded calls of Torch's dataload.MultiSequence, at equality.

Each multisequence*.json of goldens/torch is a list of data sets, each with the calls
made on it, in order.
"""

import json
import pathlib

import pytest

from seqzoo.datasets.multi_sequence import MultiSequence
from seqzoo.datasets.sentences import Sentences

FOLDER = pathlib.Path(__file__).parent / "goldens" / "torch"
CASES = {
    f"{path.stem}-{case['name']}": case
    for path in sorted(FOLDER.glob("multisequence*.json"))
    for case in json.loads(path.read_text())
}


def check(chunk, recorded):
    assert chunk.inputs.tolist() == recorded["inputs"]
    assert chunk.targets.tolist() == recorded["targets"]
    assert (chunk.mask == (chunk.inputs != 0)).all()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_golden_torch_multisequence(case):
    streams = MultiSequence(
        Sentences.of(case["sequences"]), case["batchsize"], compat="torch"
    )
    assert streams.size == case["size"]
    assert case["ops"]
    for call in case["ops"]:
        if call["op"] == "reset":
            streams.reset()
        elif call["op"] == "sub":
            check(streams.sub(call["stop"] - call["start"] + 1), call)
        elif call["op"] == "subiter":
            chunks = list(streams.chunks(call["seqlen"], call["epochsize"]))
            done = 0
            for chunk, recorded in zip(chunks, call["batches"], strict=True):
                check(chunk, recorded)
                done += len(chunk.inputs)
                assert done == recorded["n"]
                assert chunk.state.step + 1 == recorded["start_after"]
        else:
            raise AssertionError(f"unknown call {call['op']}")
