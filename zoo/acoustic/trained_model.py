"""What training leaves behind: a network, its feature transform, its options."""

import dataclasses
import os
import shutil
import uuid

import tensorflow as tf

from seqzoo.datasets import files, tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import keras_file, one_block
from seqzoo.zoo.checkpoints import nnet1, nnet_edit
from seqzoo.zoo.checkpoints.nnet1 import Nnet

NNET, TRANSFORM = "final.nnet", "final.feature_transform"
KERAS = "final.keras"
CMVN_OPTS, DELTA_OPTS = "cmvn_opts", "delta_opts"
COUNTS = "ali_train_pdf.counts"
LANGUAGES = "languages"


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel:
    """An acoustic network and what belongs to it."""

    nnet: Nnet
    feature_transform: Nnet | None = None

    cmvn_opts: str | None = None
    """Options of apply-cmvn that its training features went through; None: no CMVN."""

    delta_opts: str | None = None
    """Options of add-deltas, likewise."""

    class_frame_counts: str | None = None
    """File with the frames of each class in training."""


def counts_of(language: str) -> str:
    """The file with the frames of each class of one language of several."""
    return f"ali_train_pdf.{language}.counts"


def read(
    path: str,
    feature_transform: str | None = None,
    *,
    block: str | None = None,
    remove_last_components: int = 0,
) -> TrainedModel:
    """Reads a network's file or the folder of a run, ours or Kaldi's.

    Args:
        path: an nnet1 file, `-` for standard input; or a folder that holds
            `final.nnet` and maybe `final.feature_transform`, `cmvn_opts`,
            `delta_opts` and `ali_train_pdf.counts`. Where there is no `final.nnet`,
            network and feature transform are those of `final.keras`.
        feature_transform: an nnet1 file to use instead of the folder's.
        block: of a network for several languages the one to use, by its name in the
            folder's `languages` or by its number from 1; None leaves it as it is.
        remove_last_components: leave out so many at the end, for bottleneck features.

    Raises:
        InputError: naming the file and what is wrong.
    """
    gfile = tf.io.gfile
    folder = path.rstrip("/") if path != "-" and gfile.isdir(path) else None

    def inside(name: str) -> str | None:
        found = f"{folder}/{name}"
        return found if folder is not None and gfile.exists(found) else None

    def text(name: str) -> str | None:
        found = inside(name)
        if found is None:
            return None
        with gfile.GFile(found) as stream:
            return " ".join(stream.read().split())

    if folder is not None:
        feature_transform = feature_transform or inside(TRANSFORM)
    file = path if folder is None else inside(NNET) or inside(KERAS)
    if file is None:
        raise InputError(
            f"{path}: a folder without {NNET}; give a network's file or the folder "
            "of a run that ended."
        )
    front = None
    if folder is not None and file == inside(KERAS):
        nnet, front = keras_file.read(file)
    else:
        nnet = nnet1.read(file)
    transform = nnet1.read(feature_transform) if feature_transform else front
    if transform is not None and transform.output_dim != nnet.input_dim:
        raise InputError(
            f"{feature_transform}: puts out {transform.output_dim} numbers a frame, "
            f"but the network {file} takes {nnet.input_dim}."
        )
    counts = inside(COUNTS)
    if block is not None:
        names = (text(LANGUAGES) or "").split()
        widths = one_block.dims(nnet, file)
        number = one_block.number(block, names, len(widths), path)
        nnet = one_block.select(nnet, number)
        counts = inside(counts_of(names[number - 1])) if names else None
    if remove_last_components:
        nnet = _without_last(nnet, remove_last_components, file)
        counts = None
    return TrainedModel(
        nnet=nnet,
        feature_transform=transform,
        cmvn_opts=text(CMVN_OPTS),
        delta_opts=text(DELTA_OPTS),
        class_frame_counts=counts,
    )


def _without_last(nnet: Nnet, count: int, name: str) -> Nnet:
    try:
        return nnet_edit.remove_last_components(nnet, count)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def write(
    model: TrainedModel,
    directory: str,
    class_frame_counts: str | None = None,
    *,
    binary: bool = True,
) -> None:
    """Writes a folder that Kaldi's decoding scripts, and `read`, take.

    It holds `final.nnet` and what there is of `final.feature_transform`, `cmvn_opts`,
    `delta_opts` and `ali_train_pdf.counts`. It appears only when all is written.

    Args:
        model: the network and its options.
        directory: local; not there yet, or empty.
        class_frame_counts: the file to take counts from.
        binary: text otherwise.

    Raises:
        InputError: it cannot be written.
    """
    directory = directory.rstrip("/") or directory
    if os.path.exists(directory) and not (
        os.path.isdir(directory) and not os.listdir(directory)
    ):
        raise InputError(f"{directory}: is there already; give a new folder.")
    temporary = f"{directory}.{uuid.uuid4().hex[:8]}.part"
    try:
        os.makedirs(temporary)
        nnet1.write(f"{temporary}/{NNET}", model.nnet, binary)
        if model.feature_transform is not None:
            nnet1.write(f"{temporary}/{TRANSFORM}", model.feature_transform, binary)
        for name, options in (
            (CMVN_OPTS, model.cmvn_opts),
            (DELTA_OPTS, model.delta_opts),
        ):
            if options is not None:
                _write_text(f"{temporary}/{name}", options)
        if class_frame_counts is not None:
            counts = tables.read_object(class_frame_counts, "vector")
            tables.write_object(f"{temporary}/{COUNTS}", counts, binary=False)
        os.rename(temporary, directory)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise InputError(f"{directory}: cannot write it: {error.strerror}.") from None
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _write_text(path: str, text: str) -> None:
    output = files.Output(path)
    try:
        output.write(f"{text}\n".encode())
    except BaseException:
        output.discard()
        raise
    output.commit()
