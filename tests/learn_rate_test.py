"""The learning rate of each epoch."""

import pytest

from seqzoo.zoo.language import learn_rate
from seqzoo.zoo.language.train_options import LanguageTrainOptions


def test_it_falls_in_equal_steps_and_stays():
    options = LanguageTrainOptions(startlr=0.7, minlr=0.001, saturate=300)
    rates = [options.startlr]
    for epoch in range(1, 310):
        rates.append(learn_rate.after(epoch, rates[-1], options))
    assert f"{rates[3]:.5f}" == "0.69301"
    assert rates[300] == pytest.approx(0.001, abs=1e-12)
    assert rates[305] == 0.001


def test_a_schedule_replaces_it():
    options = LanguageTrainOptions(startlr=1, schedule="{[2]=0.5,[3]=0.25}")
    rates = [1.0]
    for epoch in range(1, 5):
        rates.append(learn_rate.after(epoch, rates[-1], options))
    assert rates == [1, 1, 0.5, 0.25, 0.25]


@pytest.mark.parametrize("text", ["{[1]=x}", "0.5", "{[a]=1}", "1=2=3", "[1]=1.2.3"])
def test_what_is_no_schedule(text):
    with pytest.raises(ValueError, match="learning rates by epoch"):
        learn_rate.parse_schedule(text)


def test_schedules_may_be_written_plainly():
    assert learn_rate.parse_schedule("5=0.5, 8 = 1e-3") == {5: 0.5, 8: 0.001}
    assert learn_rate.parse_schedule("") == {}
