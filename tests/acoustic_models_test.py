"""The networks of acoustic/cnn, autoencoder, bottleneck and multilingual.

`goldens/seqzoo/acoustic_NAME.npz` holds the outputs of each small configuration with
all weights set by `dnn_test.set_ramp`, so that a renamed or reordered weight fails
here. They were made once by

    python -c 'from tests import acoustic_models_test; acoustic_models_test.write()'
"""

import pathlib

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo import registry
from seqzoo.zoo.checkpoints import keras_layers, make_cnn_proto, make_proto, nnet_proto
from tests.dnn_test import MASK, set_ramp

FOLDER = pathlib.Path(__file__).parent / "goldens" / "seqzoo"
SMALL = ("hidden_layers=1", "hidden_dim=5", "offsets=-1:1")
CNN = "--patch-dim1=4 --patch-dim2=2 --num-filters1=3 --num-filters2=4"
CONFIGS = {
    "cnn": (
        *SMALL,
        "feature_dim=24",
        "delta_order=1",
        "pdfs=4",
        f"cnn_proto_opts={CNN}",
    ),
    "autoencoder": (*SMALL, "feature_dim=3", "pdfs=3"),
    "bottleneck": (
        *SMALL,
        "feature_dim=3",
        "pdfs=4",
        "first_bn_dim=2",
        "bn_dim=3",
        "traps_dct_basis=2",
        "stage_offsets=-2,0,1",
    ),
    "multilingual": (
        *SMALL,
        "feature_dim=3",
        "languages=de,nl",
        "block_dims=4,2",
        "task_weights=1,0.5",
    ),
}


@pytest.fixture(scope="module")
def made():
    return {
        name: registry.make(f"acoustic/{name}", words)
        for name, words in CONFIGS.items()
    }


def inputs(config) -> np.ndarray:
    """Two utterances of 5 frames; half of the second is padding."""
    size = 10 * config.feature_dim
    return np.linspace(-2, 2, size, dtype=np.float32).reshape(2, 5, -1)


def outputs(config, model) -> np.ndarray:
    set_ramp(model)
    found = model.call({"feats": inputs(config)}, mask={"feats": MASK})
    [values] = found.values()
    return values.numpy()


def write() -> None:
    for name, words in CONFIGS.items():
        config, model = registry.make(f"acoustic/{name}", words)
        np.savez(FOLDER / f"acoustic_{name}.npz", outputs=outputs(config, model))


@pytest.mark.parametrize("name", CONFIGS)
def test_golden_seqzoo_acoustic(name, made):
    with np.load(FOLDER / f"acoustic_{name}.npz") as golden:
        found = outputs(*made[name])
        np.testing.assert_allclose(found, golden["outputs"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_same_by_the_networks_in_numpy(name, made):
    config, model = made[name]
    found = outputs(config, model)
    nnet = keras_layers.to_nnet(model.layers[1:])
    for utterance, mask, values in zip(inputs(config), MASK, found, strict=True):
        expected = nnet.propagate(utterance[mask])
        np.testing.assert_allclose(values[mask], expected, rtol=1e-5, atol=1e-5)


def test_a_cnn_is_the_two_scripts_one_behind_the_other(made):
    config, _ = made["cnn"]
    front = make_cnn_proto.make_cnn_proto(
        72,
        splice=1,
        delta_order=1,
        patch_dim1=4,
        patch_dim2=2,
        num_filters1=3,
        num_filters2=4,
    )
    # 12 frequencies, 9 patches, 3 pools, 2 patches of 4 filters.
    behind = make_proto.make_nnet_proto(8, 4, 1, 5, smaller_input_weights=False)
    assert config.proto() == front + behind
    assert made["cnn"][1].output["logits"].shape[-1] == 4


def test_a_cnn_with_pitch_has_two_branches():
    words = [*CONFIGS["cnn"], "feature_dim=26", "pitch_dim=1"]
    config, model = registry.make("acoustic/cnn", words)
    assert sorted(config.pitch_protos()) == [
        "nnet.proto.convolution",
        "nnet.proto.pitch",
    ]
    kinds = [c.marker for c in keras_layers.to_nnet(model.layers[1:]).components]
    assert kinds[3:6] == ["<Copy>", "<ParallelComponent>", "<AffineTransform>"]
    nnet = keras_layers.to_nnet(model.layers[1:])
    feats = np.random.default_rng(0).normal(size=(5, 26)).astype(np.float32)
    [found] = model({"feats": feats[np.newaxis]})["logits"].numpy()
    np.testing.assert_allclose(found, nnet.propagate(feats), rtol=1e-4, atol=1e-5)


def test_a_cnn_needs_frames_without_gaps():
    config = registry.config("acoustic/cnn", ["offsets=-3,0,3"])
    with pytest.raises(ValueError, match="symmetric ones without gaps"):
        config.proto()


def test_an_autoencoder_is_the_recipe_of_kaldi():
    options = (
        "--no-softmax --activation-type=<Tanh> --hid-bias-mean=0 --hid-bias-range=1 "
        "--param-stddev-factor=0.01"
    )
    config = registry.config("acoustic/autoencoder")
    assert config.proto() == make_proto.make_nnet_proto(
        440, 40, 2, 200, **make_proto.parse_proto_opts(options)
    )
    assert config.objective == "mse"


def test_the_second_network_sees_the_first_ones_bottleneck():
    config = registry.config("acoustic/bottleneck")
    assert config.stage_offsets == (-10, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 10)
    second = nnet_proto.parse(config.proto(), "")
    dims = [o.integer("OutputDim") for _, o, _ in second]
    assert dims == [1500, 1500, 1500, 1500, 30, 1500, 1500, 3370, 3370]
    first = nnet_proto.parse(config.first().proto(240), "")
    assert [o.integer("OutputDim") for _, o, _ in first][4] == 80
    assert "<InputDim> 1040" in config.proto()


def test_the_transform_of_the_second_network_by_hand(made):
    config, model = made["bottleneck"]
    outputs(config, model)
    names = [layer.name for layer in model.layers]
    front = [layer for layer in model.layers if layer.name.startswith("transform_")]
    assert names[0] == "feats"
    nnet = keras_layers.to_nnet(front)
    # Splice, cosines, Affine, Sigmoid, narrow Linear, Splice.
    assert [c.marker for c in nnet.components] == [
        "<Splice>",
        "<LinearTransform>",
        "<AffineTransform>",
        "<Sigmoid>",
        "<LinearTransform>",
        "<Splice>",
    ]
    assert nnet.output_dim == 2 * 3
    narrow = type(nnet)(nnet.components[:-1])
    feats = inputs(config)[0]
    bottleneck = narrow.propagate(feats)
    expected = [
        np.concatenate([bottleneck[np.clip(t + o, 0, 4)] for o in (-2, 0, 1)])
        for t in range(5)
    ]
    np.testing.assert_allclose(nnet.propagate(feats), expected, rtol=1e-6)


def test_languages_have_a_softmax_each(made):
    config, model = made["multilingual"]
    found = outputs(config, model)
    np.testing.assert_allclose(found[..., :4].sum(-1), 1, rtol=1e-6)
    np.testing.assert_allclose(found[..., 4:].sum(-1), 1, rtol=1e-6)
    assert config.objective == "multitask,xent,4,1,xent,2,0.5"
    assert config.proto().splitlines()[-1].endswith("<BlockDims> 4:2")


@pytest.mark.parametrize(
    "words, told",
    [
        (["languages=en,en"], "one or more different names"),
        (["block_dims=3"], "block_dims has 1 values, but there are 3 languages"),
        (["block_dims=3,0,1"], "at least 1 is taken"),
        (["task_weights=1"], "task_weights has 1 values"),
        (["pdfs=7"], "pdfs is 7, but the languages have 300"),
    ],
)
def test_languages_that_do_not_fit(words, told):
    with pytest.raises(InputError, match=told):
        registry.config("acoustic/multilingual", words)
