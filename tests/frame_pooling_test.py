import numpy as np
import pytest

from seqzoo.layers import FramePooling, KaldiSGD
from tests.check_gradient import check_true_gradient, weight_gradients
from tests.check_layer import check_layer

RNG = np.random.default_rng(0)


def made(**kwargs) -> FramePooling:
    layer = FramePooling(2, [0, 2, 1], [2, 1, 3], **kwargs)
    layer.build((None, 8))
    layer.frame_weights.assign([0.5, 2, 10, 1, 2, 3])
    return layer


def test_a_frame_by_hand():
    # Frames (1, 2), (3, 4), (5, 6), (7, 8).
    found = made()(np.arange(1, 9, dtype="float32")[np.newaxis]).numpy()
    assert found.tolist() == [[6.5, 9, 50, 60, 3 + 10 + 21, 4 + 12 + 24]]


@pytest.mark.parametrize("shape", [(4, 8), (2, 3, 8)])
def test_owes_what_a_layer_owes(shape):
    mask = None if len(shape) == 2 else np.array([[True, True, False]] * 2)
    x = RNG.normal(size=shape).astype(np.float32)
    check_layer(
        lambda: FramePooling(2, [0, 2, 1], [2, 1, 3], normalize=True),
        x,
        mask,
        rtol=1e-5,
    )


def test_it_starts_with_means():
    layer = FramePooling(2, [0, 2], [2, 1])
    assert layer(np.arange(1, 9, dtype="float32")[np.newaxis]).numpy().tolist() == [
        [2, 3, 5, 6]
    ]


def test_the_gradients_are_the_true_ones():
    x = RNG.normal(size=(3, 8)).astype(np.float32)
    check_true_gradient(made(), x)
    diff = RNG.normal(size=(3, 6)).astype(np.float32)
    [found] = weight_gradients(made(), x, diff)
    frames, sent = x.reshape(3, 4, 2), diff.reshape(3, 3, 2)
    pairs = [(0, 0), (0, 1), (1, 2), (2, 1), (2, 2), (2, 3)]
    expected = [(sent[:, pool] * frames[:, at]).sum() for pool, at in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_update_is_plain_and_scaled():
    layer = made(learn_rate_coef=0.5)
    optimizer = KaldiSGD(0.2, momentum=0.9, l2_penalty=1.0)
    for _ in range(2):
        optimizer.apply([np.ones(6, "float32")], [layer.frame_weights])
    expected = np.array([0.5, 2, 10, 1, 2, 3]) - 0.2
    np.testing.assert_allclose(layer.frame_weights.value.numpy(), expected, rtol=1e-6)


def test_weights_are_normalised_pool_by_pool():
    layer = made(normalize=True)
    KaldiSGD(1.0).apply(
        [np.array([100, 0, 0, 0, 0, 0], "float32")], [layer.frame_weights]
    )
    # 0.5 - 0.01 * 100 is below 0.
    expected = [0, 1, 1, 1 / 6, 2 / 6, 3 / 6]
    np.testing.assert_allclose(layer.frame_weights.value.numpy(), expected, rtol=1e-6)


def test_pools_that_cannot_be():
    with pytest.raises(ValueError, match="1 frame_offsets and 2 pool_sizes"):
        FramePooling(2, [0], [1, 1])
    with pytest.raises(ValueError, match="0 frame_offsets and 0 pool_sizes"):
        FramePooling(2, [], [])
    with pytest.raises(ValueError, match="1 frame or more and start at frame 0"):
        FramePooling(2, [-1], [1])
    with pytest.raises(ValueError, match="reaches to frame 4, but the input has 4"):
        FramePooling(2, [3], [2]).build((None, 8))
    with pytest.raises(ValueError, match="9 wide, which is not whole frames of 2"):
        FramePooling(2, [0], [2]).build((None, 9))
