"""docs/serving.md on language models: its commands, Python and JSON do what it says."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import tensorflow as tf

from seqzoo.export import language_saved_model
from seqzoo.zoo.commands import main
from tests import small_language_models
from tests.rest_server import as_tensors, serving

SERVING = pathlib.Path(__file__).parents[1] / "docs" / "serving.md"


def fenced(language):
    _, _, text = SERVING.read_text(encoding="utf-8").partition("\n## Language models")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def likeliest(model, start, end):
    """The sentence of the likeliest words, at most 20."""
    state, word, found = model.zero_state(1), start, []
    while word != end and len(found) < 20:
        logs, state = model.next_log_probs(tf.constant([[word]]), state)
        word = int(np.argmax(logs[0])) + 1
        found.append(word)
    return " ".join(small_language_models.vocabulary(model.words).decode(found))


def test_its_command_its_python_and_its_loop(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = small_language_models.write_run("exp/lm")
    [line] = [line for block in fenced("sh") for line in block.splitlines()]
    assert main.main(shlex.split(line)[1:]) == 0
    plain, over_rest = fenced("python")
    assert "seqzoo" not in plain + over_rest
    words = [sys.executable, "-I", "-c", plain]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    perplexity, sentence = done.stdout.splitlines()
    start, end = model.words - 1, model.words
    a, b, c, d = range(1, 5)
    logs = []
    for ids in ([start, a, b, c, end], [start, b, d, end]):
        column = tf.constant(ids)[:, tf.newaxis]
        found, _ = model.log_probs(column[:-1], column[1:], model.zero_state(1))
        logs += found[:, 0].numpy().tolist()
    np.testing.assert_allclose(float(perplexity), np.exp(-np.mean(logs)), rtol=1e-5)
    assert sentence == likeliest(model, start, end)
    capsys.readouterr()
    with serving(tf.saved_model.load("models/lm/1")) as port:
        exec(over_rest.replace("localhost:8501", f"localhost:{port}"), {})
    assert capsys.readouterr().out == f"{sentence}\n"


def test_its_json(tmp_path):
    """Each request has the answer that is shown behind it."""
    words = ["the", "cat", "<UNK>", "<S>", "</S>"]
    model, _ = small_language_models.build(len(words), scale=0)
    model.output_layer.bias.assign(np.log([0.5, 0.2, 0.1, 0.05, 0.15]))
    folder = language_saved_model.export(model, words, str(tmp_path))
    signatures = tf.saved_model.load(folder).signatures
    shown = [json.loads(text) for text in fenced("json")]
    assert len(shown) == 6
    for request, answer in zip(shown[::2], shown[1::2], strict=True):
        signature = signatures[request["signature_name"]]
        outputs = signature(**as_tensors(signature, request["inputs"]))
        assert outputs.keys() == answer["outputs"].keys()
        for name, values in answer["outputs"].items():
            found = outputs[name].numpy()
            if name == "tokens":
                assert found.astype(bytes).astype(str).tolist() == values
            else:
                np.testing.assert_allclose(found, values, atol=1e-6)


def test_its_signatures_are_those_that_there_are(tmp_path):
    model, _ = small_language_models.build(5)
    words = ["the", "cat", "<UNK>", "<S>", "</S>"]
    folder = language_saved_model.export(model, words, str(tmp_path))
    text = SERVING.read_text(encoding="utf-8").partition("\n## Language models")[2]
    named = re.findall(r"^\| `(\w+)`.* \|.*`.* \|.*\|$", text, re.M)
    signatures = set(tf.saved_model.load(folder).signatures)
    assert signatures - {"serving_default"} <= set(named)
