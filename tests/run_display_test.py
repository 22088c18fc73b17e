import time

from seqzoo.zoo.training.run_display import progress_bar


def test_a_bar_shows_the_frames_done_and_a_note(capsys):
    with progress_bar("epoch 1", 1000, "frames", shown=True) as move:
        time.sleep(0.15)  # It is drawn ten times a second at most.
        move(500, "loss 1.25")
    told = capsys.readouterr().err
    assert "epoch 1" in told and "500/1.00k" in told and "loss 1.25" in told


def test_no_bar_where_none_is_wanted(capsys):
    with progress_bar("epoch 1", 1000, "frames", shown=False) as move:
        move(250, "loss 1.5")
    assert capsys.readouterr() == ("", "")
