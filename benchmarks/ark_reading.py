"""Reading archives of features, beside kaldi_native_io.

Both give every matrix as a float32 array that may be kept. kaldi_native_io hands out
arrays over a buffer that the next utterance overwrites, so its arrays are copied; its
rate without the copy stands below. Megabytes are those of the file.
"""

import os
import pathlib
import tempfile
from collections.abc import Callable
from functools import partial

import alternate
import data
import kaldi_native_io
import numpy as np

from seqzoo.datasets import prompts, tables

FORMS = {"FM, floats": 0, "CM": 2, "CM2": 3, "CM3": 5}
LENGTHS = {"short": 30, "medium": 200, "long": 850}


def main() -> None:
    options = alternate.options(__doc__)
    rounds = options.rounds if options.quick else max(options.rounds, 9)
    report = alternate.Report("ark_reading", options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        total = 60_000 if options.quick else 250_000
        for form, method in FORMS.items():
            for name, length in LENGTHS.items():
                matrices = data.utterances(total, length)
                path = folder / "feats"
                spec = f"ark,scp:{path}.ark,{path}.scp"
                with tables.Writer(spec, compression_method=method) as writer:
                    for i, matrix in enumerate(matrices):
                        writer.write(f"utt{i:06}", matrix)
                case = f"{form}, {name} utterances ({length} frames)"
                compare(report, case, str(path), rounds)
        corpus = prompts.copy_to(str(folder / "prompts"))
        compare(report, "the bundled prompts (CM)", f"{corpus}/en/train/feats", rounds)
        compare_labels(report, folder, total, rounds)


def compare(report: alternate.Report, case: str, path: str, rounds: int) -> None:
    """Reads `path`.ark from front to back, and what `path`.scp names."""
    size = os.path.getsize(f"{path}.ark")
    for how in ("ark", "scp"):
        spec = f"{how}:{path}.{how}"
        works = alternate.in_turns(
            {
                "seqzoo": partial(alternate.timed, partial(ours, spec)),
                "kaldi_native_io": partial(
                    alternate.timed, partial(peer, spec, np.array)
                ),
                "kaldi_native_io, not kept": partial(
                    alternate.timed, partial(peer, spec, np.asarray)
                ),
            },
            rounds,
        )
        report.add(
            f"{case}, {how}",
            works,
            "seqzoo",
            bytes_a_unit=size / works["seqzoo"][0].units,
        )


def ours(spec: str) -> float:
    return sum(len(matrix) for _, matrix in tables.read(spec))


def peer(spec: str, keep: Callable[[np.ndarray], np.ndarray]) -> float:
    with kaldi_native_io.SequentialFloatMatrixReader(spec) as reader:
        return sum(len(keep(matrix)) for _, matrix in reader)


def compare_labels(
    report: alternate.Report, folder: pathlib.Path, total: int, rounds: int
) -> None:
    """Alignments, in binary and in text."""
    rng = np.random.default_rng(0)
    for form, flag in (("binary", ""), ("text", ",t")):
        spec = f"ark:{folder}/{form}.ali"
        with tables.Writer(spec.replace(":", flag + ":", 1), "int32_vector") as writer:
            for i in range(total // 200):
                writer.write(f"utt{i:06}", rng.integers(0, 3370, 200))
        works = alternate.in_turns(
            {
                "seqzoo": partial(alternate.timed, partial(ours_labels, spec)),
                "kaldi_native_io": partial(alternate.timed, partial(peer_labels, spec)),
            },
            rounds,
        )
        report.add(f"alignments of 200 frames, {form}", works, "seqzoo")


def ours_labels(spec: str) -> float:
    return sum(len(value) for _, value in tables.read(spec, "int32_vector"))


def peer_labels(spec: str) -> float:
    with kaldi_native_io.SequentialInt32VectorReader(spec) as reader:
        return sum(len(np.array(value, np.int32)) for _, value in reader)


if __name__ == "__main__":
    main()
