import re

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import feature_transform
from seqzoo.zoo.acoustic.feature_transform import build, lda_matrix, traps_matrix


def _data(dim=4, utterances=6, frames=50, classes=3):
    """Features whose class shows, and the classes."""
    rng = np.random.default_rng(2)
    labels = {f"u{i}": rng.integers(classes, size=frames) for i in range(utterances)}
    means = rng.normal(0, 4, size=(classes, dim))
    feats = [
        (utt, (means[c] + rng.normal(1, 2, (frames, dim))).astype(np.float32))
        for utt, c in labels.items()
    ]
    return feats, labels


def _output(nnet, feats):
    return np.concatenate([nnet.propagate(matrix) for _, matrix in feats])


@pytest.mark.parametrize(
    "feat_type, options, dims",
    [
        ("plain", {}, (40, 440)),
        ("traps", {"traps_dct_basis": 6}, (40, 240)),
        ("transf", {"transf": np.eye(7, 440)}, (40, 77)),
        ("lda", {"lda_dim": 20}, (40, 20)),
    ],
)
def test_output_is_normal_in_every_dimension(feat_type, options, dims):
    feats, labels = _data(dim=40, utterances=12)
    nnet = build(feat_type, lambda: feats, labels=labels, **options)
    assert (nnet.input_dim, nnet.output_dim) == dims
    output = _output(nnet, feats)
    np.testing.assert_allclose(output.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(output.std(axis=0), 1, rtol=1e-4)
    for component in nnet.components[1:]:
        assert getattr(component, "learn_rate_coef", 0) == 0


def test_plain_has_880_parameters():
    feats, _ = _data(dim=40)
    nnet = build("plain", lambda: feats)
    assert [c.marker for c in nnet.components] == [
        "<Splice>",
        "<AddShift>",
        "<Rescale>",
    ]
    assert nnet.num_parameters() == 880
    assert nnet.components[0].offsets == list(range(-5, 6))


def test_statistics_are_of_the_first_utterances():
    feats, _ = _data()
    nnet = build("plain", lambda: iter(feats), splice=1, utterances=2)
    same = build("plain", lambda: feats[:2], splice=1)
    assert np.array_equal(nnet.components[1].data, same.components[1].data)


def test_traps_by_the_formula():
    dim, frames, basis = 2, 5, 3
    matrix = traps_matrix(dim, 2, basis)
    assert matrix.shape == (basis * dim, frames * dim)
    for k in range(basis):
        for m in range(dim):
            for n in range(frames):
                window = 0.54 - 0.46 * np.cos(2 * np.pi * n / (frames - 1))
                cosine = np.sqrt(2 / frames) * np.cos(np.pi * k * (n + 0.5) / frames)
                row = matrix[k * dim + m]
                assert row[n * dim + m] == pytest.approx(window * cosine, rel=1e-6)
                assert row[n * dim + 1 - m] == 0


def test_transf_with_a_shift_and_splicing_after_it():
    feats, _ = _data(dim=2)
    transf = np.array([[1.0, 0, 5.0]])
    nnet = build(
        "transf", lambda: feats, splice=0, transf=transf, splice_after_transf=1
    )
    assert [c.marker for c in nnet.components] == [
        "<Splice>",
        "<LinearTransform>",
        "<AddShift>",
        "<Splice>",
        "<AddShift>",
        "<Rescale>",
    ]
    assert nnet.components[2].data.tolist() == [5]
    assert nnet.components[3].offsets == [-1, 0, 1]


def _statistics(frames, classes):
    count = classes.max() + 1
    counts = np.bincount(classes).astype(float)
    sums = np.stack([frames[classes == c].sum(axis=0) for c in range(count)])
    return counts, sums, frames.T @ frames


def test_lda_whitens_within_classes_and_sorts_by_what_is_between():
    rng = np.random.default_rng(0)
    classes = rng.integers(5, size=2000)
    mixing = rng.normal(size=(6, 6))
    frames = (rng.normal(0, 2, (5, 6))[classes] + rng.normal(size=(2000, 6))) @ mixing
    matrix = lda_matrix(*_statistics(frames, classes), 6).astype(np.float64)
    output = frames @ matrix.T
    means = np.stack([output[classes == c].mean(axis=0) for c in range(5)])
    within = (output - means[classes]).T @ (output - means[classes]) / 2000
    away = means[classes] - output.mean(axis=0)
    between = away.T @ away / 2000
    np.testing.assert_allclose(within, np.eye(6), atol=1e-4)
    np.testing.assert_allclose(between, np.diag(np.diag(between)), atol=1e-4)
    # The plain eigenvalues of within^-1 between, largest first.
    mean = frames.mean(axis=0)
    plain = np.stack([frames[classes == c].mean(axis=0) for c in range(5)])
    inside = (frames - plain[classes]).T @ (frames - plain[classes])
    outside = (plain[classes] - mean).T @ (plain[classes] - mean)
    values = np.sort(np.linalg.eigvals(np.linalg.solve(inside, outside)).real)[::-1]
    np.testing.assert_allclose(np.diag(between), values, rtol=1e-3, atol=1e-4)


def test_lda_with_a_constant_dimension():
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=100)
    frames = np.column_stack([classes + rng.normal(size=100), np.ones(100)])
    assert np.isfinite(lda_matrix(*_statistics(frames, classes), 2)).all()


def test_lda_leaves_out_utterances_without_fitting_labels(caplog):
    feats, labels = _data()
    some = dict(labels)
    del some["u0"]
    some["u1"] = some["u1"][:-10]
    some["u2"] = some["u2"][:-4]  # within the tolerance
    nnet = build("lda", lambda: feats, splice=0, lda_dim=2, labels=some)
    assert "2 utterances" in caplog.text
    assert nnet.output_dim == 2


@pytest.mark.parametrize(
    "feat_type, options, message",
    [
        ("fancy", {}, "feat_type is 'fancy'; plain, traps, transf, lda are taken."),
        ("plain", {"splice": -1}, "splice is -1 frames"),
        ("traps", {"traps_dct_basis": 12}, "1 to 11 fit 11 frames"),
        ("transf", {}, "give transf"),
        ("transf", {"transf": np.eye(3)}, "44 or 45 columns are taken"),
        ("lda", {}, "from alignment directories"),
        ("lda", {"labels": {}}, "0 classes have frames"),
        ("lda", {"labels": True}, "lda_dim is 300; 1 to 44 are taken here."),
    ],
)
def test_transforms_that_cannot_be_made(feat_type, options, message):
    feats, labels = _data()
    if options.get("labels") is True:
        options = {"labels": labels}
    with pytest.raises(InputError, match=re.escape(message)):
        build(feat_type, lambda: feats, **options)


def test_no_features():
    with pytest.raises(InputError, match="no features came"):
        build("plain", list)


def test_features_of_another_width():
    feats = [("a", np.zeros((3, 2), "f4")), ("b", np.zeros((3, 5), "f4"))]
    with pytest.raises(InputError, match=r"utterance 'b' .*\(3, 5\)"):
        build("plain", lambda: feats)


def test_every_type_is_listed():
    assert feature_transform.FEAT_TYPES == ("plain", "traps", "transf", "lda")
