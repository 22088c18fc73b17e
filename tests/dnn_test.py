"""`acoustic/dnn`: its size, defaults, mask, and a golden of fixed weights.

`goldens/seqzoo/acoustic_dnn.npz` holds the logits of `CONFIG` with all weights set by
`set_ramp`, so that a renamed or reordered weight fails here. It was made once by

    python -c 'from tests import dnn_test; dnn_test.write_golden()'
"""

import pathlib

import keras
import numpy as np
import pytest

from seqzoo import layers
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.acoustic.dnn_config import DnnConfig
from seqzoo.zoo.checkpoints import keras_layers

GOLDEN = pathlib.Path(__file__).parent / "goldens" / "seqzoo" / "acoustic_dnn.npz"
CONFIG = DnnConfig(
    feature_dim=3, offsets=(-2, 0, 1), hidden_layers=2, hidden_dim=5, pdfs=4
)


def set_ramp(model: keras.Model) -> None:
    """Weights rise from -1 to 1 in the order of the model's weights."""
    size = sum(int(np.prod(weight.shape)) for weight in model.weights)
    ramp = np.linspace(-1, 1, size, dtype=np.float32)
    for weight in model.weights:
        count = int(np.prod(weight.shape))
        weight.assign(ramp[:count].reshape(weight.shape))
        ramp = ramp[count:]


def golden_inputs() -> np.ndarray:
    """Two utterances of 5 frames; half of the second is padding."""
    return np.linspace(-2, 2, 30, dtype=np.float32).reshape(2, 5, 3)


MASK = np.array([[True] * 5, [True] * 3 + [False] * 2])


def golden_outputs() -> np.ndarray:
    model = dnn.build(CONFIG)
    set_ramp(model)
    return model.call({"feats": golden_inputs()}, mask={"feats": MASK})[
        "logits"
    ].numpy()


def write_golden() -> None:
    GOLDEN.parent.mkdir(exist_ok=True)
    np.savez(GOLDEN, logits=golden_outputs())


@pytest.fixture(scope="module")
def model():
    return dnn.build(CONFIG)


def layer_names(model):
    return [type(layer).__name__ for layer in model.layers[1:]]


def test_golden_seqzoo_acoustic_dnn():
    with np.load(GOLDEN) as golden:
        np.testing.assert_allclose(golden_outputs(), golden["logits"], rtol=1e-5)


def test_the_golden_by_numpy():
    """The same ramp through the formulas: the stored numbers are right."""
    shapes = {
        "shift": (9,),
        "scale": (9,),
        "linearity 1": (5, 9),
        "bias 1": (5,),
        "linearity 2": (5, 5),
        "bias 2": (5,),
        "linearity 3": (4, 5),
        "bias 3": (4,),
    }
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    parts = np.split(np.linspace(-1, 1, sum(sizes)), np.cumsum(sizes)[:-1])
    w = {
        name: part.reshape(shape)
        for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }
    with np.load(GOLDEN) as golden:
        stored = golden["logits"]
    for utterance, length in ((0, 5), (1, 3)):
        x = golden_inputs()[utterance, :length]
        at = np.arange(length)[:, np.newaxis] + np.array(CONFIG.offsets)
        x = x[at.clip(0, length - 1)].reshape(length, 9)
        x = (x + w["shift"]) * w["scale"]
        for n in (1, 2):
            x = 1 / (1 + np.exp(-(x @ w[f"linearity {n}"].T + w[f"bias {n}"])))
        x = x @ w["linearity 3"].T + w["bias 3"]
        np.testing.assert_allclose(stored[utterance, :length], x, rtol=1e-5)


def test_defaults_are_the_published_recipe():
    config = DnnConfig()
    assert config.feature_dim * len(config.offsets) == 440
    assert config.offsets == (-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5)
    assert (config.hidden_layers, config.hidden_dim, config.pdfs) == (6, 2048, 3370)
    assert (config.activation, config.softmax) == ("sigmoid", True)
    assert (config.dropout_rate, config.max_norm) == (0, 0)


def test_the_published_recipe_has_28_790_058_weights():
    hidden = 440 * 2048 + 2048 + 5 * (2048 * 2048 + 2048)
    assert hidden + 2048 * 3370 + 3370 == 28_790_058
    model = dnn.build(DnnConfig())
    trainable = sum(int(np.prod(w.shape)) for w in model.trainable_variables)
    assert trainable == 28_790_058
    assert model.count_params() - trainable == 2 * 440
    assert model.output["logits"].shape == (None, None, 3370)


def test_layers_in_order(model):
    assert layer_names(model) == [
        *("Splice", "AddShift", "Rescale"),
        *("Affine", "Activation") * 2,
        "Affine",
    ]
    assert model.name == "acoustic_dnn"
    assert [layer.name for layer in model.layers] == [
        "feats",
        "transform_1_splice",
        "transform_2_addshift",
        "transform_3_rescale",
        "net_1_affinetransform",
        "net_2_sigmoid",
        "net_3_affinetransform",
        "net_4_sigmoid",
        "net_5_affinetransform",
    ]


def test_the_feature_transform_does_not_learn(model):
    names = {weight.path.split("/")[0] for weight in model.trainable_variables}
    assert names == {f"net_{n}_affinetransform" for n in (1, 3, 5)}
    frozen = [weight.path for weight in model.non_trainable_variables]
    assert frozen == ["transform_2_addshift/shift", "transform_3_rescale/scale"]


def test_the_transform_starts_as_splice_alone():
    feats = np.arange(8, dtype=np.float32).reshape(4, 2)
    config = DnnConfig(feature_dim=2, offsets=(-1, 1))
    spliced = dnn.plain_transform(config).propagate(feats)
    assert spliced.tolist() == [
        [0, 1, 2, 3],
        [0, 1, 4, 5],
        [2, 3, 6, 7],
        [4, 5, 6, 7],
    ]


def test_the_mask_keeps_padding_out(model):
    feats = golden_inputs()
    alone = model({"feats": feats[1:, :3]})["logits"]
    padded = model.call({"feats": feats}, mask={"feats": MASK})["logits"]
    np.testing.assert_allclose(padded[1, :3], alone[0], rtol=1e-5)
    np.testing.assert_array_equal(padded._keras_mask, MASK)
    unmasked = model({"feats": feats})["logits"]
    assert not np.allclose(unmasked[1, :3], alone[0])


def test_a_masking_layer_in_front_does_the_same(model):
    feats = golden_inputs()
    feats[1, 3:] = 0
    whole = keras.Input((None, 3))
    masked = keras.Model(
        whole,
        model.call({"feats": keras.layers.Masking()(whole)})["logits"],
    )
    expected = model.call({"feats": feats}, mask={"feats": MASK})["logits"]
    np.testing.assert_allclose(masked(feats)[1, :3], expected[1, :3], rtol=1e-5)


def test_tanh():
    config = DnnConfig(**{**vars(CONFIG), "activation": "tanh"})
    model = dnn.build(config)
    functions = {
        layer.activation
        for layer in model.layers
        if isinstance(layer, keras.layers.Activation)
    }
    assert functions == {keras.activations.tanh}


def test_the_options_of_an_autoencoder():
    """`--no-softmax --activation-type=<Tanh> --hid-bias-mean=0 --hid-bias-range=1`."""
    given = {**vars(CONFIG), "hidden_dim": 400}
    by_options = DnnConfig(
        **{
            **given,
            "proto_opts": "--no-softmax --activation-type=<Tanh> "
            "--hid-bias-mean=0.0 --hid-bias-range=1.0",
        }
    )
    by_fields = DnnConfig(
        **{
            **given,
            "softmax": False,
            "activation": "tanh",
            "hid_bias_mean": 0.0,
            "hid_bias_range": 1.0,
        }
    )
    assert by_options.proto() == by_fields.proto()
    assert "<Softmax>" not in by_fields.proto()
    model = dnn.build(by_fields)
    assert list(model.output) == ["outputs"]
    bias = model.get_layer("net_1_affinetransform").bias.value.numpy()
    # Uniform in [-0.5, 0.5]: standard deviation 1 / sqrt(12).
    assert np.abs(bias).max() <= 0.5
    assert abs(bias.mean()) < 3 / np.sqrt(12 * 400)
    assert abs(bias.std() - 1 / np.sqrt(12)) < 0.03


def test_hidden_biases_by_default():
    model = dnn.build(DnnConfig(**{**vars(CONFIG), "hidden_dim": 400}))
    bias = model.get_layer("net_1_affinetransform").bias.value.numpy()
    assert -4 <= bias.min() < -3.9 and -0.1 < bias.max() <= 0
    assert abs(bias.mean() + 2) < 3 * 4 / np.sqrt(12 * 400)


def test_dropout_after_each_hidden_layer():
    model = dnn.build(DnnConfig(**{**vars(CONFIG), "dropout_rate": 0.2}))
    rates = [x.rate for x in model.layers if isinstance(x, keras.layers.Dropout)]
    assert rates == [pytest.approx(0.2)] * 2


def test_max_norm_of_hidden_layers():
    model = dnn.build(DnnConfig(**{**vars(CONFIG), "max_norm": 1.5}))
    norms = [x.max_norm for x in model.layers if isinstance(x, layers.Affine)]
    assert norms[:2] == [1.5, 1.5]


def test_the_seed_alone_decides_the_weights():
    first, same, other = (
        dnn.build(DnnConfig(**{**vars(CONFIG), "seed": seed})) for seed in (1, 1, 2)
    )
    for a, b, c in zip(
        *(m.trainable_variables for m in (first, same, other)), strict=True
    ):
        np.testing.assert_array_equal(a.value.numpy(), b.value.numpy())
        if a.value.numpy().any():
            assert (a.value.numpy() != c.value.numpy()).any()


def test_assemble_without_a_transform():
    net = keras_layers.to_layers(dnn.plain_transform(CONFIG))
    model = dnn.assemble([], net)
    assert list(model.output) == ["outputs"]
    assert model.output["outputs"].shape == (None, None, 9)
    feats = golden_inputs()
    expected = dnn.plain_transform(CONFIG).propagate(feats[0])
    np.testing.assert_array_equal(model({"feats": feats})["outputs"][0], expected)


def test_fit_and_compile_as_any_model(model):
    feats = golden_inputs()
    labels = np.arange(10).reshape(2, 5) % 4
    other = keras.models.clone_model(model)
    other.compile(
        layers.KaldiSGD(0.05),
        {"logits": keras.losses.SparseCategoricalCrossentropy(True, reduction="sum")},
    )
    history = other.fit(
        {"feats": feats}, {"logits": labels}, batch_size=1, epochs=3, verbose=0
    ).history["loss"]
    assert history[-1] < history[0]
