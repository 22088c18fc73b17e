"""Frames per second that the input pipeline delivers, with nothing learnt.

From a local copy of the features, or from the tables themselves, through splicing,
normalising and shuffling to what the trainer takes. The rate is set beside what
training consumes: by the last results of train_dnn.py and train_small.py, if any.
"""

import json
import pathlib
import statistics
import sys
import tempfile
from functools import partial

import alternate
import data

SMALL = 22_000  # Frames per second that nnet1 trains 440-2x512-117 with.
KALDI = 447  # And 440-6x2048-3370.


def main() -> None:
    options = alternate.options(__doc__)
    frames = 70_000 if options.quick else 400_000
    report = alternate.Report("frame_pipeline", options)
    with tempfile.TemporaryDirectory() as scratch:
        data.write_training_set(pathlib.Path(scratch), "train", frames, 3370)
        works = alternate.in_turns(
            {
                name: partial(
                    alternate.run_script, "frame_pipeline.py", "--one", scratch, kind
                )
                for name, kind in (
                    ("from an uncompressed copy", "records"),
                    ("from the tables", "stream"),
                )
            },
            options.rounds,
        )
    consumed = {
        "440-6x2048-3370 in nnet1": KALDI,
        "440-2x512-117 in nnet1": SMALL,
        **measured(),
    }
    for name, done in works.items():
        report.add(f"440 inputs a frame, {name}", {name: done}, name, consumed)


def measured() -> dict[str, float]:
    """The rates per CPU-second that the training scripts found last."""
    found = {}
    for name in ("train_dnn", "train_small"):
        path = alternate.RESULTS / f"{name}.json"
        if not path.exists():
            continue
        result = json.loads(path.read_text(encoding="utf-8"))
        for case in [] if result["quick"] else result["cases"]:
            for key, rates in case.items():
                if key.startswith("seqzoo train") and ":" not in key:
                    middle = statistics.median(rates["per_cpu_second"])
                    found[f"{case['case']}, {key}"] = middle
    return found


def one(folder: str, kind: str) -> None:
    """One pass after another that warms up."""
    from seqzoo.datasets import frame_blocks, frame_records, frames
    from seqzoo.datasets.utterances import Utterances
    from seqzoo.zoo.acoustic import feature_transform
    from seqzoo.zoo.checkpoints import keras_layers
    from seqzoo.zoo.training import frame_data

    feats = [("", matrix) for matrix in data.utterances(4000, 400)]
    transform = feature_transform.build("plain", lambda: iter(feats), splice=5)
    utterances = Utterances(f"scp:{folder}/train.scp", f"ark:{folder}/train.ali")

    def blocks():
        return frame_blocks.blocks(utterances, 32_768, 256)

    if kind == "records":
        path = f"{folder}/train.blocks"
        frame_records.write(blocks(), path)
        dataset = frame_records.read(path, 40)
    else:
        dataset = frame_records.stream(blocks, 40)
    import tensorflow as tf

    fillings = frame_data.fillings(
        dataset,
        keras_layers.to_layers(transform, "transform_", trainable=False),
        256,
        frames.seeded_permutation(777, tf.Variable(0, dtype=tf.int64)),
    )

    def once() -> float:
        return sum(int(rows["weights"].shape[0]) for rows in fillings)

    once()
    alternate.report(alternate.timed(once))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        main()
