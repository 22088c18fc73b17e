import numpy as np
import pytest

from seqzoo.datasets import number_text


def test_seven_significant_digits():
    values = np.array([0.1, 1e10, -3e-5, 16777216, 1234567.9, 0, -0.0], np.float32)
    assert number_text.format_floats(values.tolist()) == (
        "0.1 1e+10 -3e-05 1.677722e+07 1234568 0 -0 "
    )
    assert number_text.format_floats([float("inf"), -float("inf"), float("nan")]) == (
        "inf -inf nan "
    )


def test_layouts():
    assert number_text.format_matrix(np.eye(2)) == " [\n  1 0 \n  0 1 ]\n"
    assert number_text.format_matrix(np.zeros((0, 3))) == " [ ]\n"
    assert number_text.format_vector(np.array([1.5])) == " [ 1.5 ]\n"


def test_what_is_no_number():
    for word in (b"x", b"1_0", b"1,5", b""):
        with pytest.raises(ValueError, match=repr(word.decode())):
            number_text.parse_floats([b"1", word])
    for word in (b"1.0", b"1_0", b"2147483648", b"-2147483649", b"x"):
        with pytest.raises(ValueError, match=repr(word.decode())):
            number_text.parse_ints([b"1", word])
    assert number_text.parse_ints([b"-2147483648", b"+7"]).tolist() == [-(2**31), 7]


def test_too_big_for_float32_is_infinite():
    assert number_text.parse_floats([b"1e39"], np.float32).tolist() == [float("inf")]


def test_a_line_of_integers_as_its_words():
    for line in (b"", b" \r", b"0 1\t22 007\r", b"-1 +2", b"2147483647", b"5"):
        found = number_text.parse_int_line(line)
        np.testing.assert_array_equal(found, number_text.parse_ints(line.split()))
        assert found.dtype == np.int32
    for line in (b"2147483648", b"1 99999999999999999999", b"1 x", b"1_0", b"1-2"):
        with pytest.raises(ValueError):
            number_text.parse_int_line(line)
