"""Networks and prototypes against the recorded runs of Kaldi's nnet1 programs."""

import io
import pathlib
import shlex

import numpy as np
import pytest

from seqzoo.datasets import cmvn, compressed_matrix, deltas, tables
from seqzoo.datasets.kaldi_objects import ObjectReader
from seqzoo.zoo.acoustic import feature_transform
from seqzoo.zoo.checkpoints import (
    make_proto,
    nnet1,
    nnet_edit,
    nnet_info,
    nnet_proto,
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
}


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
def test_golden_kaldi_tools(program, options, names):
    nnet = _PROGRAMS[program](options, *names)
    expected = (_TOOLS / names[-1]).read_bytes()
    assert nnet1.to_bytes(nnet, binary=False) == expected


def test_golden_kaldi_info_of_a_concatenation():
    nnet = nnet1.read(str(_TOOLS / "concat.txt"))
    assert nnet_info.info(nnet) == (_TOOLS / "concat.info").read_text()


def _proto_cases():
    for path in sorted((_GOLDENS / "protos").glob("*.cmd")):
        words = path.read_text().removeprefix("# ").split()
        if words[0] == "make_nnet_proto.py":
            yield pytest.param(path.with_suffix(".proto"), words[1:], id=path.stem)


@pytest.mark.parametrize("path, words", list(_proto_cases()))
def test_golden_kaldi_make_proto(path, words):
    opts = " ".join(word for word in words if word.startswith("--"))
    dims = [int(word) for word in words if not word.startswith("--")]
    found = make_proto.make_nnet_proto(*dims, **make_proto.parse_proto_opts(opts))
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


def test_golden_kaldi_recipe_proto():
    expected = (_GOLDENS / "recipe" / "dnn.nnet.proto").read_text()
    assert make_proto.make_nnet_proto(40, 5, 2, 16) == expected


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
