import logging
import os

import numpy as np
import pytest

from seqzoo.datasets import cmvn, deltas, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.splice_feats import splice_feats

SPEAKERS = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """Four utterances of three speakers; statistics of a and b only."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    feats = {utt: rng.normal(3, 2, (9, 13)).astype(np.float32) for utt in SPEAKERS}
    with tables.Writer("ark,scp:feats.ark,feats.scp", "matrix") as writer:
        for utt, matrix in feats.items():
            writer.write(utt, matrix)
    with open("utt2spk", "w") as file:
        file.writelines(f"{utt} {speaker}\n" for utt, speaker in SPEAKERS.items())
    with open("spk2utt", "w") as file:
        file.write("a a1 a2\nb b1\n")
    with tables.Writer("ark,scp:cmvn.ark,cmvn.scp", "matrix") as writer:
        for speaker, stats in cmvn.compute("scp:feats.scp", "ark:spk2utt"):
            writer.write(speaker, stats)
    tables.write_object("global", cmvn.compute_global("scp:feats.scp"))
    return feats


def test_plain_features_in_file_order(corpus):
    for rspecifier in ("scp:feats.scp", "ark:feats.ark"):
        pipeline = FeaturePipeline(rspecifier)
        for _ in range(2):
            read = dict(pipeline)
            assert list(read) == list(corpus)
            assert all(np.array_equal(read[utt], corpus[utt]) for utt in corpus)
        assert (pipeline.num_done, pipeline.num_errors) == (4, 0)
        assert pipeline.replayable


def test_statistics_by_speaker_and_a_speaker_without(corpus, caplog):
    pipeline = FeaturePipeline(
        "scp:feats.scp", "--norm-vars=true", "scp:cmvn.scp", "ark:utt2spk"
    )
    with caplog.at_level(logging.WARNING):
        read = dict(pipeline)
    assert list(read) == ["a1", "a2", "b1"]
    assert (pipeline.num_done, pipeline.num_errors) == (3, 1)
    assert "c1, no cmvn statistics of c" in caplog.text
    both = np.concatenate([read["a1"], read["a2"]])
    np.testing.assert_allclose(both.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(both.var(0), 1, rtol=1e-4)


def test_an_utterance_without_a_speaker(corpus, caplog):
    with open("utt2spk", "w") as file:
        file.write("a1 a\n")
    pipeline = FeaturePipeline("ark:feats.ark", None, "ark:cmvn.ark", "ark:utt2spk")
    assert [utt for utt, _ in pipeline] == ["a1"]
    assert pipeline.num_errors == 3


def test_statistics_of_all_are_a_file(corpus):
    read = np.concatenate(
        [x for _, x in FeaturePipeline("scp:feats.scp", None, "global")]
    )
    np.testing.assert_allclose(read.mean(0), 0, atol=1e-5)


def test_no_means_needs_no_statistics(corpus):
    pipeline = FeaturePipeline("scp:feats.scp", "--norm-means=false", "ark:cmvn.ark")
    assert len(list(pipeline)) == 4


def test_deltas_follow_cmvn_and_the_dimension_is_inferred(corpus):
    pipeline = FeaturePipeline(
        "scp:feats.scp", None, "scp:cmvn.scp", "ark:utt2spk", "--delta-order=2"
    )
    assert pipeline.dim == 39
    utt, feats = next(iter(pipeline))
    stats = tables.RandomAccess("ark:cmvn.ark", "matrix", double=True)["a"]
    np.testing.assert_array_equal(
        feats, deltas.add_deltas(cmvn.apply(corpus[utt], stats))
    )
    assert splice_feats(feats, 5, 5).shape[1] == 429


def test_shuffled_order(corpus):
    pipeline = FeaturePipeline("scp:feats.scp")
    orders = [[utt for utt, _ in pipeline.shuffled(seed)] for seed in (1, 1, 2, 3)]
    assert orders[0] == orders[1] == pipeline.shuffled(1).order
    assert len({tuple(order) for order in orders}) > 1
    assert [utt for utt, _ in pipeline] == list(corpus) == pipeline.order
    with pytest.raises(InputError, match="cannot be shuffled; give an scp"):
        FeaturePipeline("ark:feats.ark").shuffled(1)
    assert FeaturePipeline("ark:feats.ark").order is None


def test_a_pipe_is_read_once(corpus):
    pipeline = FeaturePipeline("ark:cat feats.ark |")
    assert not pipeline.replayable
    assert len(list(pipeline)) == 4
    with pytest.raises(InputError, match="read only once"):
        _ = pipeline.dim
    os.mkfifo("fifo")
    assert not FeaturePipeline("ark:fifo").replayable
    assert not FeaturePipeline("ark:-").replayable


def test_an_utterance_without_frames(corpus, caplog):
    with tables.Writer("ark:some.ark", "matrix") as writer:
        writer.write("z", np.zeros((0, 0), np.float32))
        writer.write("a1", corpus["a1"])
    pipeline = FeaturePipeline("ark:some.ark", None, "global", None, "--delta-order=1")
    assert [utt for utt, _ in pipeline] == ["a1"]
    assert pipeline.num_errors == 1
    assert caplog.messages == ["z, no frames"]


def test_options_without_use(corpus):
    with pytest.raises(InputError, match="cmvn_opts is given without cmvn"):
        FeaturePipeline("scp:feats.scp", "--norm-means=true")
    with pytest.raises(InputError, match="utt2spk is given without cmvn"):
        FeaturePipeline("scp:feats.scp", utt2spk="ark:utt2spk")
    with pytest.raises(InputError, match="norm-vars without norm-means"):
        FeaturePipeline("scp:x", "--norm-means=false --norm-vars=true", "ark:cmvn.ark")


def test_what_does_not_fit_names_the_utterance(corpus):
    tables.write_object("global", np.zeros((2, 5)))
    with pytest.raises(
        InputError, match=r"scp:feats.scp: utterance a1: cmvn .*\(2, 14"
    ):
        list(FeaturePipeline("scp:feats.scp", None, "global"))
    with pytest.raises(InputError, match="utterance a1: deltas: truncate is 20"):
        list(FeaturePipeline("scp:feats.scp", delta_opts="--truncate=20"))


def test_no_features(tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(InputError, match="no features"):
        _ = FeaturePipeline(f"ark:{tmp_path}/x").dim


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"cmvn": "narrow"}, "scp:feats.scp: utterance a1: cmvn statistics"),
        ({"cmvn": "ark:none"}, "scp:feats.scp: no features that can be used"),
    ],
)
def test_errors_of_a_copy_name_what_was_copied(corpus, words, told):
    tables.write_object("narrow", np.ones((2, 4)))
    open("none", "w").close()
    pipeline = FeaturePipeline("scp:feats.scp", "--norm-means=true", **words)
    with pytest.raises(InputError, match=told):
        pipeline.copied("copy", "train").dim  # noqa: B018
