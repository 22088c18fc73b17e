"""SavedModels: names, values, padding, types, versions, and what is refused."""

import json
import os
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.export import saved_model
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn, priors
from seqzoo.zoo.checkpoints import components, keras_layers, nnet_edit, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from tests import saved_model_page

PROTO = """
<AffineTransform> <InputDim> 6 <OutputDim> 8 <BiasMean> 0 <BiasRange> 2 <ParamStddev> 1
<Sigmoid> <InputDim> 8 <OutputDim> 8
<AffineTransform> <InputDim> 8 <OutputDim> 5 <BiasMean> 0 <BiasRange> 2 <ParamStddev> 2
<Softmax> <InputDim> 5 <OutputDim> 5
"""
LOG_PRIORS = priors.log_priors([10, 30, 0, 20, 40])
FEATS = np.random.default_rng(2).normal(size=(2, 9, 2)).astype(np.float32)
LENGTHS = [4, 9]


@pytest.fixture(scope="module")
def nnet():
    transform = Nnet([components.Splice(2, 6, [-2, 0, 1])])
    return nnet_edit.concat(transform, nnet_proto.initialize(PROTO, 1))


@pytest.fixture(scope="module")
def model(nnet):
    return dnn.assemble([], keras_layers.to_layers(nnet))


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("models") / "dnn")
    return saved_model.export(model, directory, log_priors=LOG_PRIORS)


def ask(folder, signature, feats=FEATS, lengths=LENGTHS):
    loaded = tf.saved_model.load(folder)
    outputs = loaded.signatures[signature](
        feats=tf.constant(feats), lengths=tf.constant(lengths, tf.int32)
    )
    return {name: value.numpy() for name, value in outputs.items()}


def by_numpy(nnet, lengths=LENGTHS):
    """The network's output of each utterance by itself."""
    return [nnet.propagate(x[:n]) for x, n in zip(FEATS, lengths, strict=True)]


def check_close(batch, expected):
    assert batch.dtype == np.float32
    for actual, wanted in zip(batch, expected, strict=True):
        np.testing.assert_allclose(actual[: len(wanted)], wanted, rtol=1e-5, atol=1e-7)
        assert not actual[len(wanted) :].any()


def test_posteriors(exported, nnet):
    outputs = ask(exported, "posteriors")
    assert list(outputs) == ["posteriors"]
    check_close(outputs["posteriors"], by_numpy(nnet))


def test_log_posteriors(exported, nnet):
    outputs = ask(exported, "log_posteriors")
    check_close(outputs["log_posteriors"], [np.log(y + 1e-20) for y in by_numpy(nnet)])


def test_log_likelihoods_are_finite_for_a_class_without_a_prior(exported, nnet):
    likelihoods = ask(exported, "log_likelihoods")["log_likelihoods"]
    assert np.isfinite(likelihoods).all()
    check_close(likelihoods, [np.log(y + 1e-20) - LOG_PRIORS for y in by_numpy(nnet)])
    np.testing.assert_allclose(likelihoods[0, 0, 2], -1.8446744e19, rtol=1e-6)


def test_serving_default_is_the_likelihoods(exported):
    outputs = ask(exported, "serving_default")
    assert list(outputs) == ["outputs"]
    likelihoods = ask(exported, "log_likelihoods")["log_likelihoods"]
    np.testing.assert_array_equal(outputs["outputs"], likelihoods)


def test_without_priors_serving_default_is_the_log_posteriors(model, tmp_path):
    folder = saved_model.export(model, str(tmp_path))
    logs = ask(folder, "log_posteriors")["log_posteriors"]
    np.testing.assert_array_equal(ask(folder, "serving_default")["outputs"], logs)
    assert set(tf.saved_model.load(folder).signatures) == {
        "posteriors",
        "log_posteriors",
        "serving_default",
    }


def test_a_log_posterior_is_finite_where_the_posterior_is_0(tmp_path):
    nnet = Nnet([components.AddShift(2, 2, np.float32([0, 500]))])
    softmax = components.Softmax(2, 2)
    made = keras_layers.to_layers(Nnet([*nnet.components, softmax]))
    folder = saved_model.export(dnn.assemble([], made), str(tmp_path))
    logs = ask(folder, "log_posteriors", np.zeros((1, 1, 2), np.float32), [1])
    np.testing.assert_allclose(
        logs["log_posteriors"], [[[np.log(1e-20), 0]]], rtol=1e-6
    )


@pytest.mark.parametrize("padding", [0.0, 1e30, np.nan, np.inf])
def test_padding_changes_nothing(exported, nnet, padding):
    feats = FEATS.copy()
    feats[0, LENGTHS[0] :] = padding
    check_close(ask(exported, "posteriors", feats)["posteriors"], by_numpy(nnet))


def test_silence_is_no_padding(exported, nnet):
    feats = FEATS.copy()
    feats[1, 2] = 0
    found = ask(exported, "posteriors", feats)["posteriors"]
    check_close(found[1:], [nnet.propagate(feats[1])])


def test_an_utterance_without_frames(exported, nnet):
    found = ask(exported, "posteriors", lengths=[0, 9])["posteriors"]
    check_close(found, [np.zeros((0, 5)), nnet.propagate(FEATS[1])])


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([9], "one number for each utterance"),
        ([10, 9], "at most the frames in feats"),
        ([-1, 9], "0 or more"),
    ],
)
def test_lengths_that_do_not_fit(exported, lengths, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        ask(exported, "posteriors", lengths=lengths)


def test_a_model_without_softmax(nnet, tmp_path):
    nnet = nnet_edit.remove_last_components(nnet, 1)
    model = dnn.assemble([], keras_layers.to_layers(nnet))
    folder = saved_model.export(model, str(tmp_path))
    assert set(tf.saved_model.load(folder).signatures) == {"outputs", "serving_default"}
    for signature in ("outputs", "serving_default"):
        check_close(ask(folder, signature)["outputs"], by_numpy(nnet))
    with pytest.raises(InputError, match="without a softmax at its end"):
        saved_model.export(model, str(tmp_path), log_priors=LOG_PRIORS)


def in_bfloat16(nnet):
    """The network as a model that computes in bfloat16."""
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        return dnn.assemble([], keras_layers.to_layers(nnet))
    finally:
        keras.config.set_dtype_policy("float32")


def test_a_model_that_computes_in_bfloat16_is_exported_in_float32(nnet, tmp_path):
    model = in_bfloat16(nnet)
    folder = saved_model.export(model, str(tmp_path), check=True)
    check_close(ask(folder, "posteriors")["posteriors"], by_numpy(nnet))
    assert model.layers[-1].compute_dtype == "bfloat16"  # as it was


def test_bfloat16_can_be_kept(nnet, tmp_path):
    model = in_bfloat16(nnet)
    layers.add_shadow(model.layers[-1].linearity)
    folder = saved_model.export(
        model, str(tmp_path), keep_compute_type=True, check=True
    )
    found = ask(folder, "posteriors")["posteriors"]
    assert found.dtype == np.float32
    for actual, wanted in zip(found, by_numpy(nnet), strict=True):
        np.testing.assert_allclose(actual[: len(wanted)], wanted, atol=0.02)
        assert not np.allclose(actual[: len(wanted)], wanted, rtol=1e-5)


def test_weights_with_shadows_are_exported_in_float32(nnet, tmp_path):
    model = dnn.assemble([], keras_layers.to_layers(nnet))
    layers.add_shadow(model.layers[-1].linearity)
    folder = saved_model.export(model, str(tmp_path))
    check_close(ask(folder, "posteriors")["posteriors"], by_numpy(nnet))


def test_the_zoo_model_and_dropout(tmp_path):
    settings = ["hidden_dim=4", "pdfs=3", "hidden_layers=2", "dropout_rate=0.5"]
    _, model = registry.make("acoustic/dnn", settings)
    folder = saved_model.export(model, str(tmp_path), check=True)
    assert folder == str(tmp_path / "1")


def test_saved_model_cli_shows_our_names(exported):
    words = saved_model_page.shown(exported)
    for name in ("posteriors", "log_posteriors", "log_likelihoods"):
        assert f"outputs['{name}'] tensor_info: dtype: DT_FLOAT" in words
    assert "inputs['feats'] tensor_info: dtype: DT_FLOAT shape: (-1, -1, 2)" in words
    assert "inputs['lengths'] tensor_info: dtype: DT_INT32 shape: (-1)" in words
    assert "outputs['outputs'] tensor_info: dtype: DT_FLOAT shape: (-1, -1, 5)" in words


def test_the_description(exported):
    page = json.loads((pathlib.Path(exported) / saved_model.DESCRIPTION).read_text())
    assert page["feature_dim"] == 2
    assert page["classes"] == 5
    assert page["outputs"]["serving_default"] == "outputs"
    assert page["serving_default"] == "log_likelihoods"


def test_versions(model, tmp_path):
    directory = tmp_path / "some" / "dnn"
    assert saved_model.export(model, f"{directory}/") == str(directory / "1")
    assert saved_model.export(model, str(directory), version=7) == str(directory / "7")
    assert saved_model.export(model, str(directory)) == str(directory / "8")
    assert saved_model.versions(str(directory)) == [1, 7, 8]
    for version, message in ((7, "7 is there already"), (-1, "-1 is below 0")):
        with pytest.raises(InputError, match=message):
            saved_model.export(model, str(directory), version=version)
    assert sorted(os.listdir(directory)) == ["1", "7", "8"]


def test_nothing_is_left_of_an_export_that_fails(model, tmp_path, monkeypatch):
    def full(*args, **kwargs):
        tf.io.gfile.makedirs(args[1])
        message = "{{node SaveV2}} dnn/part-00000; No space left on device [Op:SaveV2]"
        raise tf.errors.ResourceExhaustedError(None, None, message)

    monkeypatch.setattr(tf.saved_model, "save", full)
    with pytest.raises(
        InputError, match="dnn: cannot write a SavedModel: No space left on device.$"
    ):
        saved_model.export(model, str(tmp_path / "new" / "dnn"))
    assert not os.listdir(tmp_path)


def test_a_folder_that_cannot_be_made(model, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file/dnn: cannot write a SavedModel"):
        saved_model.export(model, str(tmp_path / "file" / "dnn"))


def test_priors_of_another_model(model, tmp_path):
    with pytest.raises(InputError, match=r"of shape \(2,\); it has 5 classes"):
        saved_model.export(model, str(tmp_path), log_priors=[0.0, 1.0])
    assert not os.listdir(tmp_path)


def test_models_of_another_form(tmp_path):
    x = keras.Input((None, 2), name="feats")
    with pytest.raises(InputError, match="inputs are not"):
        saved_model.export(keras.Model(x, {"logits": x * 2}), str(tmp_path))
    with pytest.raises(InputError, match="outputs are neither"):
        saved_model.export(keras.Model({"feats": x}, {"y": x * 2}), str(tmp_path))


LSTM = "<LstmProjected> <InputDim> 2 <OutputDim> 3 <CellDim> 4"
BLSTM = "<BlstmProjected> <InputDim> 2 <OutputDim> 4 <CellDim> 4"


def assembled(proto):
    return dnn.assemble([], keras_layers.to_layers(nnet_proto.initialize(proto, 1)))


def test_step_is_there_for_recurrent_layers_or_when_asked_for(model, tmp_path):
    def has_step(made, **options):
        folder = saved_model.export(made, str(tmp_path), **options)
        found = "step" in tf.saved_model.load(folder).signatures
        assert found == ("step" in saved_model.description(folder))
        return found

    lstm = assembled(LSTM)
    assert has_step(lstm) and not has_step(lstm, step=False)
    assert has_step(model, step=True)
    assert not has_step(assembled(BLSTM))
    with pytest.raises(InputError, match=r"no signature step: layer 1_blstm.* whole"):
        saved_model.export(assembled(BLSTM), str(tmp_path), step=True)
    assert saved_model.versions(str(tmp_path)) == [1, 2, 3, 4]


def test_the_description_tells_the_state(tmp_path):
    folder = saved_model.export(assembled(LSTM), str(tmp_path))
    assert saved_model.description(folder)["step"] == {
        "delay": 0,
        "state": {
            "state_seen": ["int32"],
            "state_1_r": ["float32", 3],
            "state_1_c": ["float32", 4],
        },
    }


@pytest.mark.parametrize("proto", [LSTM, BLSTM])
def test_utterances_of_no_frames_in_recurrent_layers(proto, tmp_path):
    folder = saved_model.export(assembled(proto), str(tmp_path))
    nothing = np.zeros((2, 0, 2), np.float32)
    outputs = ask(folder, "outputs", nothing, [0, 0])["outputs"]
    assert outputs.shape[:2] == (2, 0)
