import numpy as np
import pytest

from seqzoo.layers import Rbm
from tests.check_layer import check_layer

X = np.array([[[1, 2], [0, 1]]], "float32")


def made(hidden_type) -> Rbm:
    layer = Rbm(3, "gauss", hidden_type)
    layer.build((None, 2))
    layer.linearity.assign([[1, 0], [0, 1], [1, -1]])
    layer.hidden_bias.assign([0, 1, 1])
    layer.visible_bias.assign([100, 100])
    return layer


def test_frames_by_hand():
    means = np.array([[[1, 3, 0], [0, 2, 0]]], "float32")
    assert made("gauss")(X).numpy().tolist() == means.tolist()
    np.testing.assert_allclose(
        made("bern")(X).numpy(), 1 / (1 + np.exp(-means)), rtol=1e-6
    )


@pytest.mark.parametrize("hidden_type", ["bern", "gauss"])
def test_owes_what_a_layer_owes(hidden_type):
    def make():
        return Rbm(4, "bern", hidden_type, 0.3, -1.0, 0.5, -2.0, 4.0, seed=1)

    check_layer(make, X, np.array([[True, False]]), rtol=1e-5)
    check_layer(make, X[0], rtol=1e-5)


def test_initial_values():
    layer = Rbm(300, "bern", "bern", 0.3, -1.0, 0.5, -2.0, 4.0, seed=1)
    layer.build((None, 200))
    values = {k: w.value.numpy() for k, w in layer.parameters().items()}
    linearity, visible, hidden = (
        values[name] for name in ("linearity", "visible_bias", "hidden_bias")
    )
    assert abs(linearity.std() - 0.3) < 0.01
    assert -1.25 <= visible.min() < -1.22 and -0.78 < visible.max() <= -0.75
    assert -4 <= hidden.min() < -3.9 and -0.1 < hidden.max() <= 0


def test_the_visible_bias_is_none_of_its_trainable_weights():
    names = [weight.name for weight in made("bern").trainable_weights]
    assert names == ["linearity", "hidden_bias"]


def test_words_that_are_no_type():
    with pytest.raises(ValueError, match="visible_type is 'gaussian'; bern and gauss"):
        Rbm(2, "gaussian")
    with pytest.raises(ValueError, match="units is 0, below 1"):
        Rbm(0)
    with pytest.raises(ValueError, match="hidden_bias_range is -1, below 0"):
        Rbm(2, hidden_bias_range=-1)
