import io
import pathlib
import struct

import numpy as np
import pytest

from seqzoo.datasets import prompts, transition_model
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectReader

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "seq"


def expected(name):
    return np.array((GOLDENS / name).read_text().split()[1:], np.int32)


@pytest.mark.parametrize("name", ["trans.mdl", "trans.bin.mdl", "mono.mdl"])
def test_golden_kaldi_transition_models(name):
    model = transition_model.read(str(GOLDENS / name))
    np.testing.assert_array_equal(model.tid_to_pdf[1:], expected("tid2pdf.txt"))
    np.testing.assert_array_equal(model.tid_to_phone[1:], expected("tid2phone.txt"))
    np.testing.assert_array_equal(model.tid_to_state[1:], [0, 0, 1, 1] * 4)
    np.testing.assert_array_equal(model.is_self_loop[1:], [True, False] * 8)
    assert (model.num_tids, model.num_pdfs) == (16, 8)
    assert model.tid_to_pdf[0] == model.tid_to_phone[0] == -1


def test_the_model_of_the_prompts():
    model = transition_model.read(f"{prompts.path('en')}/lattices/trans.mdl")
    pdfs = np.arange(117)
    np.testing.assert_array_equal(model.tid_to_pdf[2 * pdfs + 1], pdfs)
    np.testing.assert_array_equal(model.tid_to_pdf[2 * pdfs + 2], pdfs)
    np.testing.assert_array_equal(model.tid_to_phone[2 * pdfs + 1], pdfs // 3 + 1)
    assert model.is_self_loop[2 * pdfs + 1].all()
    assert not model.is_self_loop[2 * pdfs + 2].any()


TUPLES = """<TransitionModel>
<Topology> <TopologyEntry> <ForPhones> 1 </ForPhones>
<State> 0 <ForwardPdfClass> 0 <SelfLoopPdfClass> 1
 <Transition> 0 0.5 <Transition> 1 0.5 </State>
<State> 1 </State> </TopologyEntry> </Topology>
<Tuples> 1
1 0 4 9
</Tuples> <LogProbs> [ 0 -0.7 -0.7 ] </LogProbs> </TransitionModel>"""


def integer(value):
    return struct.pack("<bi", 4, value)


def integers(values):
    return integer(len(values)) + struct.pack(f"<{len(values)}i", *values)


def binary_tuples():
    half = struct.pack("<bf", 4, 0.5)
    state = integer(0) + integer(1) + integer(2)
    state += integer(0) + half + integer(1) + half
    end = integer(-1) + integer(-1) + integer(0)
    return (
        b"\0B<TransitionModel> <Topology> "
        + integers([1])
        + integers([-1, 0])
        + integer(-1)
        + integer(1)
        + integer(2)
        + state
        + end
        + b"</Topology> <Tuples> "
        + b"".join(integer(n) for n in (1, 1, 0, 4, 9))
        + b"</Tuples> <LogProbs> </LogProbs> </TransitionModel> then a model"
    )


def parse(data):
    return transition_model.parse(ObjectReader(io.BytesIO(data), "x"))


@pytest.mark.parametrize("data", [TUPLES.encode(), binary_tuples()])
def test_loops_may_have_pdfs_of_their_own(data):
    model = parse(data)
    np.testing.assert_array_equal(model.tid_to_pdf, [-1, 9, 4])
    assert model.num_pdfs == 10


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "x:0: starts with b''"),
        (b"\0B<Nnet> <Affine", "x:2: starts with b'<Nnet> <Affine'"),
        (TUPLES[:80].encode(), "x:80: expected .* found the end"),
        (binary_tuples()[:60], "only .* bytes|only .* are left"),
        (TUPLES.replace("1 0 4 9", "1 0 four 9").encode(), "found 'four'"),
        (TUPLES.replace("1 0 4 9", "2 0 4 9").encode(), "state 0 of phone 2 is not"),
        (TUPLES.replace("<Tuples> 1", "<Tuples> 3").encode(), "found '</Tuples>'"),
        (TUPLES.replace("<Tuples> 1", "<Pairs> 1").encode(), "<Triples> or <Tuples>"),
        (TUPLES.replace("<Forward", "<Backward").encode(), "found '<BackwardPdfClass"),
        (TUPLES.replace("1 0 4 9", "").replace("s> 1\n", "s> 0\n").encode(), "has no"),
        (binary_tuples().replace(b"\4\4\0\0\0", b"\x08\4\0\0\0"), "found size 8"),
        (
            binary_tuples().replace(integers([-1, 0]), integers([-1, 9])),
            "phone 1 has no top",
        ),
    ],
)
def test_what_is_wrong_and_where(data, message):
    with pytest.raises(InputError, match=message):
        parse(data)
