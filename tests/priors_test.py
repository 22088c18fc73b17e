"""Log-priors: values by hand, Kaldi's floor, and what is refused."""

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import priors


def test_log_of_the_share_of_the_frames():
    logs = priors.log_priors([10, 30, 60])
    assert logs.dtype == np.float32
    np.testing.assert_allclose(logs, np.log([0.1, 0.3, 0.6]), rtol=1e-6)


def test_a_class_never_seen_is_disabled_and_finite():
    logs = priors.log_priors([10, 0, 90])
    np.testing.assert_allclose(logs, [-2.302585, 1.8446744e19, -0.105361], rtol=1e-5)
    assert np.isfinite(np.zeros(3, np.float32) - logs).all()


def test_the_floor_is_a_share_and_exclusive():
    np.testing.assert_allclose(
        priors.log_priors([1, 3], prior_floor=0.25), np.log([0.25, 0.75]), rtol=1e-6
    )
    floored = priors.log_priors([1, 3], prior_floor=0.26)
    np.testing.assert_allclose(floored, [1.8446744e19, np.log(0.75)], rtol=1e-6)


def test_without_a_floor_a_class_never_seen_has_the_log_of_1e_20():
    logs = priors.log_priors([0, 1], prior_floor=0)
    np.testing.assert_allclose(logs, [np.log(1e-20), 0], atol=1e-7, rtol=1e-6)


@pytest.mark.parametrize("binary", [True, False])
def test_read_scales(tmp_path, binary):
    path = str(tmp_path / "counts")
    tables.write_object(path, np.array([1, 3], np.float32), binary)
    np.testing.assert_allclose(
        priors.read(path, 2, prior_scale=0.5), 0.5 * np.log([0.25, 0.75]), rtol=1e-6
    )
    assert not priors.read(path, 2, prior_scale=0).any()


def test_counts_of_another_network(tmp_path):
    path = tmp_path / "counts"
    path.write_text(" [ 1 2 3 ]\n")
    with pytest.raises(InputError, match=r"counts: 3 class counts, .* puts out 4 "):
        priors.read(str(path), 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" [ 1 -2 3 ]\n", "class 1 has count -2"),
        (" [ 1 2 nan ]\n", "class 2 has count nan"),
        (" [ 0 0 0 ]\n", "all 3 counts are 0"),
    ],
)
def test_bad_counts(tmp_path, text, message):
    path = tmp_path / "counts"
    path.write_text(text)
    with pytest.raises(InputError, match=f"counts: {message}"):
        priors.read(str(path), 3)


def test_counts_are_a_list():
    with pytest.raises(InputError, match="one count for each class"):
        priors.log_priors([[1.0]])
