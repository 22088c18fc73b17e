"""Scores from a SavedModel: which one is found, batches, and what is refused."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.export import saved_model
from seqzoo.zoo.acoustic import dnn, saved_model_scores
from seqzoo.zoo.acoustic.saved_model_scores import SavedModelScores
from seqzoo.zoo.acoustic.score_options import ScoreOptions
from seqzoo.zoo.checkpoints import components, keras_layers
from seqzoo.zoo.checkpoints.nnet1 import Nnet

NNET = Nnet([components.Splice(1, 2, [0, 1]), components.Softmax(2, 2)])


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("models"))
    model = dnn.assemble([], keras_layers.to_layers(NNET))
    for version in (9, 10):
        saved_model.export(model, directory, version=version)
    tf.io.gfile.makedirs(f"{directory}/11")  # no model in it
    return directory


def test_the_newest_version_is_found(models, tmp_path):
    assert saved_model_scores.find(f"{models}/") == f"{models}/10"
    assert saved_model_scores.find(f"{models}/9") == f"{models}/9"
    assert saved_model_scores.find(str(tmp_path)) is None
    assert saved_model_scores.find(f"{models}/10/saved_model.pb") is None


def test_utterances_of_all_lengths_equal_the_network(models):
    random = np.random.default_rng(1)
    lengths = [3, 900, 850, 1, 3000, 2, 2]
    feats = [random.normal(size=(n, 1)).astype(np.float32) for n in lengths]
    found = SavedModelScores(f"{models}/10")(feats)
    assert [len(scores) for scores in found] == lengths
    for scores, x in zip(found, feats, strict=True):
        np.testing.assert_allclose(scores, NNET.propagate(x), rtol=1e-5)


def test_neighbours_of_like_length_share_a_call():
    feats = [np.zeros((n, 1)) for n in (3, 900, 850, 300, 250, 5000, 10)]
    groups = [[len(x) for x in group] for group in saved_model_scores._groups(feats)]
    assert groups == [[3], [900, 850], [300, 250], [5000], [10]]


def test_options(models):
    scores = SavedModelScores(f"{models}/10", ScoreOptions(apply_log=True))
    [logs] = scores([np.zeros((2, 1), np.float32)])
    np.testing.assert_allclose(logs, np.log([[0.5, 0.5]] * 2), rtol=1e-6)
    with pytest.raises(InputError, match="a SavedModel keeps its softmax"):
        scores.options = ScoreOptions(no_softmax=True)


def test_a_saved_model_of_something_else(tmp_path):
    class Other(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((), name="x")])
        def double(self, x):
            return {"posteriors": 2 * x}

    other = Other()
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    tf.saved_model.save(other, one, {"serving_default": other.double})
    tf.saved_model.save(other, two, {"posteriors": other.double})
    with pytest.raises(InputError, match="its signatures are serving_default; "):
        SavedModelScores(one)
    with pytest.raises(InputError, match="posteriors takes x; feats and lengths are"):
        SavedModelScores(two)
