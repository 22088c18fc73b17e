"""Caches of characters."""

import json
import os

import numpy as np
import pytest

from seqzoo.datasets import character_cache, gbw, gbw_cache, kjv
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary

TRAIN, VALID = "né \nab\n\nb", "ban\n"


@pytest.fixture
def text(tmp_path):
    folder = tmp_path / "text"
    (folder / "train").mkdir(parents=True)
    (folder / "train" / "1.txt").write_text(TRAIN[:4])
    (folder / "train" / "2.txt").write_text(TRAIN[4:])
    (folder / "valid.txt").write_text(VALID)
    return folder


def test_a_set_is_one_sequence(text, tmp_path):
    cache = str(tmp_path / "cache")
    found = character_cache.open_data(str(text), cache)
    assert found.vocabulary.words == ["\n", "b", " ", "a", "n", "é"]
    assert found.vocabulary.counts.tolist() == [3, 2, 1, 1, 1, 1]
    assert found.characters and list(found.sets) == ["train", "valid"]
    for name, wanted in (("train", TRAIN), ("valid", VALID)):
        assert len(found.sets[name]) == 1
        ids = found.sets[name][0].tolist()
        assert "".join(found.vocabulary.decode(ids)) == wanted
    again = character_cache.open_data(cache)
    np.testing.assert_array_equal(again.sets["train"].ids, found.sets["train"].ids)
    gbw_cache.load(cache, verify=True)


def test_a_cache_that_holds_is_kept(text, tmp_path):
    cache = str(tmp_path / "cache")

    def made():
        character_cache.open_data(str(text), cache)
        status = os.stat(os.path.join(cache, "manifest.json"))
        return status.st_ino, status.st_mtime_ns

    first = made()
    os.utime(text / "valid.txt", (1, 1))
    assert made() == first
    (text / "valid.txt").write_text("nab\n")  # Of the same size.
    second = made()
    assert second != first
    gbw.open_data(kjv.path(), cache)  # One of words takes the place, and back.
    assert made() not in (first, second)
    assert character_cache.open_data(cache).sets["valid"].ids.tolist() == [5, 4, 2, 1]


def test_the_characters_of_a_model(text, tmp_path):
    given = Vocabulary([*"\n éxabn"], np.ones(7, np.int64))
    cache = str(tmp_path / "cache")
    found = character_cache.open_data(str(text), cache, vocabulary=given)
    assert found.vocabulary.words == given.words
    assert found.vocabulary.counts.tolist() == [3, 1, 1, 0, 1, 2, 1]
    assert found.sets["valid"].ids.tolist() == [6, 5, 7, 1]
    other = Vocabulary([*"\nnéxab "], np.ones(7, np.int64))
    with pytest.raises(InputError, match="its vocabulary is not that of exp/lm"):
        character_cache.open_data(cache, vocabulary=other, vocabulary_of="exp/lm")
    made_of = json.loads((tmp_path / "cache" / "manifest.json").read_text())["made_of"]
    character_cache.open_data(str(text), cache, vocabulary=other)
    again = json.loads((tmp_path / "cache" / "manifest.json").read_text())["made_of"]
    assert made_of["words_crc32"] != again["words_crc32"]


def test_what_cannot_be_read(text, tmp_path):
    cache = str(tmp_path / "cache")

    def fails(source=text, **options):
        with pytest.raises(InputError) as error:
            character_cache.open_data(str(source), cache, **options)
        assert not os.path.exists(cache)
        return str(error.value)

    given = Vocabulary(["b", "a", "\n"], np.ones(3, np.int64))
    told = fails(vocabulary=given, vocabulary_of="exp/lm")
    assert told == (
        f"{text}/train/1.txt:1: exp/lm does not know the character 'n'; its 3 are "
        "'\\nab'."
    )
    (text / "valid.txt").write_text("ab\nab?\n")
    assert fails().startswith(
        f"{text}/valid.txt:2: the training text does not have the character '?'; its 6"
    )
    (text / "valid.txt").write_text("b")
    assert fails() == (
        f"{text}/valid.txt: 1 characters in this set; two or more are taken."
    )
    words = str(tmp_path / "words")
    gbw.open_data(kjv.path(), words)
    assert "is a cache of words" in fails(words)


def test_a_cache_of_characters_is_none_of_words(text, tmp_path):
    cache = str(tmp_path / "cache")
    character_cache.open_data(str(text), cache)
    with pytest.raises(InputError, match="is a cache of characters, and words are"):
        gbw.open_data(cache)
