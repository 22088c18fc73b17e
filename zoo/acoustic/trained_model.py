"""What training leaves behind: a network, its feature transform, its options."""

import dataclasses

import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.checkpoints.nnet1 import Nnet

NNET, TRANSFORM = "final.nnet", "final.feature_transform"
CMVN_OPTS, DELTA_OPTS = "cmvn_opts", "delta_opts"
COUNTS = "ali_train_pdf.counts"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """An acoustic network and what belongs to it."""

    nnet: Nnet
    feature_transform: Nnet | None = None

    cmvn_opts: str = ""
    """Options of apply-cmvn that its training features went through; empty: none."""

    delta_opts: str = ""
    """Options of add-deltas, likewise."""

    class_frame_counts: str | None = None
    """File with the frames of each class in training."""


def read(path: str, feature_transform: str | None = None) -> TrainedModel:
    """Reads a network's file or the folder of a run, ours or Kaldi's.

    Args:
        path: an nnet1 file, `-` for standard input; or a folder that holds
            `final.nnet` and maybe `final.feature_transform`, `cmvn_opts`,
            `delta_opts` and `ali_train_pdf.counts`.
        feature_transform: an nnet1 file to use instead of the folder's.

    Raises:
        InputError: naming the file and what is wrong.
    """
    gfile = tf.io.gfile
    folder = path.rstrip("/") if path != "-" and gfile.isdir(path) else None

    def inside(name: str) -> str | None:
        found = f"{folder}/{name}"
        return found if folder is not None and gfile.exists(found) else None

    def text(name: str) -> str:
        found = inside(name)
        if found is None:
            return ""
        with gfile.GFile(found) as stream:
            return " ".join(stream.read().split())

    file: str | None = path
    if folder is not None:
        file = inside(NNET)
        if file is None:
            raise InputError(
                f"{path}: a folder without {NNET}; give a network's file, the folder "
                "of a run that ended, or a SavedModel."
            )
        feature_transform = feature_transform or inside(TRANSFORM)
    return TrainedModel(
        nnet=nnet1.read(file or path),
        feature_transform=nnet1.read(feature_transform) if feature_transform else None,
        cmvn_opts=text(CMVN_OPTS),
        delta_opts=text(DELTA_OPTS),
        class_frame_counts=inside(COUNTS),
    )
