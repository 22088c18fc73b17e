"""RbmTrainer: explosions, what it makes of the data, going on from a state."""

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.zoo.checkpoints import components, keras_layers
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training.rbm_ramp import RbmRamp
from seqzoo.zoo.training.rbm_trainer import RbmTrainer, RbmTrainOptions

HIDDEN, VISIBLE = 5, 4
RAMP = RbmRamp(learn_rate=0.05, momentum_step_period=1000)
OPTIONS = RbmTrainOptions(ramp=RAMP, minibatch_size=10)


def _rbm(stddev, visible_type="gauss"):
    rng = np.random.default_rng(1)
    return components.Rbm(
        VISIBLE,
        HIDDEN,
        visible_type,
        "bern",
        rng.normal(scale=stddev, size=(HIDDEN, VISIBLE)).astype(np.float32),
        np.zeros(VISIBLE, np.float32),
        np.zeros(HIDDEN, np.float32),
    )


def _rows(frames, seed=2):
    rng = np.random.default_rng(seed)
    return tf.constant(rng.normal(size=(frames, VISIBLE)), tf.float32)


def test_an_exploding_reconstruction_shrinks_the_weights_and_lowers_the_rate():
    start = _rbm(stddev=8.0)
    trainer = RbmTrainer(start, OPTIONS)
    lines: list[str] = []
    rows = _rows(20)
    trainer.train(rows[:10], lines.append)
    warning, ramp = lines
    assert warning.startswith("WARNING ") and "learning rate to 0.0225 [" in warning
    scale = float(warning.split("scale ")[1].split()[0])
    assert scale < 0.5
    ours = trainer.rbm()
    np.testing.assert_allclose(ours.linearity, scale * start.linearity, rtol=1e-5)
    state = trainer.state()
    assert not state["correction_linearity"].any()
    assert state["lowered"] == pytest.approx(0.9)
    # The ramp moves on after the first minibatch, which brings the rate back.
    assert ramp == RAMP.line(10)
    trainer.train(rows[10:], lines.append)
    assert trainer.state()["lowered"] == 1.0


def test_the_rate_stays_lowered_until_the_ramp_moves_on():
    trainer = RbmTrainer(_rbm(stddev=0.1), OPTIONS)
    lines: list[str] = []
    trainer.train(_rows(20), lines.append)
    state = trainer.state()
    exploding = {**state, "linearity": state["linearity"] * 100}
    trainer.restore(exploding)
    trainer.train(_rows(10), lines.append)
    assert "learning rate to 0.0225 [" in lines[-1]
    trainer.train(_rows(960), lines.append)
    assert trainer.frames == 990
    assert trainer.state()["lowered"] == pytest.approx(0.9)
    trainer.train(_rows(20), lines.append)
    assert lines[-1] == RAMP.line(1000)
    assert trainer.state()["lowered"] == 1.0


def test_binary_inputs_never_explode():
    trainer = RbmTrainer(_rbm(8.0, "bern"), OPTIONS)
    lines: list[str] = []
    trainer.train(tf.sigmoid(_rows(50)), lines.append)
    assert lines == [RAMP.line(10)]


def test_correlated_data_are_reconstructed_better_and_better():
    rng = np.random.default_rng(3)
    common = np.sign(rng.normal(size=(4000, 1)))
    rows = tf.constant(common + 0.3 * rng.normal(size=(4000, VISIBLE)), tf.float32)
    trainer = RbmTrainer(_rbm(0.1), OPTIONS)
    errors = []
    for start in range(0, 4000, 1000):
        before = trainer.sums.error
        trainer.train(rows[start : start + 1000], lambda line: None)
        errors.append((trainer.sums.error - before) / 1000)
    # Half of the squares: of 4 units, at first 1.09 each; in the end the noise.
    assert errors[0] > 2 * errors[-1]
    assert errors[-1] < 0.5


@pytest.mark.parametrize("visible_type", ["gauss", "bern"])
def test_a_run_goes_on_from_a_state_as_it_would_have(visible_type):
    rows = tf.sigmoid(_rows(300))
    whole = RbmTrainer(_rbm(0.1, visible_type), OPTIONS)
    whole.train(rows, lambda line: None)
    first = RbmTrainer(_rbm(0.1, visible_type), OPTIONS)
    first.train(rows[:150], lambda line: None)
    second = RbmTrainer(_rbm(5.0, visible_type), OPTIONS)
    second.restore(first.state())
    second.train(rows[150:], lambda line: None)
    for name, values in whole.rbm().parameters().items():
        np.testing.assert_array_equal(second.rbm().parameters()[name], values)
    assert second.sums.report() == whole.sums.report()


def test_another_seed_draws_other_states():
    trained = []
    for seed in (1, 1, 2):
        options = RbmTrainOptions(ramp=RAMP, minibatch_size=10, seed=seed)
        trainer = RbmTrainer(_rbm(0.1), options)
        trainer.train(_rows(100), lambda line: None)
        trained.append(trainer.rbm().linearity)
    assert np.array_equal(trained[0], trained[1])
    assert not np.array_equal(trained[0], trained[2])


def test_layers_in_front_make_the_visible_units():
    below = components.AffineTransform(
        3, VISIBLE, np.eye(VISIBLE, 3, dtype=np.float32), np.ones(VISIBLE, np.float32)
    )
    front = keras_layers.to_layers(Nnet([below]), trainable=False)
    rows = _rows(100)[:, :3]
    made = tf.concat([rows, tf.zeros([100, 1])], axis=1) + 1.0
    behind, alone = (
        RbmTrainer(_rbm(0.1), OPTIONS, front),
        RbmTrainer(_rbm(0.1), OPTIONS),
    )
    behind.train(rows, lambda line: None)
    alone.train(made, lambda line: None)
    np.testing.assert_allclose(
        behind.rbm().linearity, alone.rbm().linearity, rtol=1e-5, atol=1e-6
    )


def test_fillings_of_any_length_are_traced_once():
    trainer = RbmTrainer(_rbm(0.1), OPTIONS)
    for frames in (10, 35, 120, 7):
        trainer.train(_rows(frames), lambda line: None)
    assert trainer.traces == 1
    assert trainer.frames == 10 + 30 + 120


def test_bfloat16_learns_about_the_same():
    found = []
    for bfloat16 in (False, True):
        options = RbmTrainOptions(ramp=RAMP, minibatch_size=10, bfloat16=bfloat16)
        trainer = RbmTrainer(_rbm(0.1), options)
        trainer.train(_rows(1000), lambda line: None)
        found.append(trainer.sums.loss)
        assert trainer.rbm().linearity.dtype == np.float32
    assert found[1] == pytest.approx(found[0], rel=0.02)


def test_progress_is_told_each_report_frames():
    options = RbmTrainOptions(ramp=RAMP, minibatch_size=10, loss_report_frames=30)
    trainer = RbmTrainer(_rbm(0.1), options)
    trainer.train(_rows(100), lambda line: None)
    assert len(trainer.sums.progress) == 2
    last = trainer.sums.report().splitlines()[-1]
    assert (
        last == "progress: [" + "".join(f"{p:g} " for p in trainer.sums.progress) + "]"
    )


def test_unknown_units():
    rbm = _rbm(0.1)
    rbm.visible_type = "relu"
    with pytest.raises(ValueError, match="visible_type is 'relu'"):
        RbmTrainer(rbm, OPTIONS)
