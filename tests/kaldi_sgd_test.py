"""KaldiSGD against the update rule written as a plain loop over each weight."""

import os
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from seqzoo.layers import (
    AddShift,
    Affine,
    KaldiSGD,
    Linear,
    Rescale,
    UpdatableComponent,
    add_shadow,
    source,
)

RATE = 0.1
FRAMES = 4


def numpy_step(w, g, corr, momentum=0.0, l1=0.0, l2=0.0, coef=1.0, penalty_coef=1.0):
    """One step on a matrix in float64, element by element."""
    w, corr = w.copy(), g + momentum * corr
    for at in np.ndindex(w.shape):
        w[at] -= RATE * penalty_coef * l2 * FRAMES * w[at]
        step = RATE * penalty_coef * l1 * FRAMES
        if step and w[at] != 0:
            step = np.copysign(step, w[at])
            after = w[at] - step - RATE * penalty_coef * corr[at]
            if np.sign(after) != np.sign(w[at]):
                w[at] = corr[at] = 0
            else:
                w[at] -= step
        w[at] -= RATE * coef * corr[at]
    return w, corr


def affine(**kwargs) -> Affine:
    layer = Affine(3, bias_mean=0.0, bias_range=0.4, param_stddev=0.5, seed=3, **kwargs)
    layer.build((None, 4))
    return layer


def gradients_of(variables, steps):
    random = np.random.default_rng(1)
    return [[random.normal(size=v.shape) for v in variables] for _ in range(steps)]


def run(layer, optimizer, steps=6):
    """Values before and after, and the gradients applied."""
    variables = layer.trainable_variables
    before = [v.value.numpy().astype(np.float64) for v in variables]
    optimizer.build(variables)
    given = gradients_of(variables, steps)
    for gradients in given:
        optimizer.apply([tf.constant(g, tf.float32) for g in gradients], variables)
    return before, [v.value.numpy() for v in variables], given


def expect(before, given, after, **rule):
    corr = np.zeros_like(before)
    for gradient in given:
        before, corr = numpy_step(before, gradient, corr, **rule)
    np.testing.assert_allclose(after, before, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize(("l1", "l2"), [(0, 0), (0, 0.3), (0.05, 0), (0.05, 0.3)])
def test_every_rule_against_a_loop(momentum, l1, l2):
    optimizer = KaldiSGD(RATE, momentum, l1, l2, minibatch_size=FRAMES)
    before, after, given = run(affine(), optimizer)
    kernels, biases = zip(*given, strict=True)
    expect(before[0], kernels, after[0], momentum=momentum, l1=l1, l2=l2)
    # Penalties leave the bias alone.
    expect(before[1], biases, after[1], momentum=momentum)


def test_two_steps_by_hand():
    layer = Linear(1)
    layer.build((None, 1))
    layer.linearity.assign([[1.0]])
    optimizer = KaldiSGD(RATE, momentum=0.5)
    for gradient in (2.0, 1.0):
        optimizer.apply([tf.constant([[gradient]])], [layer.linearity])
    # 1 - 0.1 * 2 = 0.8; corr = 1 + 0.5 * 2 = 2; 0.8 - 0.1 * 2 = 0.6
    np.testing.assert_allclose(layer.linearity.value.numpy(), [[0.6]], rtol=1e-6)


def test_momentum_is_not_compensated():
    layer = Linear(1)
    layer.build((None, 1))
    layer.linearity.assign([[0.0]])
    optimizer = KaldiSGD(RATE, momentum=0.9)
    for _ in range(200):
        before = layer.linearity.value.numpy()
        optimizer.apply([tf.ones([1, 1])], [layer.linearity])
    step = before - layer.linearity.value.numpy()
    np.testing.assert_allclose(step, RATE / (1 - 0.9), rtol=1e-4)


def test_l1_by_hand():
    # The step is 0.1 * 0.5 * 4 = 0.2.
    layer = Linear(1)
    layer.build((None, 5))
    layer.linearity.assign([[1.0, -1.0, 0.1, 0.0, 0.5]])
    optimizer = KaldiSGD(RATE, momentum=0.9, l1_penalty=0.5, minibatch_size=FRAMES)
    gradients = tf.constant([[0.0, 0.0, 0.0, 1.0, 4.0]])
    optimizer.apply([gradients], [layer.linearity])
    # Shrunk; shrunk; over 0: stops there; at 0: no step, moves by its gradient alone;
    # step and gradient together, 0.2 + 0.4, flip the sign: 0, gradient forgotten.
    np.testing.assert_allclose(
        layer.linearity.value.numpy(), [[0.8, -0.8, 0, -0.1, 0]], atol=1e-7
    )
    np.testing.assert_array_equal(
        optimizer._corrections[0].value.numpy(), [[0, 0, 0, 1, 0]]
    )
    optimizer.apply([tf.zeros([1, 5])], [layer.linearity])
    np.testing.assert_allclose(layer.linearity.value.numpy()[0, [2, 4]], 0, atol=0)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_coefficients_of_the_learn_rate(momentum):
    layer = affine(learn_rate_coef=0.5, bias_learn_rate_coef=2.0)
    rule = {"momentum": momentum, "l1": 0.02, "l2": 0.3}
    optimizer = KaldiSGD(RATE, momentum, 0.02, 0.3, FRAMES)
    before, after, given = run(layer, optimizer)
    kernels, biases = zip(*given, strict=True)
    expect(before[0], kernels, after[0], coef=0.5, penalty_coef=0.5, **rule)
    expect(before[1], biases, after[1], coef=2.0, momentum=momentum)


def test_penalties_of_linear_leave_its_coefficient_out():
    layer = Linear(3, learn_rate_coef=0.25, param_stddev=0.5, seed=2)
    layer.build((None, 4))
    before, after, given = run(layer, KaldiSGD(RATE, 0.0, 0.02, 0.3, FRAMES))
    kernels = [g[0] for g in given]
    expect(before[0], kernels, after[0], coef=0.25, l1=0.02, l2=0.3)


def test_a_frozen_kernel_stays():
    layer = affine(learn_rate_coef=0.0)
    kernel = layer.linearity.value.numpy()
    before, after, given = run(layer, KaldiSGD(RATE, 0.9, 0.1, 0.1, FRAMES))
    np.testing.assert_array_equal(layer.linearity.value.numpy(), kernel)
    expect(before[0], [g[0] for g in given], after[0], momentum=0.9)


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_max_norm_bounds_the_weights_into_each_unit(momentum):
    layer = affine(max_norm=0.8)
    layer.linearity.assign(np.array([[3, 4, 0, 0], [0.1, 0.1, 0, 0], [0, 0, 0, 0.9]]))
    optimizer = KaldiSGD(RATE, momentum)
    variables = layer.trainable_variables
    optimizer.apply([tf.zeros([3, 4]), tf.zeros([3])], variables)
    # Rows of norm 5 and 0.9 shrink to 0.8, that of norm 0.14 is left as it is.
    np.testing.assert_allclose(
        layer.linearity.value.numpy(),
        [[0.48, 0.64, 0, 0], [0.1, 0.1, 0, 0], [0, 0, 0, 0.8]],
        rtol=1e-6,
    )


def test_max_norm_of_zeros_is_no_nan():
    layer = affine(max_norm=1.0)
    layer.linearity.assign(np.zeros((3, 4)))
    KaldiSGD(RATE).apply([tf.zeros([3, 4]), tf.zeros([3])], layer.trainable_variables)
    assert (layer.linearity.value.numpy() == 0).all()


def test_another_number_of_frames_for_one_step():
    layers = [affine() for _ in range(3)]
    zeros = [tf.zeros([3, 4]), tf.zeros([3])]
    first, second, third = (
        KaldiSGD(RATE, l2_penalty=0.5, minibatch_size=FRAMES) for _ in layers
    )
    first.apply_frames(zeros, layers[0].trainable_variables, 2)
    kernel = layers[2].linearity.value.numpy()
    np.testing.assert_allclose(
        layers[0].linearity.value.numpy(), kernel * (1 - RATE * 0.5 * 2), rtol=1e-6
    )
    # The next step counts the minibatch again.
    first.apply(zeros, layers[0].trainable_variables)
    second.apply_frames(zeros, layers[1].trainable_variables, tf.constant(2))
    second.apply_frames(zeros, layers[1].trainable_variables, tf.constant(FRAMES))
    np.testing.assert_array_equal(
        layers[0].linearity.value.numpy(), layers[1].linearity.value.numpy()
    )
    third.apply(zeros, layers[2].trainable_variables)
    np.testing.assert_allclose(
        layers[2].linearity.value.numpy(), kernel * (1 - RATE * 0.5 * FRAMES), rtol=1e-6
    )


@pytest.mark.parametrize("kind", [AddShift, Rescale])
def test_shift_and_scale_take_plain_steps(kind):
    layer = kind(learn_rate_coef=0.5)
    layer.build((None, 4))
    optimizer = KaldiSGD(RATE, 0.9, 0.1, 0.1, FRAMES)
    before, after, given = run(layer, optimizer)
    expect(before[0], [g[0] for g in given], after[0], coef=0.5)
    assert optimizer._corrections == [None]


def test_reset_forgets_the_momentum():
    layer, fresh = affine(), affine()
    optimizer = KaldiSGD(RATE, momentum=0.9)
    optimizer.reset()  # Before there is any: nothing to do.
    run(layer, optimizer)
    for ours, theirs in zip(layer.weights, fresh.weights, strict=True):
        theirs.assign(ours.value.numpy())
    optimizer.reset()
    _, reset, _ = run(layer, optimizer)
    _, anew, _ = run(fresh, KaldiSGD(RATE, momentum=0.9))
    for a, b in zip(reset, anew, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "options", [{}, {"momentum": 0.5}, {"l2_penalty": 0.1}, {"l1_penalty": 0.1}]
)
@pytest.mark.parametrize("max_norm", [0.0, 0.6])
def test_a_shadow_follows_its_kernel(options, max_norm):
    layer, plain = affine(max_norm=max_norm), affine(max_norm=max_norm)
    add_shadow(layer.linearity)
    for layer_of, optimizer in [
        (layer, KaldiSGD(RATE, minibatch_size=FRAMES, **options)),
        (plain, KaldiSGD(RATE, minibatch_size=FRAMES, **options)),
    ]:
        run(layer_of, optimizer, steps=3)
    kernel = layer.linearity.value
    np.testing.assert_allclose(kernel.numpy(), plain.linearity.value.numpy(), rtol=1e-6)
    shadow = source(layer.linearity)
    assert shadow.dtype == tf.bfloat16
    np.testing.assert_array_equal(
        tf.cast(shadow, tf.float32), tf.cast(tf.cast(kernel, tf.bfloat16), tf.float32)
    )


def test_gradients_in_bfloat16():
    layer = affine()
    add_shadow(layer.linearity)
    kernel = layer.linearity.value.numpy()
    gradients = [tf.fill([3, 4], tf.bfloat16.as_numpy_dtype(0.5)), tf.zeros([3])]
    KaldiSGD(RATE).apply(gradients, layer.trainable_variables)
    np.testing.assert_allclose(layer.linearity.value.numpy(), kernel - 0.05, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_weights_of_other_types(dtype, momentum):
    layer = keras.layers.Dense(1, use_bias=False, dtype=dtype)
    layer.build((None, 2))
    layer.kernel.assign([[1.0], [2.0]])
    optimizer = KaldiSGD(0.25, momentum)
    optimizer.apply([tf.ones([2, 1], dtype)], [layer.kernel])
    assert layer.kernel.value.dtype == dtype
    assert layer.kernel.value.numpy().tolist() == [[0.75], [1.75]]


def sum_of_squares_model() -> keras.Model:
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(2)]
    )
    return model


def data(frames=14):
    random = np.random.default_rng(0)
    return tuple(random.normal(size=(frames, n)).astype(np.float32) for n in (3, 2))


@pytest.mark.parametrize("momentum", [0.0, 0.5])
def test_fit_of_a_plain_model(momentum):
    """Sums over frames: `reduction="sum"`; then fit steps as the formula does."""
    x, y = data()
    model, ours = sum_of_squares_model(), sum_of_squares_model()
    loss = keras.losses.MeanSquaredError(reduction="sum")
    model.compile(KaldiSGD(0.05, momentum), loss)
    model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)

    corrections = [np.zeros(w.shape) for w in ours.weights]
    for start in [*range(0, 14, 4)] * 2:
        with tf.GradientTape() as tape:
            error = ours(x[start : start + 4]) - y[start : start + 4]
            total = tf.reduce_sum(error**2) / 2
        gradients = tape.gradient(total, [w.value for w in ours.weights])
        for n, (weight, g) in enumerate(zip(ours.weights, gradients, strict=True)):
            corrections[n] = g.numpy() + momentum * corrections[n]
            weight.assign(weight.value.numpy() - 0.05 * corrections[n])
    for found, wanted in zip(model.weights, ours.weights, strict=True):
        np.testing.assert_allclose(
            found.value.numpy(), wanted.value.numpy(), rtol=1e-4, atol=1e-6
        )


def test_saved_and_reloaded_it_goes_on_alike(tmp_path):
    x, y = data(8)
    model = keras.Sequential(
        [
            keras.Input((3,)),
            Affine(4, seed=1, max_norm=1.0),
            AddShift(),
            Linear(2, seed=1),
        ]
    )
    loss = keras.losses.MeanSquaredError(reduction="sum")
    model.compile(KaldiSGD(0.05, 0.5, 0.001, 0.002, minibatch_size=4), loss)
    model.fit(x, y, batch_size=4, shuffle=False, verbose=0)
    path = os.path.join(tmp_path, "model.keras")
    with warnings.catch_warnings():
        # Keras's own: how it turns its variables into arrays.
        warnings.simplefilter("ignore", DeprecationWarning)
        model.save(path)
        loaded = keras.models.load_model(path)
    assert isinstance(loaded.optimizer, KaldiSGD)
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    for each in (model, loaded):
        each.fit(x, y, batch_size=4, shuffle=False, verbose=0)
    for a, b in zip(model.weights, loaded.weights, strict=True):
        np.testing.assert_array_equal(a.value.numpy(), b.value.numpy())
    moving = [c is not None for c in loaded.optimizer._corrections]
    assert moving == [True, True, False, True]


def test_config_round_trip():
    optimizer = KaldiSGD(0.01, 0.9, 1e-4, 2e-4, 128, name="mine")
    again = KaldiSGD.from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()
    options = (again.momentum, again.l1_penalty, again.l2_penalty, again.minibatch_size)
    assert options == (0.9, 1e-4, 2e-4, 128)
    assert float(again.learning_rate.value) == pytest.approx(0.01)


def test_the_rate_can_be_changed_between_steps():
    layer = Linear(1)
    layer.build((None, 1))
    layer.linearity.assign([[1.0]])
    optimizer = KaldiSGD(0.5)
    step = tf.function(lambda: optimizer.apply([tf.ones([1, 1])], [layer.linearity]))
    optimizer.build([layer.linearity])
    step()
    optimizer.learning_rate = 0.25
    step()
    np.testing.assert_allclose(layer.linearity.value.numpy(), [[0.25]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"momentum": 1.0}, r"momentum is 1.0; it is taken in \[0, 1\)"),
        ({"momentum": -0.1}, r"momentum is -0.1"),
        ({"l1_penalty": -1}, "l1_penalty is -1, below 0"),
        ({"l2_penalty": -1}, "l2_penalty is -1, below 0"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        KaldiSGD(**options)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("shadow", [False, True])
def test_grad_clip_limits_the_gradient_with_its_momentum(momentum, shadow):
    layer = Clipped()
    layer.build((None, 4))
    if shadow:
        add_shadow(layer.weight)
    before, after, given = run(layer, KaldiSGD(RATE, momentum))
    corr, clipped = np.zeros((3, 4)), 0
    for (gradient,) in given:
        corr = gradient + momentum * corr
        clipped += (np.abs(corr) > 1).sum()
        corr = np.clip(corr, -1, 1)
        before[0] -= RATE * corr
    assert 0 < clipped < 6 * 12
    np.testing.assert_allclose(after[0], before[0], rtol=2e-5, atol=2e-6)
    if shadow:
        low = tf.cast(layer.weight.value, tf.bfloat16).numpy()
        np.testing.assert_array_equal(source(layer.weight).numpy(), low)


class Clipped(UpdatableComponent):
    """One matrix whose gradient is limited to 1."""

    def build(self, input_shape):
        self.weight = self.add_parameter(
            "weight", (3, input_shape[-1]), "ones", grad_clip=1.0
        )
