import numpy as np
import pytest

from seqzoo.zoo.training import curves
from seqzoo.zoo.training.history import EpochRow


def rows(count=6, accuracy=True):
    """Loss falls; the fourth epoch is rejected, and the rate halves from then on."""
    for n in range(1, count + 1):
        yield EpochRow(
            iteration=n,
            learn_rate=0.008 * 0.5 ** max(0, n - 3),
            train_loss=2 / n,
            cv_loss=2 / n + (1 if n == 4 else 0.1),
            train_accuracy=1 - 0.5 / n if accuracy else None,
            cv_accuracy=0.9 - 0.5 / n if accuracy else None,
            accepted=n != 4,
            frames=1e6,
            seconds=10.0,
            frames_per_second=1e5,
            name=f"nnet_iter{n:02d}",
        )


@pytest.fixture
def drawn(tmp_path, picture):
    """Draws, and gives the figure."""

    def draw(rows, title="exp/dnn"):
        path = str(tmp_path / "curves.png")
        return picture(path, curves.draw, list(rows), path, title)

    return draw


def lines(axes):
    return {line.get_label(): line.get_ydata() for line in axes.lines}


def test_loss_accuracy_and_rate_by_epoch(drawn):
    made = list(rows())
    loss, accuracy, rate = drawn(made).axes
    np.testing.assert_allclose(
        lines(loss)["training"], [row.train_loss for row in made]
    )
    np.testing.assert_allclose(lines(loss)["held out"], [row.cv_loss for row in made])
    np.testing.assert_allclose(
        lines(accuracy)["held out"], [100 * row.cv_accuracy for row in made]
    )
    assert loss.get_ylabel() == "loss per frame"
    assert accuracy.get_ylabel() == "frame accuracy, %"
    (steps,) = rate.patches
    values, edges, _ = steps.get_data()
    np.testing.assert_allclose(values, [row.learn_rate for row in made])
    assert edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    assert rate.get_yscale() == "log"
    told = [label.get_text() for label in rate.get_yticklabels()]
    assert told == ["0.001", "0.002", "0.004", "0.008"]
    assert rate.get_zorder() < loss.get_zorder()


def test_a_rejected_epoch_is_hollow(drawn):
    loss = drawn(rows()).axes[0]
    hollow = [line for line in loss.lines if line.get_markerfacecolor() == "white"]
    assert [line.get_xdata() for line in hollow] == [[4], [4]]


def test_mse_has_no_accuracy(drawn):
    loss, rate = drawn(rows(accuracy=False)).axes
    assert loss.get_ylabel() == "loss per frame"


def test_one_epoch(drawn):
    axes = drawn(rows(1)).axes
    assert axes[0].get_xlim() == (0.5, 1.5)
    assert [tick for tick in axes[0].get_xticks() if 0.5 <= tick <= 1.5] == [1]


def test_many_rates_have_some_labels(drawn):
    rate = drawn(rows(20)).axes[2]
    assert 4 <= len(rate.get_yticks()) <= 7


def test_a_title_is_taken_literally(drawn):
    figure = drawn(rows(2), title=r"exp/$a_{b/$HOME\foo")
    assert figure.get_suptitle() == r"exp/$a_{b/$HOME\foo"


def test_a_picture_is_replaced_whole(tmp_path, drawn):
    (tmp_path / "curves.png").write_bytes(b"old")
    drawn(rows())
