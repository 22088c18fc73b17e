import numpy as np
import pytest

from seqzoo.zoo.training.rbm_ramp import RbmRamp

RAMP = RbmRamp(learn_rate=0.02, momentum_steps=4, momentum_step_period=50)


def test_the_start_has_the_first_momentum_and_the_rate_that_goes_with_it():
    assert RAMP.after(0) == (0.5, 0.01)


def test_with_the_bug_momentum_leaps_while_the_rate_follows_the_ramp():
    found = [RAMP.after(frames) for frames in (20, 60, 100, 160, 200, 260)]
    assert [momentum for momentum, _ in found] == [0.9] * 6
    rates = [rate for _, rate in found]
    np.testing.assert_allclose(rates, [0.01, 0.008, 0.006, 0.004, 0.002, 0.002])


def test_without_the_bug_momentum_follows_the_ramp():
    ramp = RbmRamp(momentum_steps=4, momentum_step_period=50, with_bug=False)
    found = [ramp.after(frames)[0] for frames in (0, 49, 50, 100, 150, 200, 1000)]
    np.testing.assert_allclose(found, [0.5, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9])


def test_it_moves_after_the_first_minibatch_and_where_a_period_ends_in_one():
    moved = [frames for frames in range(20, 220, 20) if RAMP.sets(frames, 20)]
    assert moved == [20, 60, 100, 160, 200]


def test_minibatches_on_end_see_what_was_set_after_the_one_before():
    momenta, rates, fresh = RAMP.minibatches(0, 4, 20)
    np.testing.assert_allclose(momenta, [0.5, 0.9, 0.9, 0.9], rtol=1e-6)
    np.testing.assert_allclose(rates, [0.01, 0.01, 0.01, 0.008], rtol=1e-6)
    assert fresh.tolist() == [False, True, False, True]
    later = RAMP.minibatches(2, 2, 20)
    for whole, part in zip((momenta, rates, fresh), later, strict=True):
        assert whole[2:].tolist() == part.tolist()


def test_a_line_for_the_log():
    assert RAMP.line(60) == (
        "Setting momentum 0.9 and learning rate 0.008 after processing 0.000166667 h"
    )


def test_defaults_reach_the_end_after_20_million_frames():
    ramp = RbmRamp()
    assert ramp.after(19_999_999).learning_rate == pytest.approx(0.4 * 0.11)
    assert ramp.after(20_000_000).learning_rate == pytest.approx(0.4 * 0.1)


@pytest.mark.parametrize(
    "wrong", [{"momentum": 1.0}, {"momentum_max": -0.1}, {"momentum_steps": 0}]
)
def test_settings_out_of_range(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RbmRamp(**wrong)
