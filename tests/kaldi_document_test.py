"""The page on Kaldi lists what the code knows."""

import pathlib
import re

from seqzoo.zoo.checkpoints import components, keras_layers, nnet1

_TESTS = pathlib.Path(__file__).parent
_PAGE = _TESTS.parent / "docs" / "kaldi.md"
_GOLDENS = _TESTS / "goldens" / "kaldi"


def _table():
    """Marker -> (other markers, layer) of the table of components."""
    text = _PAGE.read_text(encoding="utf-8")
    section = text.split("## Components")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`<.*>`) \| `(\w+)` \|$", section, re.M)
    found = {}
    for markers, layer in rows:
        first, *others = re.findall(r"`(<\w+>)`", markers)
        found[first] = others, layer
    return found


def test_every_component_is_listed():
    assert list(_table()) == components.supported()


def test_other_markers_are_read():
    for marker, (others, _) in _table().items():
        for other in others:
            assert components.lookup(other) is components.lookup(marker)
    assert sum(1 + len(others) for others, _ in _table().values()) == 29


def test_every_component_has_the_layer_that_is_listed():
    table, seen = _table(), set()
    for path in sorted(_GOLDENS.glob("comp_*/nnet.bin")):
        nnet = nnet1.read(str(path))
        for component, layer in zip(
            nnet.components, keras_layers.to_layers(nnet), strict=True
        ):
            assert type(layer).__name__ == table[component.marker][1]
            seen.add(component.marker)
    assert seen == set(table)
