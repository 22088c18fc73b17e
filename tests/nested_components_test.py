"""Components that hold networks: files, prototypes, edits, errors."""

import io
import re

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, nnet1, nnet_edit, nnet_proto

_AFFINE = "<AffineTransform> 1 1\n[ 2 ]\n[ 1 ]\n"
_PARALLEL = (
    "<Nnet> <ParallelComponent> 3 3 <NestedNnetCount> 2 "
    f"<NestedNnet> 1 <Nnet> {_AFFINE} </Nnet> "
    "<NestedNnet> 2 <Nnet> <Tanh> 2 2 <Dropout> 2 2 <DropoutRate> 0.5 </Nnet> "
    "</ParallelComponent> </Nnet>"
)


def _parse(text):
    data = text if isinstance(text, bytes) else text.encode()
    return nnet1.parse(io.BytesIO(data), "net")


def test_networks_side_by_side():
    nnet = _parse(_PARALLEL)
    rows = nnet.propagate(np.array([[3, 0, 1]], np.float32))
    np.testing.assert_allclose(rows, [[7, 0, np.tanh(1)]], rtol=1e-6)
    assert nnet.num_parameters() == 2


def test_nested_networks_may_lack_marks_as_old_files_do():
    modern = nnet1.to_bytes(_parse(_PARALLEL))
    old = modern.replace(b"<!EndOfComponent> ", b"")
    assert old != modern
    assert nnet1.to_bytes(_parse(old)) == modern


@pytest.mark.parametrize(
    "text, message",
    [
        (
            _PARALLEL.replace("<Tanh>", "<Foo>"),
            "net: component 1 <Foo> at byte 138 is not supported; supported: ",
        ),
        (
            _PARALLEL.replace("<Tanh>", "<Foo>"),
            "(inside of component 1 <ParallelComponent>).",
        ),
        (
            _PARALLEL.replace("0.5", "half"),
            "(component 2 <Dropout>) (inside of component 1 <ParallelComponent>).",
        ),
        (
            _PARALLEL.replace("<Dropout> 2 2", "<Dropout> 3 3"),
            "component 2 <Dropout> takes 3 numbers a frame, but component 1 <Tanh> "
            "puts out 2 (inside of component 1",
        ),
        (
            _PARALLEL.replace("3 3", "3 4"),
            "net:7: component 1: <ParallelComponent> holds 2 networks, whose "
            "dimensions add up to 3 and 3, not to 4 and 3.",
        ),
        (
            _PARALLEL.replace("Count> 2", "Count> 2000000000"),
            "expected <NestedNnet>, found '</ParallelComponent>' (component 1",
        ),
        (
            _PARALLEL.replace("<Tanh> 2 2 <Dropout> 2 2 <DropoutRate> 0.5", ""),
            "a nested network has no components (inside of component 1",
        ),
        ("<MultiBasisComponent> 1 2 <NumBasis> 0", "expected <Selector>, which is"),
        (
            f"<MultiBasisComponent> 1 2 <Selector> <Nnet> {_AFFINE} </Nnet>",
            "<MultiBasisComponent> has 0 bases, but its selector has 1 outputs.",
        ),
        (
            f"<SentenceAveragingComponent> 1 1 <Nnet> {_AFFINE} </Nnet>",
            "its own must be 1 and 2, not 1 and 1.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, message):
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        _parse(text)
    assert "\n" not in str(caught.value)


def test_binary_places_are_bytes():
    data = nnet1.to_bytes(_parse(_PARALLEL)).replace(b"<Tanh>", b"<Tang>")
    at = data.index(b"<Tang>")
    with pytest.raises(InputError, match=rf"component 1 <Tang> at byte {at} is not"):
        _parse(data)


def test_networks_are_not_nested_without_end():
    start = "<SentenceAveragingComponent> 2 1 <Nnet> "
    with pytest.raises(InputError, match="nested deeper than 20 "):
        _parse(start * 100_000)
    data = _AFFINE
    for dim in range(1, 15):
        data = f"<SentenceAveragingComponent> {dim + 1} 1 <Nnet> {data} </Nnet>"
    assert _parse(data).propagate(np.ones((2, 1), np.float32)).shape == (2, 15)


def test_old_files_of_several_bases_in_any_order():
    bases = "".join(f"<Basis> {n} <Nnet> {_AFFINE} </Nnet> " for n in (1, 2))
    selector = "<Selector> <Nnet> <Softmax> 2 2 </Nnet> "
    one = _parse(f"<MultiBasisComponent> 1 3 {selector}<NumBasis> 2 {bases}")
    other = _parse(f"<MultiBasisComponent> 1 3 <NumBasis> 2 {bases}{selector}")
    assert nnet1.to_bytes(one) == nnet1.to_bytes(other)
    assert one.components[0].selector_learn_rate_coef == 1
    assert len(one.components[0].bases) == 2


def test_bases_that_are_hardly_selected_are_left_out():
    selector = nnet1.Nnet([components.Sigmoid(2, 2)])
    double, triple = (
        nnet1.Nnet([components.Rescale(1, 1, np.array([factor], np.float32))])
        for factor in (2, 3)
    )
    basis = components.MultiBasis(3, 1, [selector, double, triple])
    basis.check()
    # Sigmoids: 0.5 a frame for the first basis, 0.04 and 0.06 for the second.
    low, less = np.log(0.06 / 0.94), np.log(0.04 / 0.96)
    feats = np.array([[1, 0, low], [10, 0, low]], np.float32)
    shares = np.array([[0.5, 0.06], [0.5, 0.06]])
    expected = feats[:, :1] * (2 * shares[:, :1] + 3 * shares[:, 1:])
    np.testing.assert_allclose(basis.propagate(feats), expected, rtol=1e-6)
    feats[0, 2] = feats[1, 2] = less
    np.testing.assert_allclose(basis.propagate(feats), feats[:, :1], rtol=1e-6)


# Prototypes.


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.proto").write_text("<Tanh> <InputDim> 2 <OutputDim> 2\n")
    (tmp_path / "b.proto").write_text(
        "<NnetProto>\n<Sigmoid> <InputDim> 1 <OutputDim> 1"
    )
    nnet1.write(str(tmp_path / "c.nnet"), _parse(_AFFINE))
    return tmp_path


def _made(folder, line):
    (folder / "nnet.proto").write_text(line)
    (component,) = nnet_proto.read(str(folder / "nnet.proto")).components
    return component


def _markers(net):
    return [component.marker for component in net.components]


def test_files_of_a_prototype_are_found_beside_it(folder, monkeypatch):
    line = (
        "<ParallelComponent> <InputDim> 4 <OutputDim> 4 <NestedNnetProto> a.proto "
        "b.proto </NestedNnetProto> <NestedNnetFilename> c.nnet </NestedNnetFilename>"
    )
    parallel = _made(folder, line)
    markers = [_markers(net) for net in parallel.nets]
    # Files come first, whatever the order in the line.
    assert markers == [["<AffineTransform>"], ["<Tanh>"], ["<Sigmoid>"]]
    # What is in the working directory goes first.
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "b.proto").write_text("<Softmax> <InputDim> 1 <OutputDim> 1\n")
    monkeypatch.chdir(elsewhere)
    assert _markers(_made(folder, line).nets[2]) == ["<Softmax>"]


def test_several_bases_of_one_prototype_differ(folder):
    (folder / "basis.proto").write_text("<AffineTransform> <InputDim> 2 <OutputDim> 1")
    basis = _made(
        folder,
        "<MultiBasisComponent> <InputDim> 4 <OutputDim> 1 <SelectorProto> a.proto "
        "<BasisProto> basis.proto",
    )
    one, other = (net.components[0].linearity for net in basis.bases)
    assert not np.array_equal(one, other)


def test_bases_of_files_and_of_nothing(folder):
    head = "<MultiBasisComponent> <InputDim> 3 <OutputDim> 1 <SelectorProto> a.proto "
    for rest in (
        "<BasisFilename> c.nnet",
        "<BasisFilenameVector> c.nnet c.nnet </BasisFilenameVector>",
    ):
        basis = _made(folder, head + rest)
        assert [net.components[0].bias.tolist() for net in basis.bases] == [[1], [1]]
    for net in _made(folder, head).bases:
        assert net.propagate(np.array([[5]], np.float32)).tolist() == [[5]]


def test_sentence_averaging_of_a_file(folder):
    averaging = _made(
        folder,
        "<SentenceAveragingComponent> <InputDim> 1 <OutputDim> 2 "
        "<NestedNnetFilename> c.nnet",
    )
    assert averaging.learn_rate_factor == 100
    feats = np.array([[0], [1]], np.float32)
    assert averaging.propagate(feats).tolist() == [[2, 0], [2, 1]]


def test_a_matrix_beside_a_prototype(folder):
    tables.write_object(str(folder / "m.mat"), np.array([[1, 2]], np.float32))
    line = "<LinearTransform> <InputDim> 2 <OutputDim> 1 <ReadMatrix> m.mat"
    assert _made(folder, line).linearity.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "<SentenceAveragingComponent> <InputDim> 1 <OutputDim> 2",
            "nnet.proto:1: <SentenceAveragingComponent> takes one of ",
        ),
        (
            "<SentenceAveragingComponent> <InputDim> 1 <OutputDim> 2 "
            "<NestedNnetProto> nnet.proto",
            "prototypes name others deeper than 10.",
        ),
        (
            "<ParallelComponent> <InputDim> 1 <OutputDim> 1 <NestedNnetProto> no.proto",
            "nnet.proto:1: there is no no.proto, neither here nor beside the ",
        ),
        (
            "<ParallelComponent> <InputDim> 1 <OutputDim> 1 <NestedNnet> ls|",
            "ls| is a command; a file is taken",
        ),
        (
            "<MultiBasisComponent> <InputDim> 4 <OutputDim> 1 <SelectorProto> a.proto",
            "names no basis; then its input dimension must be 3",
        ),
    ],
)
def test_prototypes_no_component_can_be_made_of(folder, line, message):
    with pytest.raises(InputError, match=re.escape(message)):
        _made(folder, line)


# Edits.


def test_learn_rates_of_nested_networks():
    nnet = _parse(_PARALLEL)
    edited = nnet_edit.set_learn_rates(nnet, coef=0.5, bias_coef=0.5)
    (affine,) = edited.components[0].nets[0].components
    assert (affine.learn_rate_coef, affine.bias_learn_rate_coef) == (0.5, 0.25)
    (affine,) = nnet.components[0].nets[0].components
    assert affine.learn_rate_coef == 1


def test_the_selector_keeps_its_learn_rate():
    def net():
        return _parse(_AFFINE)

    basis = components.MultiBasis(2, 1, [net(), net()])
    basis.set_learn_rates(0.5, 1.0)
    assert basis.selector.components[0].learn_rate_coef == 1
    assert basis.bases[0].components[0].learn_rate_coef == 0.5


def test_dropout_rates_of_nested_networks():
    nnet = _parse(_PARALLEL)
    edited = nnet_edit.set_dropout_rate(nnet, 0.25)
    assert edited.components[0].nets[1].components[1].dropout_rate == 0.25
    assert nnet.components[0].nets[1].components[1].dropout_rate == 0.5


def test_a_network_is_taken_out():
    nested = nnet_edit.from_parallel_component(_parse(_PARALLEL), 2)
    assert _markers(nested) == ["<Tanh>", "<Dropout>"]
    with pytest.raises(InputError, match="nested network 3 is not there; 1 to 2 are"):
        nnet_edit.from_parallel_component(_parse(_PARALLEL), 3)
    with pytest.raises(InputError, match="starts with <AffineTransform>; a nested"):
        nnet_edit.from_parallel_component(_parse(_AFFINE), 1)
