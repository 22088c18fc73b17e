import io

import numpy as np
import pytest

from seqzoo.datasets import posterior
from seqzoo.datasets.kaldi_objects import ObjectReader
from seqzoo.datasets.posterior import Posterior

FRAMES = [[(3, 1.0)], [(4, 0.25), (5, 0.75)], [], [(0, 1.0)]]


def test_frames_by_offsets():
    post = Posterior.from_frames(FRAMES)
    assert len(post) == 4
    assert post.offsets.tolist() == [0, 1, 3, 3, 4]
    assert post.indices.dtype == np.int32 and post.indices.tolist() == [3, 4, 5, 0]
    assert post.values.dtype == np.float32
    assert post.frames() == FRAMES


def test_slices_of_frames():
    post = Posterior.from_frames(FRAMES)
    assert post[1:3] == Posterior.from_frames(FRAMES[1:3])
    assert post[-1:].frames() == FRAMES[-1:]
    assert len(post[3:1]) == 0 and len(post[9:]) == 0
    with pytest.raises(TypeError, match="Slice a Posterior"):
        post[1]
    with pytest.raises(ValueError, match="steps of 1"):
        post[::2]


def test_labels_are_one_hot():
    assert Posterior.from_labels([2, 0]).to_dense(3).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_the_last_of_a_class_named_twice_wins():
    post = Posterior.from_frames([[(1, 0.25), (1, 0.5)]])
    assert post.to_dense(2).tolist() == [[0, 0.5]]


def test_a_class_beyond_dim():
    with pytest.raises(
        ValueError, match="Frame 1 has class 5, but there are 5 classes"
    ):
        Posterior.from_frames(FRAMES).to_dense(5)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(
    "frames", [FRAMES, [], [[]], [[(7, 1.0)]] * 50, [[]] * 9 + [[(1, 0.5)] * 200]]
)
def test_what_is_written_is_read(binary, frames):
    post = Posterior.from_frames(frames)
    stream = io.BytesIO(posterior.to_bytes(post, binary))
    reader = ObjectReader(stream, "p", binary=binary)
    assert posterior.read(reader) == post
    assert reader.at_end()
