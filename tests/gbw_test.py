import pathlib
import shutil

import numpy as np
import pytest

from seqzoo.datasets import gbw, gbw_cache, kjv
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences

TORCH = pathlib.Path(__file__).parent / "goldens" / "torch" / "gbw_tiny"


def vocabulary(*words):
    return Vocabulary([*words, "<UNK>", "<S>", "</S>"], np.ones(len(words) + 3, int))


def test_text_a_cache_and_a_torch_set(tmp_path):
    path = str(tmp_path / "cache")
    text = gbw.open_data(kjv.path(), path)
    assert gbw.open_data(path).vocabulary.words == text.vocabulary.words
    torch = gbw.open_data(str(TORCH), str(tmp_path / "torch"))
    assert {name: len(s) for name, s in torch.sets.items()} == {
        "train": 60,
        "valid": 20,
        "test": 15,
    }
    tiny = gbw.open_data(str(TORCH), str(tmp_path / "torch"), subset="tiny")
    assert 0 < len(tiny.sets["train"]) < 60
    assert tiny.folder == torch.folder  # Made anew there.


def test_the_vocabulary_of_a_model(tmp_path):
    text = tmp_path / "text"
    text.mkdir()
    (text / "train").write_text("a b\n")
    (text / "valid").write_text("b\n")
    ours, other = vocabulary("b", "a"), vocabulary("c", "a")
    path = str(tmp_path / "cache")
    assert (
        gbw.open_data(str(text), path, vocabulary=ours).vocabulary.words == ours.words
    )
    with pytest.raises(InputError) as error:
        gbw.open_data(path, vocabulary=other, vocabulary_of="exp/lm")
    assert str(error.value).startswith(f"{path}/vocabulary.txt: its vocabulary is not")
    assert "id 1 is 'b' and 'c'" in str(error.value)
    # Text is read anew with other ids.
    assert gbw.open_data(str(text), path, vocabulary=other).vocabulary.words[0] == "c"


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="no cache; give the folder where to make it"):
        gbw.open_data(str(TORCH))
    with pytest.raises(InputError, match="only a Torch set has train_tiny.th7"):
        gbw.open_data(kjv.path(), str(tmp_path / "cache"), subset="tiny")
    cache = gbw.open_data(str(TORCH), str(tmp_path / "torch")).folder
    with pytest.raises(InputError, match="is a cache; only a Torch set has"):
        gbw.open_data(cache, subset="tiny")
    with pytest.raises(InputError, match="no subset 'small'"):
        gbw.open_data(kjv.path(), str(tmp_path / "cache"), subset="small")


def test_a_torch_set_with_a_file_missing_or_mixed_up(tmp_path):
    folder = tmp_path / "torch"
    shutil.copytree(TORCH, folder)
    (folder / "valid_data.th7").unlink()
    with pytest.raises(InputError, match=r"valid_data\.th7: is missing"):
        gbw.open_data(str(folder), str(tmp_path / "cache"))
    shutil.copy(TORCH / "word_freq.th7", folder / "valid_data.th7")
    with pytest.raises(InputError, match=r"valid_data\.th7: a tensor of two columns"):
        gbw.open_data(str(folder), str(tmp_path / "cache"))
    shutil.copy(TORCH / "train_data.th7", folder / "word_freq.th7")
    with pytest.raises(InputError, match=r"word_freq\.th7: a tensor of 40 counts"):
        gbw.open_data(str(folder), str(tmp_path / "cache"))


def test_ids_that_are_not_in_the_vocabulary(tmp_path):
    for ids in ([1, 6], [0, 1]):
        with pytest.raises(InputError, match="they do not belong together"):
            gbw_cache.write(
                str(tmp_path / "cache"),
                vocabulary("a", "b"),
                {"train": [Sentences.of([[1, 2]]), Sentences.of([ids])]},
            )
    with pytest.raises(InputError, match="no sentence for the set valid"):
        gbw_cache.write(
            str(tmp_path / "cache"),
            vocabulary("a", "b"),
            {"train": [Sentences.of([[1, 2], [3]])], "valid": [Sentences.of([[1]])]},
        )
    assert not (tmp_path / "cache").exists()
    cache = gbw_cache.write(
        str(tmp_path / "cache"),
        vocabulary("a", "b"),
        {"train": [Sentences.of([[1, 2], [3]]), Sentences.of([[5, 5, 5]])]},
    )
    assert cache.sets["train"].skipped == 1
    assert [cache.sets["train"][k].tolist() for k in (0, 1)] == [[1, 2], [5, 5, 5]]
