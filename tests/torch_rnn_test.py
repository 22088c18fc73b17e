import numpy as np
import pytest

from seqzoo.datasets import torch_file, torch_writer
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import torch_rnn, torch_scores
from tests.torch_logs import make_checkpoint


def _checkpoint(**fields):
    data = torch_writer.to_bytes(make_checkpoint(**fields))
    return torch_file.parse(data, "x.t7")


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_what_a_checkpoint_holds():
    found = torch_rnn.parse(_checkpoint(), "x.t7")
    assert found.tokens == ["a", "b", "\n"] and found.iteration == 40
    assert found.opt["rnn_size"] == 3
    assert found.train_losses == [2, 1] and found.valid_losses == [1.5]
    assert [type(layer).__name__ for layer in found.layers] == [
        "LookupTable",
        "SeqLstm",
        "SeqLstm",
        "Linear",
    ]
    assert not any(getattr(layer, "mask_zero", False) for layer in found.layers)


def test_scores():
    value = _checkpoint()
    layers = torch_rnn.parse(value, "x.t7").layers
    inputs, targets = np.array([1, 3, 2]), np.array([3, 2, 2])
    modules = value["model"]["net"]["modules"]
    x = np.float64(modules[0]["weight"])[inputs - 1]
    for lstm in modules[1:3]:
        h, c, out = np.zeros(3), np.zeros(3), []
        for frame in x:
            gates = np.concatenate([frame, h]) @ lstm["weight"] + lstm["bias"]
            i, f, o, g = gates.reshape(4, 3)
            c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
            h = _sigmoid(o) * np.tanh(c)
            out.append(h)
        x = np.array(out)
    scores = np.exp(x @ modules[4]["weight"].T + modules[4]["bias"])
    expected = np.log(scores / scores.sum(1, keepdims=True))[range(3), targets - 1]
    found = torch_scores.target_log_probs(layers, inputs, targets)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_what_is_none():
    with pytest.raises(InputError, match="x.t7: no checkpoint of torch-rnn"):
        torch_rnn.parse({"model": 5.0}, "x.t7")
    value = _checkpoint()
    value["model"].fields["idx_to_token"] = ["a"]
    with pytest.raises(InputError, match="1 characters for a model of 3"):
        torch_rnn.parse(value, "x.t7")
    value["model"].fields["net"] = None
    with pytest.raises(InputError, match="x.t7: model.net: a missing value, but"):
        torch_rnn.parse(value, "x.t7")
    with pytest.raises(InputError, match="the checkpoint.i: a str, no number"):
        torch_rnn.parse(_checkpoint(i="x"), "x.t7")
