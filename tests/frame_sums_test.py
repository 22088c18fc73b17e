import re

import numpy as np
import pytest

from seqzoo.zoo.training.frame_sums import FrameSums


def add(sums, *minibatches, per_class=None):
    """Minibatches of (loss, entropy, correct, frames)."""
    zeros = np.zeros((4, sums.dim))
    sums.add(np.array(minibatches, float), zeros if per_class is None else per_class)
    return sums


def test_averages_are_per_frame():
    sums = add(FrameSums("xent", 3), (3.0, 1.0, 2.0, 4.0), (1.0, 0.5, 1.0, 1.0))
    assert sums.frames == 5
    assert sums.loss == pytest.approx((4 - 1.5) / 5)
    assert sums.accuracy == pytest.approx(3 / 5)
    assert sums.minibatches == 2


def test_nothing_yet():
    sums = FrameSums("xent", 2)
    assert (sums.frames, sums.loss, sums.accuracy) == (0, 0, 0)
    assert sums.report().splitlines()[1:] == ["progress: []", "FRAME_ACCURACY >> 0% <<"]


def test_the_report_has_the_form_of_a_recorded_log():
    sums = FrameSums("xent", 1, report_frames=100)
    add(sums, (309.478, 0, 0, 100), (192.798, 0, 262.6184, 300))
    loss = (309.478 + 192.798) / 400
    assert sums.report() == (
        f"AvgLoss: {loss:g} (Xent), [AvgXent: {loss:g}, AvgTargetEnt: 0]\n"
        f"progress: [{loss:g} ]\n"
        "FRAME_ACCURACY >> 65.6546% <<"
    )
    assert re.fullmatch(
        r"AvgLoss: \S+ \(Xent\), \[AvgXent: \S+, AvgTargetEnt: \S+\]\n"
        r"progress: \[(\S+ )*\]\n"
        r"FRAME_ACCURACY >> \S+% <<",
        sums.report(),
    )


def test_the_report_of_soft_targets_takes_their_entropy_off():
    report = add(FrameSums("xent", 2), (0.75, 0.5, 0, 1)).report()
    assert report.startswith(
        "AvgLoss: 0.25 (Xent), [AvgXent: 0.75, AvgTargetEnt: 0.5]\n"
    )


def test_the_report_of_mse():
    # 2 a frame, in 8 dimensions: RMS = sqrt(2 / 8)
    sums = add(FrameSums("mse", 8), (6.0, 0, 0, 2), (2.0, 0, 0, 2))
    assert sums.report() == ("AvgLoss: 2 (Mse), [RMS 0.5, frames 4]\nprogress: []")
    assert sums.accuracy is None
    assert sums.per_class_report() == ""


def test_by_class():
    per_class = np.array(
        [[3.0, 0, 1], [1.0, 0, 0], [1.5, 0, 0.5], [3.5, 0, 0.5]], float
    )
    sums = add(FrameSums("xent", 3), (4, 1, 2, 4), per_class=per_class)
    add(sums, (4, 1, 2, 4), per_class=per_class)
    assert sums.per_class_report() == (
        "PER-CLASS PERFORMANCE:\n"
        "@@@ Frames per-class: [ 7 0 1 ]\n"
        "@@@ Loss per-class: [ 0.533333 0 1.33333 ]\n"
        "@@@ Frame-accuracy per-class: [ 40 0 66.6667 ]"
    )


def test_progress_waits_until_more_frames_than_asked_are_seen():
    sums = FrameSums("xent", 1, report_frames=100)
    add(sums, (200, 0, 0, 50), (100, 0, 0, 50))
    assert sums.progress == []  # 100 frames are not more than 100.
    add(sums, (100, 0, 0, 20))
    assert sums.progress == [pytest.approx(400 / 120)]
    add(sums, (7, 0, 0, 100))
    assert len(sums.progress) == 1
    add(sums, (3, 0, 0, 1))
    assert sums.progress[1] == pytest.approx(10 / 101)


def test_progress_is_the_same_however_minibatches_come_in():
    minibatches = np.random.default_rng(0).uniform(size=(50, 4))
    one, some = (FrameSums("xent", 1, report_frames=3) for _ in range(2))
    for row in minibatches:
        add(one, row)
    add(some, *minibatches)
    assert one.progress == some.progress
    assert len(one.progress) > 3


def test_hours_of_the_recipe():
    """27.3 million frames in minibatches of 256, an entry every 360,000 frames."""
    frames = round(50.8057 * 60 * 8961.77)
    count = frames // 256
    losses = 256 * (1.19 + np.exp(-np.arange(count) / 2000))
    sums = FrameSums("xent", 1, report_frames=360_000)
    minibatches = np.zeros((count, 4))
    minibatches[:, 0], minibatches[:, 3] = losses, 256
    sums.add(minibatches, np.zeros((4, 1)))
    assert len(sums.progress) == 75
    # Equal parts but for what the last one leaves: their mean is the loss, nearly.
    assert np.mean(sums.progress) == pytest.approx(sums.loss, rel=0.002)
    assert sums.progress == sorted(sums.progress, reverse=True)
