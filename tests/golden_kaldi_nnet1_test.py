"""Networks and prototypes against the recorded runs of Kaldi's nnet1 programs."""

import io
import pathlib
import shlex

import numpy as np
import pytest

from seqzoo.datasets import cmvn, compressed_matrix, deltas, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectReader
from seqzoo.zoo.acoustic import feature_transform
from seqzoo.zoo.checkpoints import (
    make_cnn_proto,
    make_lstm_proto,
    make_proto,
    nnet1,
    nnet2_raw,
    nnet_edit,
    nnet_info,
    nnet_proto,
    proto_options,
)

_GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"
_TOOLS = _GOLDENS / "tools"


def _folders(pattern, *files):
    """The case folders that hold `files`."""
    found = sorted(_GOLDENS.glob(pattern))
    assert found
    return [
        pytest.param(path, id=path.name)
        for path in found
        if all((path / name).exists() for name in files)
    ]


def _files(*patterns):
    found = sorted(path for pattern in patterns for path in _GOLDENS.glob(pattern))
    assert found
    return [pytest.param(path, id=path.name) for path in found]


@pytest.mark.parametrize("case", _folders("comp_*", "nnet.txt", "nnet.bin"))
def test_golden_kaldi_text_and_binary_are_one_network(case):
    text, binary = (case / "nnet.txt").read_bytes(), (case / "nnet.bin").read_bytes()
    for name in ("nnet.txt", "nnet.bin"):
        nnet = nnet1.read(str(case / name))
        assert nnet1.to_bytes(nnet, binary=False) == text
        assert nnet1.to_bytes(nnet, binary=True) == binary


@pytest.mark.parametrize("case", _folders("comp_*", "nnet_hand.txt"))
def test_golden_kaldi_text_written_by_hand(case):
    nnet = nnet1.read(str(case / "nnet_hand.txt"))
    assert nnet1.to_bytes(nnet, binary=False) == (case / "nnet.txt").read_bytes()


@pytest.mark.parametrize("case", _folders("comp_*", "info.txt"))
def test_golden_kaldi_info(case):
    nnet = nnet1.read(str(case / "nnet.bin"))
    assert nnet_info.info(nnet) == (case / "info.txt").read_text()


@pytest.mark.parametrize("case", _folders("comp_*", "in.ark", "out.ark"))
def test_golden_kaldi_forward(case):
    nnet = nnet1.read(str(case / "nnet.bin"))
    expected = dict(tables.read(f"ark:{case}/out.ark", "matrix"))
    feats = dict(tables.read(f"ark:{case}/in.ark", "matrix"))
    assert list(feats) == list(expected)
    for utt, matrix in feats.items():
        found = nnet.propagate(matrix)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected[utt], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("case", _folders("comp_*", "proto"))
def test_golden_kaldi_initialize(case, monkeypatch):
    monkeypatch.chdir(case)
    nnet = nnet_proto.initialize((case / "proto").read_text(), rng="kaldi")
    assert nnet1.to_bytes(nnet, binary=False) == (case / "nnet.txt").read_bytes()


# tools/README lists the commands; those that make networks are run again here.


def _initialize(options, proto, _):
    seed = int(options.get("seed", 777))
    return nnet_proto.initialize((_TOOLS / proto).read_text(), seed, rng="kaldi")


def _copy(options, source, _):
    nnet = nnet1.read(str(_TOOLS / source))
    if "remove-last-components" in options:
        count = int(options["remove-last-components"])
        nnet = nnet_edit.remove_last_components(nnet, count)
    if "remove-first-components" in options:
        count = int(options["remove-first-components"])
        nnet = nnet_edit.remove_first_components(nnet, count)
    if "from-parallel-component" in options:
        number = int(options["from-parallel-component"])
        nnet = nnet_edit.from_parallel_component(nnet, number)
    if "dropout-rate" in options:
        nnet = nnet_edit.set_dropout_rate(nnet, float(options["dropout-rate"]))
    return nnet


def _concat(options, *names):
    return nnet_edit.concat(*[nnet1.read(str(_TOOLS / name)) for name in names[:-1]])


def _cmvn(options, stats, _):
    return nnet_edit.cmvn_to_nnet(
        tables.read_object(str(_TOOLS / stats), "matrix"),
        std_dev=float(options.get("std-dev", 1)),
        learn_rate_coef=float(options.get("learn-rate-coef", 0)),
    )


def _transf(options, matrix, _):
    return nnet_edit.transf_to_nnet(tables.read_object(str(_TOOLS / matrix), "matrix"))


def _raw(options, source, _):
    return nnet1.read(str(_TOOLS / source))


def _learn_rates(options, source, _):
    return nnet_edit.set_learn_rates(
        nnet1.read(str(_TOOLS / source)),
        options.get("components", ""),
        coef=float(options.get("coef", 1)),
        bias_coef=float(options.get("bias-coef", 1)),
    )


_PROGRAMS = {
    "nnet-initialize": _initialize,
    "nnet-copy": _copy,
    "nnet-concat": _concat,
    "cmvn-to-nnet": _cmvn,
    "transf-to-nnet": _transf,
    "nnet-set-learnrate": _learn_rates,
    "nnet1-to-raw-nnet": _raw,
}
# Kaldi empties the network that it copies from.
_EMPTY = b"<Nnet> \n</Nnet> \n"


def _failed(program):
    """The command lines of a program that Kaldi refused."""
    lines = (_TOOLS / "README").read_text().splitlines()
    found = [line for line in lines if line.startswith(program) and "# rc=" in line]
    assert found
    return [line.partition(" # rc=")[0].strip() for line in found]


def _commands():
    for line in (_TOOLS / "README").read_text().splitlines():
        words = shlex.split(line, comments=True)
        if "|" in words or not words or words[0] not in _PROGRAMS:
            continue
        options = dict(w[2:].split("=", 1) for w in words[1:] if w.startswith("--"))
        names = [w for w in words[1:] if not w.startswith("--")]
        if all((_TOOLS / name).exists() for name in names):
            yield pytest.param(words[0], options, names, id=" ".join(words))


@pytest.mark.parametrize("program, options, names", list(_commands()))
def test_golden_kaldi_tools(program, options, names, monkeypatch):
    monkeypatch.chdir(_TOOLS)
    nnet = _PROGRAMS[program](options, *names)
    expected = (_TOOLS / names[-1]).read_bytes()
    if program == "nnet1-to-raw-nnet":
        assert nnet2_raw.to_text(nnet) == expected.decode()
    elif expected == _EMPTY:
        whole = nnet1.read(str(_TOOLS / names[0])).components[0]
        nested = whole.nets[int(options["from-parallel-component"]) - 1]
        assert nnet1.to_bytes(nnet) == nnet1.to_bytes(nested)
    else:
        assert nnet1.to_bytes(nnet, binary=False) == expected


@pytest.mark.parametrize("line", _failed("nnet1-to-raw-nnet"))
def test_golden_kaldi_conversions_to_nnet2_that_are_refused(line):
    nnet = nnet1.read(str(_TOOLS / shlex.split(line)[2]))
    with pytest.raises(InputError, match="is not converted to nnet2"):
        nnet2_raw.to_text(nnet)


def test_golden_kaldi_info_of_a_concatenation():
    nnet = nnet1.read(str(_TOOLS / "concat.txt"))
    assert nnet_info.info(nnet) == (_TOOLS / "concat.info").read_text()


_SCRIPTS = {
    "make_nnet_proto.py": (make_proto.make_nnet_proto, make_proto.ProtoOptions),
    "make_cnn_proto.py": (
        make_cnn_proto.make_cnn_proto,
        make_cnn_proto.CnnProtoOptions,
    ),
    "make_lstm_proto.py": (
        make_lstm_proto.make_lstm_proto,
        make_lstm_proto.LstmProtoOptions,
    ),
    "make_blstm_proto.py": (
        make_lstm_proto.make_blstm_proto,
        make_lstm_proto.BlstmProtoOptions,
    ),
}


def _proto_cases():
    for path in sorted((_GOLDENS / "protos").glob("*.cmd")):
        words = path.read_text().removeprefix("# ").split()
        yield pytest.param(path.with_suffix(".proto"), *words[:1], words[1:])


def _script_words(script, words):
    opts = " ".join(word for word in words if word.startswith("--"))
    dims = [int(word) for word in words if not word.startswith("--")]
    return dims, proto_options.parse(opts, _SCRIPTS[script][1])


@pytest.mark.parametrize("path, script, words", list(_proto_cases()))
def test_golden_kaldi_make_proto(path, script, words):
    dims, options = _script_words(script, words)
    found = _SCRIPTS[script][0](*dims, **options)
    if path.with_suffix(".err").exists():
        # The script died behind its first line and the prototypes that it names.
        assert found.startswith(path.read_text())
        names = make_cnn_proto.make_pitch_protos(*dims, **options)
        assert len(names) == 2
        for name, text in names.items():
            assert text == path.with_name(name).read_text()
    else:
        assert found == path.read_text()
    nnet_proto.parse(found, path.name)


# recipe/dnn.* come of one run of train.sh.


def _recipe_feats():
    """The features of that run: compressed, normalised by speaker, with deltas."""
    data = _GOLDENS / "recipe" / "data" / "tr"
    speakers = dict(tables.read(f"ark:{data}/utt2spk", "token"))
    stats = dict(tables.read(f"ark:{data}/cmvn.ark", "matrix", double=True))
    for utt, matrix in tables.read(f"ark:{data}/raw.ark", "matrix"):
        packed = io.BytesIO(compressed_matrix.encode(matrix, 1))
        saved = ObjectReader(packed, utt, binary=True).read_matrix()
        normal = cmvn.apply(saved, stats[speakers[utt]], norm_vars=True)
        yield utt, deltas.add_deltas(normal, 1)


def test_golden_kaldi_recipe_feature_transform():
    expected = nnet1.read(str(_GOLDENS / "recipe" / "dnn.feature_transform.txt"))
    nnet = feature_transform.build("plain", _recipe_feats, splice=2)
    splice, shift, scale = nnet.components
    assert splice.offsets == expected.components[0].offsets
    # Kaldi rounds its sums to float32 on the way: up to one in the last digit printed.
    for found, kaldi in zip((shift, scale), expected.components[1:], strict=True):
        assert found.marker == kaldi.marker
        assert found.learn_rate_coef == kaldi.learn_rate_coef == 0
        np.testing.assert_allclose(found.data, kaldi.data, rtol=1e-6, atol=1e-9)


# recipe/NAME.log opens with the command that made recipe/NAME.*.


@pytest.mark.parametrize("path", _files("recipe/*.nnet.proto"))
def test_golden_kaldi_recipe_proto(path):
    name = path.name.removesuffix(".nnet.proto")
    words = shlex.split(path.with_name(f"{name}.log").read_text().splitlines()[0])
    options = {
        word: value
        for word, value in zip(words, words[1:], strict=False)
        if word.startswith("--")
    }
    transform = nnet1.read(str(path.with_name(f"{name}.feature_transform.txt")))
    dims = [transform.output_dim, int(options["--num-tgt"])]
    if "--dbn" in options:
        layers = options["--dbn"].removeprefix("exp/dbn/")
        dims[0] = nnet1.read(str(path.with_name(f"dbn.{layers}.txt"))).output_dim
    kind = options.get("--network-type", "dnn")
    script, known = _SCRIPTS[f"make_{'nnet' if kind == 'dnn' else kind}_proto.py"]
    given = proto_options.parse(options.get("--proto-opts", ""), known)
    if kind == "dnn":
        given["bottleneck_dim"] = int(options.get("--bn-dim", 0))
        dims += [int(options["--hid-layers"]), int(options.get("--hid-dim", 1024))]
    assert script(*dims, **given) == path.read_text()


@pytest.mark.parametrize(
    "path",
    _files(
        "recipe/*.final.txt", "recipe/*.feature_transform.txt", "recipe/dbn.?.*.txt"
    ),
)
def test_golden_kaldi_recipe_networks_are_read_and_written(path):
    nnet = nnet1.read(str(path))
    assert nnet1.to_bytes(nnet, binary=False) == path.read_bytes()


@pytest.mark.parametrize("path", _files("recipe/dbn.?.dbn.txt"))
def test_golden_kaldi_recipe_stack_of_rbms(path):
    count = int(path.name.split(".")[1])
    rbms = [
        nnet1.read(str(path.with_name(f"dbn.{n}.rbm.txt"))) for n in range(1, count + 1)
    ]
    stack = nnet_edit.concat(*map(nnet_edit.rbm_to_nnet, rbms))
    assert nnet1.to_bytes(stack, binary=False) == path.read_bytes()


def test_golden_kaldi_feature_transform_of_the_tools():
    feats = list(tables.read(f"ark:{_TOOLS}/feats.ark", "matrix"))
    nnet = feature_transform.build("plain", lambda: feats, splice=1)
    expected = nnet1.read(str(_TOOLS / "feature_transform.txt"))
    for found, kaldi in zip(nnet.components[1:], expected.components[1:], strict=True):
        np.testing.assert_allclose(found.data, kaldi.data, rtol=1e-6, atol=1e-9)
    outputs = dict(tables.read(f"ark:{_TOOLS}/feature_transform_out.txt", "matrix"))
    for utt, matrix in feats:
        found = expected.propagate(matrix)
        np.testing.assert_allclose(found, outputs[utt], rtol=1e-5, atol=1e-6)
