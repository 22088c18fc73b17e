"""Training frames per second of 440-6x2048-3370, minibatch 256, beside PyTorch.

Ours is the whole `seqzoo train` command: reading, splicing, shuffling, statistics,
scoring the held-out set (small here) and writing the network. Its start and end are
taken off: the work of one epoch is what the command takes for three less what it takes
for one, halved. Kaldi's rate is nnet1's on such a machine, with a BLAS that fits it.
"""

import pathlib
import tempfile
from functools import partial

import alternate
import data

KALDI = 447  # Training frames per CPU-second.
SHAPE = "440-6x2048-3370"


def main() -> None:
    options = alternate.options(__doc__)
    frames = 4096 if options.quick else 16_384
    report = alternate.Report("train_dnn", options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        data.write_training_set(folder, "train", frames, 3370)
        data.write_training_set(folder, "cv", 256, 3370)
        for threads in (1, 2):
            for bfloat16 in (False, True):
                words = ["bfloat16"] if bfloat16 else []
                works = alternate.in_turns(
                    {
                        "seqzoo train": partial(
                            ours, folder, frames, threads, bfloat16
                        ),
                        "PyTorch": partial(
                            alternate.run_script,
                            *["torch_dnn.py", "train", SHAPE, threads, frames, *words],
                        ),
                    },
                    options.rounds,
                )
                kind = "bfloat16" if bfloat16 else "float32"
                report.add(
                    f"{SHAPE}, {kind}, {threads} thread{'s' if threads > 1 else ''}",
                    works,
                    "seqzoo train",
                    {"Kaldi nnet1, recorded": KALDI},
                )


def ours(
    folder: pathlib.Path, frames: int, threads: int, bfloat16: bool
) -> alternate.Work:
    """One epoch."""
    work = []
    for epochs in (1, 3):
        with tempfile.TemporaryDirectory(dir=folder) as run:
            command = [
                *data.SEQZOO,
                *["train", "acoustic/dnn", f"--run_dir={run}/run"],
                *[f"--feats=scp:{folder}/train.scp", f"--cv_feats=scp:{folder}/cv.scp"],
                *[
                    f"--labels=ark:{folder}/train.ali",
                    f"--cv_labels=ark:{folder}/cv.ali",
                ],
                *[
                    "--num_tgt=3370",
                    f"--threads={threads}",
                ],
                *[f"--{name}_iters={epochs}" for name in ("max", "min", "keep_lr")],
                *(["--bfloat16"] if bfloat16 else []),
            ]
            work.append(alternate.run(command, frames * epochs))
    both = work[1] - work[0]
    return alternate.Work(both.units / 2, both.wall / 2, both.cpu / 2)


if __name__ == "__main__":
    main()
