import io
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, nnet1

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"


def _parse(text):
    data = text if isinstance(text, bytes) else text.encode()
    return nnet1.parse(io.BytesIO(data), "net")


def _small():
    """One of each component that holds data."""
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape, np.float32)

    return nnet1.Nnet(
        [
            components.Splice(2, 6, [-1, 0, 1]),
            components.AddShift(6, 6, normal(6), 0.0),
            components.Rescale(6, 6, normal(6), 0.0),
            components.LinearTransform(6, 3, normal(3, 6), 0.1),
            components.AffineTransform(3, 4, normal(4, 3), normal(4), 1.0, 0.5, 3.0),
            components.Tanh(4, 4),
            components.Dropout(4, 4, 0.25),
            components.AffineTransform(4, 2, normal(2, 4), normal(2)),
            components.Softmax(2, 2),
        ]
    )


def test_reads_what_it_writes(tmp_path):
    nnet = _small()
    path = str(tmp_path / "final.nnet")
    nnet1.write(path, nnet)
    again = nnet1.read(path)
    feats = np.ones((5, 2), np.float32)
    assert np.array_equal(again.propagate(feats), nnet.propagate(feats))
    assert nnet1.to_bytes(again) == nnet1.to_bytes(nnet)
    assert (again.input_dim, again.output_dim) == (2, 2)
    assert again.num_parameters() == 6 + 6 + 18 + 16 + 10


def test_gzipped_files(tmp_path):
    path = str(tmp_path / "final.nnet.gz")
    nnet1.write(path, _small(), binary=False)
    assert nnet1.read(path).num_parameters() == _small().num_parameters()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "final.nnet"
    nnet1.write(str(path), _small())
    before = path.read_bytes()

    class Broken(components.Sigmoid):
        def write_data(self, writer):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        nnet1.write(str(path), nnet1.Nnet([*_small().components, Broken(2, 2)]))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["final.nnet"]


@pytest.mark.parametrize(
    "text",
    [
        "<Nnet>\n<AddShift> 2 2\n<LearnRateCoef> 1 [ 1 2 ]\n<!EndOfComponent>\n</Nnet>",
        "<addshift> 2 2 [ 1 2 ]\n",
        "<Nnet> <Addshift> 2 2 [ 1 2 ]",
        "<nnet>\r\n<ADDSHIFT> 2 2\r\n[ 1 2 ]\r\n</nnet>\r\n",
    ],
)
def test_old_and_handwritten_files(text):
    nnet = _parse(text)
    (shift,) = nnet.components
    assert shift.marker == "<AddShift>"
    assert shift.data.tolist() == [1, 2]
    assert shift.learn_rate_coef == 1


def test_old_binary_file_without_marks():
    modern = nnet1.to_bytes(_small())
    old = modern
    for mark in (b"<Nnet> ", b"</Nnet> ", b"<!EndOfComponent> "):
        old = old.replace(mark, b"")
    assert nnet1.to_bytes(nnet1.parse(io.BytesIO(old), "old")) == modern


def test_tokens_in_any_order_or_absent():
    options = "<MaxNorm> 3 <BiasLearnRateCoef> 0.5"
    nnet = _parse(f"<Nnet> <AffineTransform> 1 2 {options} [ 1 2 ] [ 3 ] </Nnet>")
    (affine,) = nnet.components
    assert affine.max_norm == 3
    assert affine.bias_learn_rate_coef == 0.5
    assert affine.learn_rate_coef == 1


def test_dropout_of_old_files_says_what_stays():
    (dropout,) = _parse("<Dropout> 2 2 <DropoutRetention> 0.8").components
    assert dropout.dropout_rate == pytest.approx(0.2)


def test_weights_that_are_not_numbers_are_read():
    (scale,) = _parse("<Rescale> 3 3 [ nan inf -inf ]").components
    assert np.isnan(scale.data[0]) and np.isinf(scale.data[1:]).all()


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "<Nnet>\n<Sigmoid> 2 2\n<Foo> 2 2\n</Nnet>",
            "net: component 2 <Foo> at byte 21 is not supported; "
            "supported: <AddShift>, <AffineTransform>, ",
        ),
        ("<Nnet> <Sigmoit> 2 2", "did you mean <Sigmoid>? supported: "),
        (
            "<Nnet> <Sigmoid> 2 2 stray",
            "component 2 or </Nnet>, found 'stray'.",
        ),
        ("<Nnet> <Sigmoid> 2 3", "(component 1 <Sigmoid>)|component 1: <Sigmoid> has"),
        ("<Nnet> <Sigmoid> 0 0", "dimensions are 0 and 0; 1 is the least"),
        (
            "<Nnet> <Sigmoid> 2 2 <Tanh> 3 3",
            "component 2 <Tanh> takes 3 numbers a frame, but component 1 <Sigmoid> "
            "puts out 2.",
        ),
        ("<Nnet> <AddShift> 2 2 [ 1 ]", "shift_data|data of shape 1"),
        ("<Nnet> <AddShift> 2 2 [ 1 2", "(component 1 <AddShift>)."),
        ("<Nnet> <AddShift> 2 2 [ 1 x ]", "found 'x' in it (component 1 <AddShift>)."),
        ("<Nnet> </Nnet>", "the network has no components."),
        ("", "expected <Nnet> or a component's <Marker>, found nothing."),
        ("utt1 [ 1 2 ]", "found 'utt1'."),
        ("<Nnet3> ", "this is a Kaldi nnet3 network"),
        ("<TransitionModel> ", "this is an acoustic model (.mdl)"),
        ("<NnetProto>\n<Sigmoid> <InputDim> 2", "this is a prototype"),
    ],
)
def test_errors_are_one_line_with_a_place(text, message):
    with pytest.raises(InputError) as caught:
        _parse(text)
    found = str(caught.value)
    assert found.startswith("net:")
    assert "\n" not in found
    assert any(part in found for part in message.split("|")), found


def test_sizes_are_checked_before_memory_is_taken():
    data = nnet1.to_bytes(nnet1.Nnet([components.Rescale(1, 1, np.ones(1, "f4"))]))
    huge = (2**31 - 1).to_bytes(4, "little")
    damaged = data.replace(b"FV \4\1\0\0\0", b"FV \4" + huge)
    assert damaged != data
    with pytest.raises(InputError, match="only .* are left"):
        nnet1.parse(io.BytesIO(damaged), "net")


def test_features_of_another_width():
    with pytest.raises(InputError, match=r"shape \(3, 5\).*\(frames, 2\)"):
        _small().propagate(np.zeros((3, 5)))


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="nothing.nnet"):
        nnet1.read(str(tmp_path / "nothing.nnet"))


_NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_round_trips(data):
    layers = []
    dim = data.draw(st.integers(1, 4))

    def array(*shape):
        size = int(np.prod(shape))
        values = data.draw(st.lists(_NUMBERS, min_size=size, max_size=size))
        return np.array(values, np.float32).reshape(shape)

    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(
            st.sampled_from(["affine", "linear", "splice", "shift", "drop", "sigmoid"])
        )
        coef = data.draw(_NUMBERS)
        if kind == "affine":
            out = data.draw(st.integers(1, 4))
            layers.append(
                components.AffineTransform(
                    dim, out, array(out, dim), array(out), coef, coef, coef
                )
            )
        elif kind == "linear":
            out = data.draw(st.integers(1, 4))
            layers.append(components.LinearTransform(dim, out, array(out, dim), coef))
        elif kind == "splice":
            offsets = data.draw(st.lists(st.integers(-99, 99), min_size=1, max_size=3))
            layers.append(components.Splice(dim, dim * len(offsets), offsets))
        elif kind == "shift":
            layers.append(components.AddShift(dim, dim, array(dim), coef))
        elif kind == "drop":
            layers.append(components.Dropout(dim, dim, 0.5))
        else:
            layers.append(components.Sigmoid(dim, dim))
        dim = layers[-1].output_dim
    nnet = nnet1.Nnet(layers)
    binary, text = nnet1.to_bytes(nnet), nnet1.to_bytes(nnet, binary=False)
    assert nnet1.to_bytes(_parse(binary)) == binary
    assert nnet1.to_bytes(_parse(text), binary=False) == text


def test_cut_files():
    whole = nnet1.to_bytes(_small())
    for end in range(0, len(whole), 7):
        try:
            nnet = nnet1.parse(io.BytesIO(whole[:end]), "net")
        except InputError:
            continue
        # Only between two components is the end of the file the end of a network.
        assert whole.startswith(nnet1.to_bytes(nnet).removesuffix(b"</Nnet> ")[:end])


def test_reading_a_model_loads_no_tensorflow():
    path = _GOLDENS / "tools" / "concat.txt"
    code = (
        "import sys\n"
        "from seqzoo.zoo.checkpoints import nnet1, nnet_info, nnet_edit, nnet_proto\n"
        f"print(len(nnet_info.info(nnet1.read({str(path)!r}))))\n"
        "assert not {'tensorflow', 'keras'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(pathlib.Path(__file__).parent.parent / ".typing")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
