import pytest

from seqzoo.datasets import gbw_sources, kjv
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_sources import HELDOUT, TRAINING


def make(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a word\n")


def found(folder):
    sets = gbw_sources.find(str(folder))
    return {n: [p.removeprefix(f"{folder}/") for p in ps] for n, ps in sets.items()}


def test_the_benchmark_and_the_folder_above_it(tmp_path):
    root = tmp_path / "r13output"
    make(
        root,
        "README",
        f"{TRAINING}/news.en-00002-of-00100",
        f"{TRAINING}/news.en-00001-of-00100",
        f"{TRAINING}/notes",
        f"{HELDOUT}/news.en-00000-of-00100",  # The 50 once more.
        f"{HELDOUT}/news.en.heldout-00001-of-00050",
        f"{HELDOUT}/news.en.heldout-00000-of-00050",
        f"{HELDOUT}/news.en.heldout-00002-of-00050",
    )
    assert found(root) == {
        "train": [f"{TRAINING}/news.en-{i:05}-of-00100" for i in (1, 2)],
        "valid": [f"{HELDOUT}/news.en.heldout-{i:05}-of-00050" for i in (1, 2)],
        "test": [f"{HELDOUT}/news.en.heldout-00000-of-00050"],
    }
    assert gbw_sources.find(str(tmp_path)) == gbw_sources.find(str(root))


def test_one_held_out_shard_is_for_validation(tmp_path):
    make(tmp_path, f"{TRAINING}/news.en-00001-of-00100")
    make(tmp_path, f"{HELDOUT}/news.en.heldout-00007-of-00050")
    assert found(tmp_path).keys() == {"train", "valid"}


def test_any_text_by_the_names_of_files_and_folders(tmp_path):
    make(tmp_path, "ptb.train.txt", "ptb.valid.txt", "wiki.test.tokens", "constraints")
    make(tmp_path, "training/b", "training/a", "dev/.hidden", "dev/c", "latest/d")
    assert found(tmp_path) == {
        "train": ["ptb.train.txt", "training/a", "training/b"],
        "valid": ["ptb.valid.txt", "dev/c"],
        "test": ["wiki.test.tokens"],
    }


def test_the_bundled_corpus():
    sets = gbw_sources.find(kjv.path())
    assert {name: len(paths) for name, paths in sets.items()} == {
        "train": 4,
        "valid": 1,
        "test": 1,
    }


@pytest.mark.parametrize(
    "names, message",
    [
        ([], "no text of a language model; what is taken: training-mono"),
        (["train.txt"], "the held-out text is missing"),
        ([f"{TRAINING}/news.en-00001-of-00100"], "the held-out text is missing"),
        (["valid.txt"], "no training text"),
        (["train.txt", "valid.txt.gz"], "valid.txt.gz: is packed; .* unpack it"),
    ],
)
def test_what_is_missing(names, message, tmp_path):
    make(tmp_path, *names)
    with pytest.raises(InputError, match=message):
        gbw_sources.find(str(tmp_path))


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="a folder of text is taken, nothing is there"):
        gbw_sources.find(str(tmp_path / "x"))
    (tmp_path / "f").touch()
    with pytest.raises(InputError, match="a file is there"):
        gbw_sources.find(str(tmp_path / "f"))
