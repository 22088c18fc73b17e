"""The command lines of goldens/kaldi/tools/README, run through our functions."""

import pathlib
import shutil

import numpy as np
import pytest

from seqzoo.datasets import alignments, cmvn, deltas, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.paste_post import paste_post
from seqzoo.datasets.posterior import Posterior
from seqzoo.datasets.splice_feats import splice_feats

CASE = pathlib.Path(__file__).parent / "goldens" / "kaldi" / "tools"

# Runs that wrote to tmp.ark, in the order of the README: what it held was kept as this.
RECORDED = [
    "cmvn_mean.txt",
    "cmvn_meanvar.txt",
    None,  # refused: variances without means
    "cmvn_reverse.txt",
    "deltas1.txt",
    "deltas2.txt",
    "deltas3.txt",
    "deltas1_w3.txt",
    "deltas2_trunc2.txt",
    "splice_l2_r1.txt",
    "cmvn_deltas_pipeline.txt",
]


def true(text):
    return text == "true"


def copy_matrix(options, source, target):
    matrix = tables.read_object(source)
    tables.write_object(target, matrix, options.get("binary") != "false")


def compute_cmvn_stats(options, feats, target):
    if not target.startswith("ark"):
        tables.write_object(target, cmvn.compute_global(feats))
        return
    write(target, "matrix", cmvn.compute(feats, options.get("spk2utt")))


def apply_cmvn(options, stats, feats, target):
    utt2spk = options.pop("utt2spk", None)
    opts = cmvn.Options.parse(" ".join(f"--{k}={v}" for k, v in options.items()))
    write(target, "matrix", FeaturePipeline(feats, opts, stats, utt2spk))


def add_deltas(options, feats, target):
    opts = deltas.Options.parse(" ".join(f"--{k}={v}" for k, v in options.items()))
    write(target, "matrix", FeaturePipeline(feats, delta_opts=opts))


def run_splice_feats(options, feats, target):
    contexts = int(options["left-context"]), int(options["right-context"])
    spliced = ((utt, splice_feats(x, *contexts)) for utt, x in tables.read(feats))
    write(target, "matrix", spliced)


def ali_to_post(options, ali, target):
    labels = tables.read(ali, "int32_vector")
    write(target, "posterior", ((u, alignments.ali_to_post(x)) for u, x in labels))


def analyze_counts(options, ali, target):
    labels = (pdfs for _, pdfs in tables.read(ali, "int32_vector"))
    counts = alignments.analyze_counts(labels, int(options["counts-dim"]))
    tables.write_object(target, counts, options.get("binary") != "false")


def feat_to_len(options, feats, target):
    lengths = ((utt, np.array([len(x)])) for utt, x in tables.read(feats))
    write(target, "int32_vector", lengths)


def feat_to_post(options, feats, target):
    posts = ((utt, alignments.feat_to_post(x)) for utt, x in tables.read(feats))
    write(target, "posterior", posts)


def run_paste_post(options, lengths, dims, *rest):
    *sources, target = rest
    posteriors = [tables.RandomAccess(source, "posterior") for source in sources]
    dims = [int(dim) for dim in dims.split(":")]
    pasted = []
    for utt, frames in tables.read(lengths, "token"):
        parts = [table.get(utt) for table in posteriors]
        if true(options["allow-partial"]) or None not in parts:
            pasted.append((utt, paste_post(parts, dims, int(frames))))
    write(target, "posterior", pasted)


TOOLS = {
    "copy-matrix": copy_matrix,
    "compute-cmvn-stats": compute_cmvn_stats,
    "apply-cmvn": apply_cmvn,
    "add-deltas": add_deltas,
    "splice-feats": run_splice_feats,
    "ali-to-post": ali_to_post,
    "analyze-counts": analyze_counts,
    "feat-to-len": feat_to_len,
    "feat-to-post": feat_to_post,
    "paste-post": run_paste_post,
}


def write(wspecifier, kind, pairs):
    with tables.Writer(wspecifier, kind) as writer:
        for utt, value in pairs:
            writer.write(utt, value)


def command_lines():
    """`(line, output, expected)`: the lines whose every tool is ours."""
    recorded = iter(RECORDED)
    for line in (CASE / "README").read_text().splitlines():
        for command in line.split("   # rc=")[0].split("; "):
            words = command.split()
            steps = [step.split()[0] for step in command.split(" | ") if step.strip()]
            if not words or not all(step in TOOLS for step in steps):
                continue
            output = words[-1].rpartition(":")[2]
            expected = next(recorded) if output == "tmp.ark" else output
            yield command, output, expected


LINES = list(command_lines())


def run(line):
    """Each step writes to a file that the next one reads."""
    steps = line.split(" | ")
    for number, step in enumerate(steps):
        tool, *words = step.split()
        places = [word for word in words if not word.startswith("--")]
        options = dict(word[2:].split("=", 1) for word in words if word[:2] == "--")
        if number:
            places[0] = places[0].replace("-", f"pipe{number - 1}")
        if number < len(steps) - 1:
            places[-1] = places[-1].replace("-", f"pipe{number}")
        TOOLS[tool](options, *places)


def value(path):
    """What a file holds: the values of a table, or one object."""
    first = path.read_bytes()[:3]
    if first.strip()[:1] == b"[" or first[:2] == b"\0B":
        return {"": tables.read_object(str(path), "any")}
    return dict(tables.read(f"ark:{path}", "any"))


def same(ours, theirs):
    assert list(ours) == list(theirs)
    for key, wanted in theirs.items():
        got = ours[key]
        if isinstance(wanted, Posterior):
            np.testing.assert_array_equal(got.offsets, wanted.offsets)
            np.testing.assert_array_equal(got.indices, wanted.indices)
            got, wanted = got.values, wanted.values
        size = np.abs(wanted).max()
        np.testing.assert_allclose(
            got, wanted, rtol=1e-5, atol=1e-6 * size, err_msg=key
        )


@pytest.mark.parametrize("line, output, expected", LINES, ids=[x[0] for x in LINES])
def test_golden_kaldi_tools(line, output, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in CASE.iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    if (tmp_path / output).exists():
        (tmp_path / output).unlink()
    if expected is None:
        with pytest.raises(InputError, match="norm-vars without norm-means"):
            run(line)
        return
    run(line)
    same(value(tmp_path / output), value(CASE / expected))


def test_golden_kaldi_features_in_text_and_binary_are_the_same():
    same(value(CASE / "feats.txt"), value(CASE / "feats.ark"))


def test_golden_kaldi_tools_were_all_run():
    assert sum(output == "tmp.ark" for _, output, _ in LINES) == len(RECORDED)
    tools = {step.split()[0] for line, *_ in LINES for step in line.split(" | ")}
    assert tools == set(TOOLS)
