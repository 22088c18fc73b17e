"""`seqzoo info` of a language model."""

import json

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import run_info

SETTINGS = {
    "words": 5,
    "hiddensize": [4, 3],
    "inputsize": 2,
    "dropout": 0.2,
    "output": "nce",
    "k": 7,
    "Z": 1.0,
    "rownoise": False,
    "projsize": 6,
    "peepholes": True,
}


@pytest.fixture
def run(tmp_path):
    about = {"model": "language/lstm", "settings": SETTINGS}
    (tmp_path / "config.json").write_text(json.dumps(about))
    state = {"weights": "best", "epoch": 4, "best_epoch": 3, "best_error": 2.5}
    (tmp_path / "state.json").write_text(json.dumps(state))
    folder = tmp_path / "weights" / "best"
    folder.mkdir(parents=True)
    np.save(folder / "output.bias.npy", np.array([1, 2, 3, 4, 10], "float16"))
    np.save(folder / "embedding.embeddings.npy", np.zeros((6, 2), "float32"))
    np.save(folder / "output.z.npy", np.float32(1.5))
    np.save(folder / "seed.noise.npy", np.array([1, 2], "uint32"))
    return tmp_path


def test_layers_in_order_and_weights_with_their_spread(run, capsys):
    assert main.main(["info", str(run)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "language/lstm, 5 words",
        "  17 parameters",
        "  4 epochs; the best is 3, validation error 2.5",
        "  embedding: ids 0 to 5 -> 2, 0 for id 0",
        "  dropout 0.2",
        "  lstm_1: 2 -> 4 of 6 cells, projected, with peepholes",
        "  dropout 0.2",
        "  lstm_2: 4 -> 3 of 6 cells, projected, with peepholes",
        "  dropout 0.2",
        "  output: 3 -> 5 words, trained by NCE, k 7, Z 1, noise by time step",
        "  embedding/embeddings (6 x 2): min 0, max 0, mean 0, stddev 0",
        "  output/bias (5): min 1, max 10, mean 4, stddev 3.1623",
        "  output/z (1): min 1.5, max 1.5, mean 1.5, stddev 0",
    ]


def test_what_is_no_run(tmp_path):
    with pytest.raises(InputError, match="not the folder of a language model"):
        run_info.info(str(tmp_path))


def test_no_epoch_yet(run):
    (run / "state.json").unlink()
    with pytest.raises(InputError, match="no epoch of its training has ended yet"):
        run_info.info(str(run))
