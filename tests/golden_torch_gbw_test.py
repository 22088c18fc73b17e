"""Recorded sets as dl.loadGBW has them, beside what it made of them (*.cache.t7)."""

import pathlib

import pytest

from seqzoo.datasets import gbw_cache, gbw_torch, torch_file
from seqzoo.datasets.gbw_vocabulary import Vocabulary

FOLDER = pathlib.Path(__file__).parent / "goldens" / "torch"
CASES = sorted(FOLDER.glob("gbw*/*.cache.t7"))


def words_of(folder):
    return torch_file.read(str(folder / "word_map.th7"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
@pytest.mark.parametrize("block_rows", [40, 1 << 22])
def test_golden_torch_sentences(path, block_rows):
    recorded = [s.tolist() for s in torch_file.read(str(path))]
    start = words_of(path.parent).index("<S>") + 1
    source = str(path).replace(".cache.t7", ".th7")
    found = [
        sentence.tolist()
        for part in gbw_torch.sentences(source, start, block_rows)
        for sentence in (part[k] for k in range(len(part)))
    ]
    assert recorded
    assert found == recorded


@pytest.mark.parametrize("folder", sorted({p.parent for p in CASES}), ids=str)
def test_golden_torch_set_as_a_cache(folder, tmp_path):
    cache = gbw_torch.build(str(folder), str(tmp_path / "cache"))
    assert cache.vocabulary.words == words_of(folder)
    counts = torch_file.read(str(folder / "word_freq.th7")).tolist()
    assert cache.vocabulary.counts.tolist() == counts
    for name in ("train", "valid", "test"):
        recorded = torch_file.read(str(folder / f"{name}_data.cache.t7"))
        sentences = cache.sets[name]
        assert [sentences[k].tolist() for k in range(len(sentences))] == [
            s.tolist() for s in recorded
        ]
    assert isinstance(gbw_cache.load(cache.folder, verify=True).vocabulary, Vocabulary)
