"""Checking a SavedModel in a process of its own: agreement, and each difference."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.export import saved_model
from seqzoo.export.check import check
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.checkpoints import components, keras_layers, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet

LOG_PRIORS = np.float32([-1, -2, 1.8e19, -0.5])


def small_model(seed=0, softmax=True):
    weights = np.random.default_rng(seed).normal(size=(4, 6)).astype(np.float32)
    parts = [components.Splice(2, 6, [-1, 0, 1])]
    parts.append(components.LinearTransform(6, 4, weights))
    if softmax:
        parts.append(components.Softmax(4, 4))
    return dnn.assemble([], keras_layers.to_layers(Nnet(parts)))


def test_all_signatures_agree(tmp_path):
    model = small_model()
    folder = saved_model.export(model, str(tmp_path), log_priors=LOG_PRIORS)
    differences = check(folder, model, log_priors=LOG_PRIORS)
    assert set(differences) == {
        "posteriors",
        "log_posteriors",
        "log_likelihoods",
        "serving_default",
    }
    assert max(differences.values()) < 1e-5


def test_a_model_without_softmax(tmp_path):
    model = small_model(softmax=False)
    differences = check(saved_model.export(model, str(tmp_path)), model)
    assert set(differences) == {"outputs", "serving_default"}


def test_another_model(tmp_path):
    folder = saved_model.export(small_model(), str(tmp_path))
    with pytest.raises(InputError, match=r"posteriors differ .* class \(0, 0, "):
        check(folder, small_model(seed=1))


def test_other_signatures(tmp_path):
    model = small_model()
    folder = saved_model.export(model, str(tmp_path))
    with pytest.raises(InputError, match="log_likelihoods.* are expected"):
        check(folder, model, log_priors=LOG_PRIORS)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match=r"only TensorFlow cannot run .*exit 1"):
        check(str(tmp_path), small_model())


def test_a_difference_keeps_an_export_from_being_written(tmp_path, monkeypatch):
    """A mask that reaches no layer is such a difference."""
    monkeypatch.setattr(
        tf,
        "sequence_mask",
        lambda lengths, time: tf.fill(tf.stack([tf.size(lengths), time]), True),
    )
    with pytest.raises(InputError, match="differ from the model's"):
        saved_model.export(small_model(), str(tmp_path / "dnn"), check=True)
    assert not list(tmp_path.iterdir())


LSTM = """
<Splice> <InputDim> 2 <OutputDim> 6 <BuildVector> -1 0 2 </BuildVector>
<LstmProjected> <InputDim> 6 <OutputDim> 4 <CellDim> 3 <ParamRange> 1
<Softmax> <InputDim> 4 <OutputDim> 4
"""


def test_an_lstm_in_pieces(tmp_path):
    nnet = nnet_proto.initialize(LSTM, 1)
    model = dnn.assemble([], keras_layers.to_layers(nnet))
    folder = saved_model.export(model, str(tmp_path), log_priors=LOG_PRIORS)
    differences = check(folder, model, log_priors=LOG_PRIORS, step=True)
    assert differences["step"] < 1e-6
