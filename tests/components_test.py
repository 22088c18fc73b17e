import dataclasses
import pathlib
import re
import warnings

import numpy as np
import pytest

from seqzoo.zoo.checkpoints import components, nnet1
from seqzoo.zoo.checkpoints.components import (
    Component,
    UpdatableComponent,
    component,
)

_DOC = pathlib.Path(__file__).parent.parent / "docs" / "adding_a_component.md"


@pytest.fixture
def register_is_restored(monkeypatch):
    monkeypatch.setattr(component, "_REGISTER", dict(component._REGISTER))


def _forward(component, rows):
    return component.propagate(np.array(rows, np.float32)).tolist()


def test_the_documented_example_runs(register_is_restored, capsys):
    example, use = re.findall(r"```python\n(.*?)```", _DOC.read_text(), re.S)
    scope = {"__name__": "example"}
    exec(compile(example, str(_DOC), "exec"), scope)
    exec(compile(use, str(_DOC), "exec"), scope)
    assert np.array_equal(
        scope["nnet"].propagate([[-2.0, 4.0]]), np.array([[-1.0, 4.0]], np.float32)
    )
    printed = capsys.readouterr().out
    assert "component 1 : <Leaky>, input-dim 2, output-dim 2, <Slope> 0.5\n" in printed
    assert "<Leaky> 2 2 \n<Slope> 0.5 <!EndOfComponent> \n" in printed
    assert "<Leaky>" in components.supported()
    assert len(example.split("class Leaky")[1].splitlines()) <= 16


def test_splice_repeats_the_ends():
    splice = components.Splice(1, 3, [-1, 0, 1])
    assert _forward(splice, [[0], [1], [2]]) == [[0, 0, 1], [0, 1, 2], [1, 2, 2]]


def test_splice_of_no_frames():
    splice = components.Splice(2, 4, [0, 1])
    assert splice.propagate(np.zeros((0, 2), np.float32)).shape == (0, 4)


def test_shift_and_scale():
    shift = components.AddShift(2, 2, np.array([1, -1], np.float32))
    scale = components.Rescale(2, 2, np.array([2, 0.5], np.float32))
    assert _forward(shift, [[1, 2]]) == [[2, 1]]
    assert _forward(scale, [[1, 2]]) == [[2, 1]]


def test_affine():
    weights = np.array([[1, 2], [0, 1], [1, 0]], np.float32)
    affine = components.AffineTransform(2, 3, weights, np.array([0, 1, 2], np.float32))
    assert _forward(affine, [[1, 10]]) == [[21, 11, 3]]
    assert affine.num_parameters() == 9
    assert list(affine.parameters()) == ["linearity", "bias"]


def test_activations_far_out_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = [[-1000.0, 0.0, 1000.0]]
        assert _forward(components.Sigmoid(3, 3), far) == [[0, 0.5, 1]]
        assert _forward(components.Tanh(3, 3), far) == [[-1, 0, 1]]
        assert _forward(components.Softmax(3, 3), far) == [[0, 0, 1]]


def test_dropout_is_the_identity_outside_training():
    assert _forward(components.Dropout(2, 2, 0.9), [[1, 2]]) == [[1, 2]]


def test_two_kinds_of_components():
    kinds = {components.lookup(marker) for marker in components.supported()}
    updatable = {kind for kind in kinds if issubclass(kind, UpdatableComponent)}
    assert components.AffineTransform in updatable
    assert components.Sigmoid in kinds - updatable
    for kind in kinds - updatable:
        assert kind(4, 4).num_parameters() == 0


@pytest.mark.parametrize("marker", ["<splice>", "<Splice>", "<SPLICE>"])
def test_markers_match_in_any_case(marker):
    assert components.lookup(marker) is components.Splice


def test_unknown_marker():
    with pytest.raises(KeyError):
        components.lookup("<Foo>")


def test_a_marker_is_registered_once(register_is_restored):
    with pytest.raises(ValueError, match="registered already"):
        components.register("<SPLICE>")(components.Splice)


def test_aliases_are_read_and_the_marker_is_written(register_is_restored):
    @components.register("<Same>", "<OldSame>")
    class Same(Component):
        pass

    nnet = nnet1.Nnet([components.lookup("<oldsame>")(2, 2)])
    assert b"<Same> 2 2 " in nnet1.to_bytes(nnet, binary=False)


def test_learn_rates_of_biases_are_relative():
    affine = components.AffineTransform(1, 1)
    affine.set_learn_rates(0.5, 0.1)
    assert affine.learn_rate_coef == 0.5
    assert affine.bias_learn_rate_coef == pytest.approx(0.05)


@pytest.mark.parametrize(
    "component, match",
    [
        (components.Sigmoid(2, 3), "must be equal"),
        (components.Dropout(2, 2, 1.0), "rate 1"),
        (components.Splice(2, 3, [0, 1]), "must be 4, not 3"),
        (components.AddShift(2, 2, np.zeros(3, np.float32)), "shape 3"),
        (components.LinearTransform(2, 2), "shape 0 x 0"),
        (
            components.AffineTransform(
                1, 2, np.zeros((2, 1), np.float32), np.zeros(1, np.float32)
            ),
            "bias of shape 1",
        ),
    ],
)
def test_data_that_do_not_fit_the_dimensions(component, match):
    with pytest.raises(components.ComponentError, match=match):
        component.check()


def test_components_are_dataclasses():
    names = [field.name for field in dataclasses.fields(components.AffineTransform)]
    assert names[:3] == ["input_dim", "output_dim", "linearity"]
