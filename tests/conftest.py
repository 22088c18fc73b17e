"""Fixtures of many tests."""

import logging
import os

import hypothesis
import pytest

# The same examples each time; --hypothesis-profile=default draws others.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def plain_logging():
    """Takes off the handlers that a command puts on the package's logger."""
    yield
    logger = logging.getLogger("seqzoo")
    logger.handlers = []
    logger.propagate = True


@pytest.fixture
def picture(monkeypatch):
    """What draws a picture, checks that its file alone was written, and gives the
    figure."""
    import matplotlib.figure
    import matplotlib.image
    import numpy as np

    figures = []

    class Kept(matplotlib.figure.Figure):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            figures.append(self)

    monkeypatch.setattr(matplotlib.figure, "Figure", Kept)

    def draw(path, function, *args):
        function(*args)
        folder, name = os.path.split(path)
        assert os.listdir(folder) == [name]
        with open(path, "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n"
        image = matplotlib.image.imread(path)
        assert image.shape[0] > 300 and np.ptp(image[..., 0]) > 0.5
        return figures[-1]

    return draw
