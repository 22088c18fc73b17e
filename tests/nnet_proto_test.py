import re

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, make_proto, nnet_proto
from seqzoo.zoo.checkpoints.nnet_proto import initialize, parse


def _one(line, **options):
    (component,) = initialize(line, **options).components
    return component


def test_lines_of_a_prototype():
    text = (
        "<NnetProto>\n\n"
        "<Splice> <InputDim> 2 <OutputDim> 6 <BuildVector> -1:1 </BuildVector>\n"
        "<Sigmoid> <InputDim> 6 <OutputDim> 6\n"
        "</NnetProto>\n"
    )
    lines = parse(text, "nnet.proto")
    assert [(marker, number) for marker, _, number in lines] == [
        ("<Splice>", 3),
        ("<Sigmoid>", 4),
    ]
    assert lines[0].options.words("BuildVector") == ["-1:1"]
    assert lines[1].options.integer("OutputDim") == 6


def test_markers_around_the_lines_may_be_absent():
    line = "<Sigmoid> <InputDim> 6 <OutputDim> 6\n"
    closed, opened = f"{line}</NnetProto>\n", f"<NnetProto>\n{line}"
    for text in (line, closed, opened, f"<NnetProto>\n{line}</NnetProto>"):
        assert len(parse(text, "p")) == 1


def test_an_option_right_behind_a_number():
    line = "<AffineTransform> <InputDim> 2 <OutputDim> 2<BiasMean> -0.5e0<BiasRange> 0"
    assert _one(line).bias.tolist() == [-0.5, -0.5]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "p: holds no component."),
        ("<NnetProto>\n</NnetProto>\n", "p: holds no component."),
        ("<A> <B> 1\n<NnetProto>\n", "p:2: <NnetProto> must be the first line."),
        ("<A> <B> 1\n</NnetProto>\n<C> <D> 1", "p:3: '<C>' stands after"),
        ("Sigmoid <InputDim> 1", "p:1: 'Sigmoid' is not a component"),
        ("\n<A> 1 <B> 2", "p:2: '1' has no <Option> before it."),
        ("<A> <B> 1 </C>", "p:1: </C> closes nothing."),
    ],
)
def test_text_that_is_no_prototype(text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse(text, "p")


@pytest.mark.parametrize(
    "line, message",
    [
        ("<Sigmoid> <InputDim> 2", "p:1: <OutputDim> is missing."),
        ("<Sigmoid> <InputDim> x <OutputDim> 2", "takes a whole number, not 'x'."),
        ("<Sigmoid> <InputDim> 0 <OutputDim> 0", "are 0 and 0; 1 to "),
        (
            "<LinearTransform> <InputDim> 99999 <OutputDim> 99999",
            "a matrix of 99999 x 99999 is too large",
        ),
        ("<Sigmoid> <InputDim> 2 <OutputDim> 3", "must be equal"),
        ("<Sigmoit> <InputDim> 2 <OutputDim> 2", "did you mean <Sigmoid>?"),
        ("<Zzz> <InputDim> 2 <OutputDim> 2", "supported: <AddShift>, "),
        (
            "<Dropout> <InputDim> 2 <OutputDim> 2 <DropoutRat> 0.1",
            "option <DropoutRat> is not known; taken: <DropoutRate>",
        ),
        ("<Dropout> <InputDim> 2 <OutputDim> 2 <DropoutRate> 1.5", "rate 1.5"),
        ("<Splice> <InputDim> 2 <OutputDim> 6", "<BuildVector> is missing."),
        ("<Splice> <InputDim> 2 <OutputDim> 6 <BuildVector> 1:-1", "first:last"),
        ("<Splice> <InputDim> 2 <OutputDim> 6 <BuildVector> 0:9999999999", "too long"),
        ("<Splice> <InputDim> 2 <OutputDim> 6 <BuildVector> 0:1", "must be 4, not 6"),
        ("<Splice> <InputDim> 2 <OutputDim> 6 <ReadVector> 0 1 2", "[ numbers ]"),
    ],
)
def test_lines_no_network_can_be_made_of(line, message):
    with pytest.raises(InputError, match=re.escape(message)):
        initialize(line, name="p")


def test_neighbours_must_fit():
    text = "<Sigmoid> <InputDim> 2 <OutputDim> 2\n\n<Tanh> <InputDim> 3 <OutputDim> 3\n"
    with pytest.raises(InputError, match="p:3: .* is 3, but the component before puts"):
        initialize(text, name="p")


def test_affine_defaults():
    affine = _one("<AffineTransform> <InputDim> 300 <OutputDim> 300")
    assert affine.linearity.dtype == affine.bias.dtype == np.float32
    # Three standard errors of the mean and deviation of 90,000 normal numbers.
    assert abs(affine.linearity.mean()) < 3 * 0.1 / 300
    assert abs(affine.linearity.std() - 0.1) < 3 * 0.1 / 300 / np.sqrt(2)
    assert -3 <= affine.bias.min() < -2.9 and -1.1 < affine.bias.max() <= -1
    assert (affine.learn_rate_coef, affine.bias_learn_rate_coef) == (1, 1)
    assert affine.max_norm == 0


def test_bias_range_0_is_a_constant():
    line = "<AffineTransform> <InputDim> 2 <OutputDim> 3 <BiasMean> 0.5 <BiasRange> 0"
    assert _one(line).bias.tolist() == [0.5, 0.5, 0.5]


def test_other_defaults():
    dims = "<InputDim> 2 <OutputDim> 2"
    assert _one(f"<Dropout> {dims}").dropout_rate == 0.5
    assert _one(f"<AddShift> {dims}").data.tolist() == [0, 0]
    assert _one(f"<Rescale> {dims}").data.tolist() == [0, 0]
    assert _one(f"<rescale> {dims} <InitParam> 2").data.tolist() == [2, 2]
    assert _one(f"<LinearTransform> {dims}").learn_rate_coef == 1


@pytest.mark.parametrize(
    "words, offsets",
    [
        ("<BuildVector> -10:5:10 </BuildVector>", [-10, -5, 0, 5, 10]),
        ("<BuildVector> -1:1 5 </BuildVector>", [-1, 0, 1, 5]),
        ("<ReadVector> [ -3 0 3 ]", [-3, 0, 3]),
    ],
)
def test_offsets(words, offsets):
    line = f"<Splice> <InputDim> 1 <OutputDim> {len(offsets)} {words}"
    assert _one(line).offsets == offsets


def test_a_matrix_of_a_file(tmp_path):
    path = str(tmp_path / "final.mat")
    tables.write_object(path, np.array([[1, 2, 3]], np.float32))
    dims = "<InputDim> 3 <OutputDim> 1"
    linear = _one(f"<LinearTransform> {dims} <ReadMatrix> {path}")
    assert linear.linearity.tolist() == [[1, 2, 3]]


def test_a_prototype_runs_no_commands(tmp_path):
    made = tmp_path / "made"
    dims = "<InputDim> 3 <OutputDim> 1"
    with pytest.raises(InputError, match="is a command; a file is taken"):
        _one(f"<LinearTransform> {dims} <ReadMatrix> touch {made} |")
    assert not made.exists()


def test_seeds():
    line = "<AffineTransform> <InputDim> 2 <OutputDim> 3"
    for rng in ("numpy", "kaldi"):
        one, same, other = (_one(line, seed=s, rng=rng).linearity for s in (1, 1, 2))
        assert np.array_equal(one, same)
        assert not np.array_equal(one, other)
    with pytest.raises(InputError, match="numpy and kaldi"):
        _one(line, rng="dice")


def test_a_network_of_six_hidden_layers():
    proto = make_proto.make_nnet_proto(440, 3370, 6, 2048)
    nnet = nnet_proto.initialize(proto)
    assert nnet.num_parameters() == 28_790_058
    assert len(nnet.components) == 14
    assert isinstance(nnet.components[-1], components.Softmax)


def test_damaged_prototypes_are_input_errors_and_nothing_else():
    proto = make_proto.make_nnet_proto(6, 3, 1, 4, with_dropout=True, proto_head=True)
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(500):
        words = proto.split(" ")
        for _ in range(rng.integers(1, 3)):
            place = int(rng.integers(len(words)))
            other = words[int(rng.integers(len(words)))]
            words[place] = ("", other, "-1", "x", words[place][:-1])[rng.integers(5)]
        try:
            initialize(" ".join(words))
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 200
