import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.paste_post import paste_post
from seqzoo.datasets.posterior import Posterior

ONE = Posterior.from_frames([[(0, 1.0)], [(1, 0.5), (2, 0.5)]])
TWO = Posterior.from_frames([[(1, 2.0)], []])


def test_classes_are_shifted_and_stand_in_the_order_of_the_tasks():
    result = paste_post([ONE, TWO], [3, 2], 2)
    assert result.frames() == [[(0, 1.0), (4, 2.0)], [(1, 0.5), (2, 0.5)]]
    assert (result.indices.dtype, result.values.dtype) == (np.int32, np.float32)


def test_an_utterance_may_lack_a_task():
    assert paste_post([None, TWO], [3, 2], 2).frames() == [[(4, 2.0)], []]
    assert paste_post([None, None], [3, 2], 2).frames() == [[], []]


def test_what_does_not_fit():
    with pytest.raises(InputError, match="task 1 has targets for 2 frames, .* has 3"):
        paste_post([None, TWO], [3, 2], 3)
    with pytest.raises(InputError, match="task 0 .* index 2, .* are 0 to 1"):
        paste_post([ONE, None], [2, 2], 2)
