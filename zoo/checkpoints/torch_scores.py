"""What Torch's language models give words, in NumPy: to check what is imported."""

from collections.abc import Sequence

import numpy as np

from seqzoo.zoo.checkpoints.torch_modules import (
    Dropout,
    Layer,
    Linear,
    LookupTable,
    Nce,
    SeqLstm,
)

_ROWS = 64  # Softmax over all words of so many at once.


def target_log_probs(
    layers: Sequence[Layer], inputs: np.ndarray, targets: np.ndarray
) -> np.ndarray:
    """The logarithm of the probability of each target.

    Args:
        layers: see `torch_modules.language_model`.
        inputs: (time,) word ids; 0 separates sequences where the layers mask it.
        targets: (time,) the ids that follow, from 1.

    Returns:
        (time,) in nats; 0 where the input is 0.
    """
    hidden = hidden_values(layers, inputs)
    out = np.zeros(len(hidden), hidden.dtype)
    for start in range(0, len(hidden), _ROWS):
        rows = slice(start, start + _ROWS)
        scores = log_softmax(layers[-1], hidden[rows])
        out[rows] = scores[np.arange(len(scores)), targets[rows] - 1]
    return np.where(inputs == 0, 0, out)


def log_softmax(output: Layer, hidden: np.ndarray) -> np.ndarray:
    """(time, words): log-probabilities of all words by the output layer."""
    assert isinstance(output, Nce | Linear)
    scores = hidden @ output.weight.T + output.bias
    scores -= scores.max(1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(1, keepdims=True))


def hidden_values(layers: Sequence[Layer], inputs: np.ndarray) -> np.ndarray:
    """(time, dim): what the output layer gets for word ids (time,)."""
    x = np.zeros((len(inputs), 0))
    for layer in layers[:-1]:
        if isinstance(layer, LookupTable):
            x = layer.weight[inputs - 1]
            x[inputs == 0] = 0
        elif isinstance(layer, SeqLstm):
            x = run_lstm(layer, x)
        else:
            assert isinstance(layer, Dropout)  # Does nothing after training.
    return x


def run_lstm(layer: SeqLstm, inputs: np.ndarray) -> np.ndarray:
    """(time, outputs) from (time, inputs), beginning with zeros.

    `c = f * c + i * g`, `h = o * tanh(c)`, and `h @ projection` where there is one.
    """
    gates = inputs @ layer.weight[: layer.inputs] + layer.bias
    recurrent = layer.weight[layer.inputs :]
    out = np.zeros((len(inputs), layer.outputs), inputs.dtype)
    h = np.zeros(layer.outputs, inputs.dtype)
    c = np.zeros(layer.cells, inputs.dtype)
    for t in range(len(inputs)):
        if layer.mask_zero and not inputs[t].any():
            h, c = np.zeros_like(h), np.zeros_like(c)
            continue
        i, f, o, g = np.split(gates[t] + h @ recurrent, 4)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = _sigmoid(o) * np.tanh(c)
        if layer.projection is not None:
            h = h @ layer.projection
        out[t] = h
    return out


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 + 0.5 * np.tanh(0.5 * x)
