import pytest

from seqzoo.datasets import scp_paths


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """corpus/en/train/{feats.ark,feats.scp}, seen from an empty directory."""
    train = tmp_path / "corpus" / "en" / "train"
    train.mkdir(parents=True)
    (train / "feats.ark").touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "corpus"


def test_an_entry_is_found_below_a_directory_above_the_scp(corpus):
    scp = str(corpus / "en/train/feats.scp")
    ark = str(corpus / "en/train/feats.ark")
    assert scp_paths.resolve("en/train/feats.ark:27", scp) == f"{ark}:27"
    assert scp_paths.resolve("feats.ark:27[0:3,1:2]", scp) == f"{ark}:27[0:3,1:2]"
    assert scp_paths.resolve("train/feats.ark", scp) == ark


def test_the_current_directory_comes_first(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    scp = "en/train/feats.scp"
    assert scp_paths.resolve("en/train/feats.ark:9", scp) == "en/train/feats.ark:9"


@pytest.mark.parametrize(
    "name",
    [
        "nowhere/feats.ark:27",
        "gunzip -c en/train/feats.ark |",
        "-",
        "gs://bucket/feats.ark:27",
        "/absolute/feats.ark:27",
        "",
    ],
)
def test_what_comes_back_as_it_is(corpus, name):
    assert scp_paths.resolve(name, str(corpus / "en/train/feats.scp")) == name


def test_an_scp_that_is_no_local_file_says_nothing_about_places(corpus):
    assert scp_paths.resolve("feats.ark", "gs://bucket/feats.scp") == "feats.ark"
    assert scp_paths.resolve("feats.ark", "cat feats.scp |") == "feats.ark"
