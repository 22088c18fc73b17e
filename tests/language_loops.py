"""A language model of plain LSTMs as a loop over words, in NumPy and float64."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Loop:
    """The words' log-probabilities, and the states, that a `LanguageModel` must give.

    Args:
        model: of LSTMs without projection and peepholes.
    """

    def __init__(self, model):
        self.weights = {
            name: weight.value.numpy().astype(np.float64)
            for name, weight in model.named_weights().items()
        }
        self.lstms = [layer.name for layer in model.recurrent.layers]

    def run(self, ids):
        """After each id: log-probabilities `(time, words)`, and the last states."""
        w = self.weights
        state = {
            name: [np.zeros(w[f"{name}/w_ifco_h"].shape[1]) for _ in range(2)]
            for name in self.lstms
        }
        found = []
        for word in ids:
            x = w["embedding/embeddings"][word]
            for name in self.lstms:
                h, c = state[name]
                z = w[f"{name}/w_ifco_x"] @ x + w[f"{name}/w_ifco_h"] @ h
                i, f, g, o = np.split(z + w[f"{name}/bias"], 4)
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = x = sigmoid(o) * np.tanh(c)
                state[name] = [h, c]
            scores = w["output/linearity"] @ x + w["output/bias"]
            found.append(scores - np.log(np.exp(scores).sum()))
        return np.array(found), state
