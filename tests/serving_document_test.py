"""docs/serving.md: its commands, its Python and its JSON do what it says."""

import json
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.datasets import tables
from seqzoo.export import saved_model
from seqzoo.zoo.acoustic import dnn
from seqzoo.zoo.checkpoints import components, keras_layers, nnet1, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.commands import main
from tests.rest_server import as_tensors, serving

SERVING = pathlib.Path(__file__).parents[1] / "docs" / "serving.md"
DNN = """
<AffineTransform> <InputDim> 120 <OutputDim> 4 <BiasMean> 0 <BiasRange> 2
<Softmax> <InputDim> 4 <OutputDim> 4
"""
LSTM = """
<LstmProjected> <InputDim> 40 <OutputDim> 4 <CellDim> 5
<AffineTransform> <InputDim> 4 <OutputDim> 3
<Softmax> <InputDim> 3 <OutputDim> 3
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder with the two runs that the document names."""
    monkeypatch.chdir(tmp_path)
    fronts = {
        "dnn": Nnet([components.Splice(40, 120, [-1, 0, 1])]),
        "lstm": Nnet([components.Splice(40, 40, [5])]),
    }
    for name, proto in (("dnn", DNN), ("lstm", LSTM)):
        run = tmp_path / "exp" / name
        run.mkdir(parents=True)
        net = nnet_proto.initialize(proto, 1)
        nnet1.write(str(run / "final.nnet"), net)
        nnet1.write(str(run / "final.feature_transform"), fronts[name])
        counts = np.ones(net.output_dim, np.float32)
        tables.write_object(str(run / "ali_train_pdf.counts"), counts, False)
    return tmp_path


def fenced(language):
    text, _, _ = SERVING.read_text(encoding="utf-8").partition("\n## Language models")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def test_its_commands_run_then_its_python_where_nothing_of_ours_is(work):
    with tables.Writer("ark,scp:feats.ark,feats.scp") as writer:
        writer.write("utt1", np.zeros((6, 40), np.float32))
    lines = [
        line.removeprefix("$ ")
        for block in fenced("sh")
        for line in block.replace("\\\n", "").splitlines()
        if line.startswith(("seqzoo ", "$ seqzoo "))
    ]
    assert lines
    for line in lines:
        assert main.main(shlex.split(line)[1:]) == 0, line
    program = "\n".join(fence for fence in fenced("python") if "urllib" not in fence)
    assert "import tensorflow" in program and "seqzoo" not in program
    words = [sys.executable, "-I", "-c", program]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    whole, streamed, difference = done.stdout.splitlines()
    assert (whole, streamed) == ("(2, 100, 4)", "(100, 3)")
    assert float(difference) < 1e-6


def test_its_json(tmp_path):
    """Each request has the answer that is shown behind it."""
    softmax = Nnet([components.Softmax(2, 2)])
    one = np.ones((1, 1), np.float32)
    unit = components.RecurrentComponent(1, 1)
    unit.w_forward, unit.w_recurrent = one, one
    unit.bias = np.zeros(1, np.float32)
    shown = [json.loads(text) for text in fenced("json")]
    assert len(shown) == 4
    for net, request, answer in zip(
        (softmax, Nnet([unit])), shown[::2], shown[1::2], strict=True
    ):
        model = dnn.assemble([], keras_layers.to_layers(net))
        folder = saved_model.export(model, str(tmp_path))
        signature = tf.saved_model.load(folder).signatures[request["signature_name"]]
        outputs = signature(**as_tensors(signature, request["inputs"]))
        expected = answer["outputs"]
        if not isinstance(expected, dict):
            [name] = outputs
            expected = {name: expected}
        assert outputs.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_allclose(outputs[name].numpy(), values, atol=1e-6)


def test_its_loop_over_a_server(work, capsys):
    assert main.main(["export", "exp/lstm", "models/lstm"]) == 0
    loaded = tf.saved_model.load("models/lstm/1")
    [program] = [fence for fence in fenced("python") if "urllib" in fence]
    capsys.readouterr()
    names = {"__name__": "example"}
    with serving(loaded) as port:
        exec(program.replace("localhost:8501", f"localhost:{port}"), names)
    assert capsys.readouterr().out == "100 frames\n"
    whole = loaded.signatures["serving_default"](
        feats=tf.constant([names["frames"]], tf.float32), lengths=tf.constant([100])
    )["outputs"][0]
    np.testing.assert_allclose(names["scores"], whole, rtol=0, atol=1e-6)
