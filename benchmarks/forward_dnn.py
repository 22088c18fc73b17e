"""Frames per second through 440-6x2048-3370, beside PyTorch.

Ours is the whole `seqzoo forward` command, from a compressed archive to one of
posteriors; its start is taken off: the work is what the command takes for all
utterances less what it takes for a few. Kaldi's rate is that of nnet-forward on such a
machine.
"""

import pathlib
import tempfile
from functools import partial

import alternate
import data

from seqzoo.datasets import tables
from seqzoo.zoo.acoustic import feature_transform
from seqzoo.zoo.acoustic.dnn_config import DnnConfig
from seqzoo.zoo.checkpoints import nnet1, nnet_proto

KALDI = 1259  # Frames per CPU-second.
SHAPE = "440-6x2048-3370"


def main() -> None:
    options = alternate.options(__doc__)
    few, many = (512, 4096) if options.quick else (2048, 32_768)
    report = alternate.Report("forward_dnn", options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, frames in (("few", few), ("many", many)):
            spec = f"ark:{folder}/{name}.ark"
            with tables.Writer(spec, compression_method=2) as writer:
                for i, matrix in enumerate(data.utterances(frames, 400)):
                    writer.write(f"utt{i}", matrix)
        write_net(folder)
        for threads in (1, 2):
            works = alternate.in_turns(
                {
                    "seqzoo forward": partial(ours, folder, few, many, threads),
                    "PyTorch": partial(
                        alternate.run_script,
                        *["torch_dnn.py", "forward", SHAPE, threads, many],
                    ),
                },
                options.rounds,
            )
            recorded = {"Kaldi nnet-forward, recorded": KALDI}
            case = f"{SHAPE}, float32, {threads} thread{'s' if threads > 1 else ''}"
            report.add(case, works, "seqzoo forward", recorded)


def write_net(folder: pathlib.Path) -> None:
    """An untrained network and its feature transform."""
    config = DnnConfig()
    nnet1.write(str(folder / "net"), nnet_proto.initialize(config.proto(), config.seed))
    feats = [("", matrix) for matrix in data.utterances(4000, 400)]
    transform = feature_transform.build(
        "plain", lambda: iter(feats), splice=config.offsets[-1]
    )
    nnet1.write(str(folder / "transform"), transform)


def ours(folder: pathlib.Path, few: int, many: int, threads: int) -> alternate.Work:
    """The frames that `many` has more than `few`."""
    work = {}
    for name, frames in (("few", few), ("many", many)):
        command = [
            *[*data.SEQZOO, "forward", f"--feature_transform={folder}/transform"],
            *[f"--threads={threads}", f"{folder}/net"],
            *[f"ark:{folder}/{name}.ark", "ark:/dev/null"],
        ]
        work[name] = alternate.run(command, frames)
    return work["many"] - work["few"]


if __name__ == "__main__":
    main()
