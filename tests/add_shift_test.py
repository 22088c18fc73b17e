import numpy as np

from seqzoo.layers import AddShift
from tests.check_layer import check_layer


def test_by_hand():
    layer = AddShift()
    layer.build((None, 2))
    layer.shift.assign([0.5, -2.0])
    inputs = np.array([[1, 2], [3, 4]], "float32")
    expected = inputs + np.array([0.5, -2.0], "float32")
    np.testing.assert_array_equal(layer(inputs), expected)
    np.testing.assert_array_equal(layer(inputs[np.newaxis]), expected[np.newaxis])


def test_starts_as_the_identity():
    inputs = np.array([[1, 2], [3, 4]], "float32")
    np.testing.assert_array_equal(AddShift()(inputs), inputs)
    assert AddShift().get_config()["init_param"] == 0.0


def test_owes_what_a_layer_owes():
    inputs = np.array([[[1, 2], [3, 4], [5, 6]]], "float32")
    check_layer(
        lambda: AddShift(2.5, learn_rate_coef=0.5),
        inputs,
        mask=np.array([[True, True, False]]),
        expected=inputs + np.float32(2.5),
    )
    check_layer(lambda: AddShift(2.5), inputs[0])


def test_a_coefficient_of_0_freezes():
    layer = AddShift(learn_rate_coef=0.0)
    layer.build((None, 2))
    assert layer.trainable_variables == []
    assert [w.name for w in layer.weights] == ["shift"]


def test_momentum_and_penalties_leave_it_alone():
    layer = AddShift()
    layer.build((None, 2))
    assert not layer.shift.momentum
    assert not layer.shift.penalty_coef
