import gzip
import pathlib
import shutil

import numpy as np
import pytest

from seqzoo.datasets import alignments, prompts, tables
from seqzoo.datasets.errors import InputError

SEQ = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "seq"
TIDS = {"u1": [1, 2, 4], "u2": [15, 16], "u3": []}


@pytest.fixture
def directory(tmp_path):
    """Two jobs of transition-ids and the toy model: tid 1..16 -> pdf 0 0 1 1 2 2 ..."""
    shutil.copyfile(SEQ / "mono.mdl", tmp_path / "final.mdl")
    with tables.Writer(f"ark:{tmp_path}/ali.ark", "int32_vector") as writer:
        writer.write("u1", np.array(TIDS["u1"], np.int32))
        writer.write("u3", np.array(TIDS["u3"], np.int32))
    with gzip.open(tmp_path / "ali.1.gz", "wb") as file:
        file.write((tmp_path / "ali.ark").read_bytes())
    (tmp_path / "ali.ark").unlink()
    with gzip.open(tmp_path / "ali.10.gz", "wb") as file:
        file.write(b"u2 15 16 \n")
    return tmp_path


def test_transition_ids_become_pdfs(directory):
    labels = alignments.read_alignments(str(directory))
    assert labels.num_pdfs == 8
    assert list(labels) == ["u1", "u3", "u2"] and len(labels) == 3
    assert labels["u1"].tolist() == [0, 0, 1]
    assert labels["u2"].tolist() == [7, 7]
    assert labels["u3"].tolist() == []
    assert labels.get("u4") is None and "u4" not in labels


def test_golden_kaldi_alignment(directory):
    (directory / "ali.1.gz").write_bytes(gzip.compress((SEQ / "ali.txt").read_bytes()))
    (directory / "ali.10.gz").unlink()
    labels = alignments.read_alignments(str(directory))
    tids = next(line for line in (SEQ / "ali.txt").read_text().splitlines())
    expected = [(int(tid) - 1) // 2 for tid in tids.split()[1:]]
    assert labels["u1"].tolist() == expected


def test_pdfs_from_an_scp_and_from_an_archive():
    directory = prompts.path("en") + "/cv"
    labels = alignments.read_alignments(directory)
    assert labels.num_pdfs == max(int(pdfs.max()) for pdfs in labels.values()) + 1
    assert sum(map(len, labels.values())) == 6833


def test_the_number_of_pdfs_is_the_models_where_there_is_one(tmp_path):
    (tmp_path / "ali.ark").write_text("u1 0 2 1\n")
    assert alignments.read_alignments(str(tmp_path)).num_pdfs == 3
    shutil.copyfile(SEQ / "mono.mdl", tmp_path / "final.mdl")
    assert alignments.read_alignments(str(tmp_path)).num_pdfs == 8
    (tmp_path / "ali.ark").write_text("u1 0 2 1\nu2 16\n")
    with pytest.raises(
        InputError, match="u2 has label 16, .* are these transition-ids"
    ):
        alignments.read_alignments(str(tmp_path))


def test_what_is_missing_is_named(directory):
    with pytest.raises(InputError, match="x: no such alignment directory"):
        alignments.read_alignments(str(directory / "x"))
    (directory / "final.mdl").unlink()
    with pytest.raises(InputError, match="final.mdl is missing, but ali.1.gz"):
        alignments.read_alignments(str(directory))
    for part in directory.glob("ali.*.gz"):
        part.unlink()
    with pytest.raises(InputError, match="no alignment here"):
        alignments.read_alignments(str(directory))
    (directory / "ali.ark").touch()
    with pytest.raises(InputError, match="ali.ark: no labels in it"):
        alignments.read_alignments(str(directory))


@pytest.mark.parametrize("tid", [0, 17])
def test_a_transition_id_outside_the_model(directory, tid):
    (directory / "ali.1.gz").write_bytes(gzip.compress(b"u1 1 %d\n" % tid))
    with pytest.raises(InputError, match=f"ali.1.gz: utterance u1, frame 1: .* {tid},"):
        alignments.read_alignments(str(directory))


def test_labels_and_features_as_targets():
    post = alignments.ali_to_post([0, 2])
    assert post.frames() == [[(0, 1.0)], [(2, 1.0)]]
    post = alignments.feat_to_post(np.array([[1, 2], [3, 4]], np.float32))
    assert post.frames() == [[(0, 1.0), (1, 2.0)], [(0, 3.0), (1, 4.0)]]


def test_counts_have_half_a_frame_more():
    labels = [
        np.array([0, 2, 2], np.int32),
        np.array([], np.int32),
        np.array([4], np.int32),
    ]
    assert alignments.analyze_counts(labels).tolist() == [1.5, 0.5, 2.5, 0.5, 1.5]
    assert alignments.analyze_counts(labels, 6).tolist()[5] == 0.5
    with pytest.raises(InputError, match="label 4, but there are 4 pdfs, 0 to 3"):
        alignments.analyze_counts(labels, 4)
    with pytest.raises(InputError, match="label -1; labels start at 0"):
        alignments.analyze_counts([np.array([-1])])
