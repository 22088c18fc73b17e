"""Kaldi transition models: from transition-ids to pdfs and phones."""

import dataclasses

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets import files
from seqzoo.datasets.kaldi_objects import ObjectReader

_Topology = dict[int, list[list[int]]]
"""By phone, by state: where each of its transitions leads."""


@dataclasses.dataclass(frozen=True)
class TransitionModel:
    """What each transition-id stands for; transition-ids start at 1.

    The arrays are indexed by transition-id; entry 0 is -1 or False.
    """

    tid_to_pdf: NDArray[np.int32]
    """The pdf, which is an output of the network; from 0."""

    tid_to_phone: NDArray[np.int32]
    """The phone; from 1."""

    tid_to_state: NDArray[np.int32]
    """The state within the phone; from 0."""

    is_self_loop: NDArray[np.bool_]
    """Whether the transition stays in its state."""

    @property
    def num_tids(self) -> int:
        """Number of transition-ids, which is also the largest of them."""
        return len(self.tid_to_pdf) - 1

    @property
    def num_pdfs(self) -> int:
        """One more than the largest pdf."""
        return int(self.tid_to_pdf.max()) + 1


def read(rxfilename: str) -> TransitionModel:
    """Reads a transition model, or the one in front of an acoustic model (`.mdl`).

    Args:
        rxfilename: text or binary; what follows the transition model is not read.

    Raises:
        InputError: the file starts with something else, or is cut or damaged.
    """
    with files.open_input(rxfilename) as stream:
        return parse(ObjectReader(stream, rxfilename))


def parse(reader: ObjectReader) -> TransitionModel:
    """Reads a transition model from an open file, up to its transitions."""
    at = reader.offset
    if reader.peek_token() != "<TransitionModel>":
        reader.fail(
            f"starts with {reader.peek(20)!r}, but a transition model, or an acoustic "
            "model with one in front, starts with <TransitionModel>.",
            at,
        )
    reader.read_token()
    reader.expect_token("<Topology>")
    topology = _binary_topology(reader) if reader.binary else _text_topology(reader)
    kind = reader.expect_token("<Triples>", "<Tuples>")
    rows = [(-1, -1, -1, False)]
    for _ in range(reader.read_int32()):
        at = reader.offset
        phone, state = reader.read_int32(), reader.read_int32()
        pdf = reader.read_int32()
        loop_pdf = reader.read_int32() if kind == "<Tuples>" else pdf
        states = topology.get(phone, [])
        if not 0 <= state < len(states):
            reader.fail(f"state {state} of phone {phone} is not in the topology.", at)
        for target in states[state]:
            loop = target == state
            rows.append((phone, state, loop_pdf if loop else pdf, loop))
    reader.expect_token(kind.replace("<", "</"))
    if len(rows) == 1:
        reader.fail("the transition model has no transitions.")
    phones, numbers, pdfs, loops = zip(*rows, strict=True)
    return TransitionModel(
        tid_to_pdf=np.array(pdfs, np.int32),
        tid_to_phone=np.array(phones, np.int32),
        tid_to_state=np.array(numbers, np.int32),
        is_self_loop=np.array(loops, np.bool_),
    )


def _text_topology(reader: ObjectReader) -> _Topology:
    topology: _Topology = {}
    while reader.expect_token("<TopologyEntry>", "</Topology>") == "<TopologyEntry>":
        reader.expect_token("<ForPhones>")
        phones = []
        while reader.peek_token() != "</ForPhones>":
            phones.append(reader.read_int32())
        reader.read_token()
        states: list[list[int]] = []
        while reader.expect_token("<State>", "</TopologyEntry>") == "<State>":
            reader.read_int32()
            states.append(_text_state(reader))
        topology.update(dict.fromkeys(phones, states))
    return topology


def _text_state(reader: ObjectReader) -> list[int]:
    """Where the transitions of one state lead."""
    targets = []
    while (
        token := reader.expect_token(
            "<Transition>",
            "</State>",
            "<PdfClass>",
            "<ForwardPdfClass>",
            "<SelfLoopPdfClass>",
            "<Final>",
        )
    ) != "</State>":
        if token == "<Transition>":
            targets.append(reader.read_int32())
            reader.read_float()
        elif token != "<Final>":
            reader.read_int32()
    return targets


def _binary_topology(reader: ObjectReader) -> _Topology:
    phones = reader.read_int32_vector().tolist()
    at = reader.offset
    entry_of_phone = reader.read_int32_vector().tolist()
    count = reader.read_int32()
    two_pdfs = count == -1  # then forward transitions and loops have pdfs of their own
    if two_pdfs:
        count = reader.read_int32()
    entries = [
        [_binary_state(reader, two_pdfs) for _ in range(reader.read_int32())]
        for _ in range(count)
    ]
    reader.expect_token("</Topology>")
    topology = {}
    for phone in phones:
        entry = entry_of_phone[phone] if 0 <= phone < len(entry_of_phone) else -1
        if not 0 <= entry < len(entries):
            reader.fail(f"phone {phone} has no topology; the file is damaged.", at)
        topology[phone] = entries[entry]
    return topology


def _binary_state(reader: ObjectReader, two_pdfs: bool) -> list[int]:
    """Where the transitions of one state lead."""
    reader.read_int32()
    if two_pdfs:
        reader.read_int32()
    targets = []
    for _ in range(reader.read_int32()):
        targets.append(reader.read_int32())
        reader.read_float()
    return targets
