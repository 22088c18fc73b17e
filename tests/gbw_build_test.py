import collections
import json
import os
import shutil
import tracemalloc

import numpy as np
import pytest

from seqzoo.datasets import gbw_build, gbw_cache, gbw_pieces, kjv
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary

SMALL = 40  # Bytes of a piece, so that even these texts have several.
TEXT = {
    "train.1": "the cat sat on the mat\n\nthe dog sat\na cat and a dog\n",
    "train.2": "the mat of the cat\na rare word of <UNK> .\n",
    "valid": "the cat saw a dog .\n",
    "test": "a dog\n",
}


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "text"
    made.mkdir()
    for name, text in TEXT.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def expected(min_count):
    """The words in the order of their ids, and their counts, the plain way."""
    train = [line.split() for n in ("train.1", "train.2") for line in lines(n)]
    counts = collections.Counter(word for line in train for word in line)
    kept = [w for w in counts if counts[w] >= min_count and w != "<UNK>"]
    kept.sort(key=lambda word: (-counts[word], word.encode()))
    rest = counts.total() - sum(counts[word] for word in kept)
    words = [*kept, "<UNK>", "<S>", "</S>"]
    return words, [*(counts[w] for w in kept), rest, len(train), len(train)]


def lines(name):
    return [line for line in TEXT[name].splitlines() if line.split()]


def check(cache, min_count=3):
    words, counts = expected(min_count)
    assert cache.vocabulary.words == words
    assert cache.vocabulary.counts.tolist() == counts
    for name, files in {
        "train": ["train.1", "train.2"],
        "valid": ["valid"],
        "test": ["test"],
    }.items():
        wanted = [
            [
                "<S>",
                *(w if w in words else "<UNK>" for w in line.split()),
                "</S>",
            ]
            for file in files
            for line in lines(file)
        ]
        found = cache.sets[name]
        assert [cache.vocabulary.decode(found[k]) for k in range(len(found))] == wanted


@pytest.mark.parametrize("min_count", [1, 2, 3])
@pytest.mark.parametrize("piece_bytes", [1, SMALL, 1 << 24])
def test_text_into_ids(piece_bytes, min_count, folder, tmp_path):
    path = str(tmp_path / "cache")
    cache = gbw_build.build(
        str(folder), path, min_count=min_count, piece_bytes=piece_bytes, most_types=4
    )
    check(cache, min_count)
    check(gbw_cache.load(path, verify=True), min_count)
    assert sorted(os.listdir(tmp_path)) == ["cache", "text"]
    train = cache.manifest["sets"]["train"]
    assert train["blank_lines"] == 1
    assert train["sentences"] == 5
    assert train["ids"] == cache.vocabulary.counts.sum()
    assert train["unknown"] == cache.vocabulary.counts[cache.vocabulary.unknown - 1]


def test_several_processes_make_the_same(folder, tmp_path):
    made = []
    for processes in (1, 2):
        path = tmp_path / f"cache{processes}"
        gbw_build.build(str(folder), str(path), processes=processes, piece_bytes=SMALL)
        made.append({p.name: p.read_bytes() for p in path.iterdir()})
    assert made[0] == made[1]


def test_an_error_in_another_process(folder, tmp_path):
    (folder / "valid").write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(InputError, match="valid:2: byte 5 of the line"):
        gbw_build.build(
            str(folder), str(tmp_path / "cache"), processes=2, piece_bytes=SMALL
        )
    assert not (tmp_path / "cache").exists()


def count_reads(monkeypatch, stop_after=None):
    reads = []
    read = gbw_pieces.read

    def counted(where):
        if stop_after is not None and len(reads) == stop_after:
            raise KeyboardInterrupt
        reads.append(where)
        return read(where)

    monkeypatch.setattr(gbw_pieces, "read", counted)
    return reads


def test_a_run_that_was_stopped_goes_on(folder, tmp_path, monkeypatch):
    path = str(tmp_path / "cache")
    with monkeypatch.context() as patch:
        before = count_reads(patch, stop_after=3)
        with pytest.raises(KeyboardInterrupt):
            gbw_build.build(str(folder), path, piece_bytes=SMALL)
    assert not os.path.exists(path)
    with pytest.raises(InputError, match="not a cache of sentences"):
        gbw_cache.load(f"{path}.partial")
    with monkeypatch.context() as patch:
        after = count_reads(patch)
        check(gbw_build.build(str(folder), path, piece_bytes=SMALL))
    assert len(before) == 3
    assert after
    assert not set(before) & set(after)
    assert sorted(os.listdir(tmp_path)) == ["cache", "text"]


def test_a_run_that_was_stopped_while_it_wrote(folder, tmp_path, monkeypatch):
    path = str(tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(gbw_cache, "finish", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            gbw_build.build(str(folder), path, piece_bytes=SMALL)
    assert not os.path.exists(path)
    with monkeypatch.context() as patch:
        assert not count_reads(patch, stop_after=0)
        check(gbw_build.build(str(folder), path, piece_bytes=SMALL))


def test_pieces_of_text_that_changed_meanwhile_are_not_used(
    folder, tmp_path, monkeypatch
):
    path = str(tmp_path / "cache")
    with monkeypatch.context() as patch:
        count_reads(patch, stop_after=2)
        with pytest.raises(KeyboardInterrupt):
            gbw_build.build(str(folder), path, piece_bytes=SMALL)
    (folder / "train.1").write_text("the cat\nthe cat\nthe cat\n")
    cache = gbw_build.build(str(folder), path, piece_bytes=SMALL)
    assert cache.vocabulary.decode(cache.sets["train"][0]) == [
        "<S>",
        "the",
        "cat",
        "</S>",
    ]


def test_a_cache_that_holds_is_not_made_again(folder, tmp_path, monkeypatch):
    path = str(tmp_path / "cache")
    gbw_build.build(str(folder), path, piece_bytes=SMALL)
    reads = count_reads(monkeypatch)
    check(gbw_build.build(str(folder), path, piece_bytes=SMALL))
    os.utime(folder / "train.1")  # The same text, by its checksum.
    check(gbw_build.build(str(folder), path, piece_bytes=SMALL))
    assert not reads


def test_a_cache_of_other_text_is_made_anew(folder, tmp_path):
    path = str(tmp_path / "cache")
    gbw_build.build(str(folder), path, piece_bytes=SMALL)
    text = (folder / "valid").read_text()
    (folder / "valid").write_text(text.replace("cat", "mat"))
    os.utime(folder / "valid", ns=(0, 0))
    cache = gbw_build.build(str(folder), path, piece_bytes=SMALL)
    assert "cat" not in cache.vocabulary.decode(cache.sets["valid"][0])
    cache = gbw_build.build(str(folder), path, min_count=1)
    assert "rare" in cache.vocabulary.words
    shutil.copy(folder / "train.1", folder / "train.3")
    assert len(gbw_build.build(str(folder), path, min_count=1).sets["train"]) == 8
    assert sorted(os.listdir(tmp_path)) == ["cache", "text"]


def test_a_vocabulary_that_is_given(folder, tmp_path):
    given = Vocabulary(["<UNK>", "cat", "zebra", "<S>", "</S>"], np.zeros(5, int))
    cache = gbw_build.build(str(folder), str(tmp_path / "cache"), vocabulary=given)
    assert cache.vocabulary.words == given.words
    assert cache.sets["valid"][0].tolist() == [4, 1, 2, 1, 1, 1, 1, 5]
    total = sum(expected(1)[1])
    assert cache.vocabulary.counts.tolist() == [total - 3 - 10, 3, 0, 5, 5]


def test_only_one_process_makes_a_cache(folder, tmp_path):
    with gbw_build._work_folder(str(tmp_path / "cache.partial"), {}):
        with pytest.raises(InputError, match="another process is making this cache"):
            gbw_build.build(str(folder), str(tmp_path / "cache"))


def test_other_things_are_not_touched(folder, tmp_path):
    other = tmp_path / "mine"
    other.mkdir()
    (other / "file").touch()
    with pytest.raises(InputError, match="something else than a cache"):
        gbw_build.build(str(folder), str(other))
    with pytest.raises(InputError, match="something else than a cache"):
        gbw_build.build(str(folder), str(other / "file"))
    assert os.listdir(other) == ["file"]
    with pytest.raises(InputError, match="cannot make it: Not a directory"):
        gbw_build.build(str(folder), str(other / "file" / "cache"))


def test_shards_without_a_sentence(folder, tmp_path):
    (folder / "train.2").write_text("\n \n")
    with pytest.raises(InputError, match=r"train\.2: holds no word, only blank lines"):
        gbw_build.build(str(folder), str(tmp_path / "cache"))
    (folder / "train.2").write_text("")
    with pytest.raises(InputError, match=r"train\.2: an empty shard"):
        gbw_build.build(str(folder), str(tmp_path / "cache"))


def test_files_of_a_cache_that_are_damaged(folder, tmp_path):
    path = tmp_path / "cache"
    gbw_build.build(str(folder), str(path))
    ids = (path / "train.ids").read_bytes()
    (path / "train.ids").write_bytes(ids[:-4])
    with pytest.raises(
        InputError, match=r"train\.ids: has 136 bytes, 140 belong there"
    ):
        gbw_cache.load(str(path))
    (path / "train.ids").write_bytes(ids[:-4] + b"\1\0\0\0")
    gbw_cache.load(str(path))
    with pytest.raises(InputError, match=r"train\.ids: was changed"):
        gbw_cache.load(str(path), verify=True)
    (path / "train.ids").unlink()
    with pytest.raises(InputError, match=r"train\.ids: is missing"):
        gbw_cache.load(str(path))
    (path / "manifest.json").write_text(json.dumps({"format": "another"}))
    with pytest.raises(InputError, match="not a cache of sentences"):
        gbw_cache.load(str(path))


def test_the_bundled_bible_has_the_words_that_its_page_tells(tmp_path):
    cache = gbw_build.build(kjv.path(), str(tmp_path / "cache"))
    assert len(cache.vocabulary) == 7214 + 3
    assert cache.vocabulary.words[:5] == [",", "the", "and", "of", "."]
    sets = cache.manifest["sets"]
    assert {name: told["sentences"] for name, told in sets.items()} == {
        "train": 30_000,
        "valid": 551,
        "test": 551,
    }
    assert sets["train"]["ids"] - 2 * 30_000 == 882_846
    heldout = sets["valid"]["ids"] + sets["test"]["ids"] - 2 * 1102
    assert heldout == 32_293
    unknown = sets["valid"]["unknown"] + sets["test"]["unknown"]
    assert round(100 * unknown / heldout, 2) == 1.21


def test_memory_does_not_grow_with_the_text(tmp_path):
    """64 kB pieces, and 8,000 words counted at a time; there are 39,000 at last."""
    peaks = []
    for shards in (3, 10):
        folder = tmp_path / f"text{shards}"
        folder.mkdir()
        (folder / "valid").write_text("word\n")
        rng = np.random.default_rng(0)
        for shard in range(shards):
            # Words of its own, too: 5,000 more types in each shard.
            words = rng.integers(5000 * shard, 5000 * (shard + 1), 15_000)
            words[::2] = rng.integers(0, 300, 7_500)
            text = "\n".join(
                " ".join(f"w{n}" for n in row) for row in words.reshape(-1, 20)
            )
            (folder / f"train{shard}").write_text(text)
        tracemalloc.start()
        cache = gbw_build.build(
            str(folder),
            str(tmp_path / f"cache{shards}"),
            min_count=60,
            piece_bytes=1 << 16,
            most_types=8_000,
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(cache.sets["train"].ids) == shards * 750 * 22
    assert peaks[1] < 1.2 * peaks[0]
    assert peaks[1] < 4e6
