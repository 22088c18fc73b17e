"""A Kaldi nnet1 model as a run folder of ours, checked before it is there."""

import dataclasses
import itertools
import os
import shutil
import uuid
from collections.abc import Sequence
from typing import Any

from seqzoo.datasets import cmvn, deltas
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo.acoustic import (
    dnn,
    frame_training,
    import_check,
    keras_file,
    priors,
    trained_model,
)
from seqzoo.zoo.acoustic.import_check import CheckReport
from seqzoo.zoo.acoustic.trained_model import TrainedModel
from seqzoo.zoo.checkpoints import keras_layers, nnet1, nnet_edit, nnet_info
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training.run_folder import RunFolder

_CHECKED = 10  # utterances of --check_feats, at most


def read(
    path: str,
    feature_transform: str | None = None,
    class_frame_counts: str | None = None,
    cmvn_opts: str | None = None,
    delta_opts: str | None = None,
) -> TrainedModel:
    """Reads a network's file or the folder of a Kaldi run, and what belongs to it.

    Args:
        path: as of `trained_model.read`.
        feature_transform, class_frame_counts: files to take instead of the folder's.
        cmvn_opts, delta_opts: options to take instead of the folder's; empty is none.

    Raises:
        InputError: naming the file and what is wrong.
    """
    model = trained_model.read(path, feature_transform)
    given: dict[str, Any] = {
        name: value or None
        for name, value in (
            ("class_frame_counts", class_frame_counts),
            ("cmvn_opts", cmvn_opts),
            ("delta_opts", delta_opts),
        )
        if value is not None
    }
    model = dataclasses.replace(model, **given)
    if model.cmvn_opts is not None:
        cmvn.Options.parse(model.cmvn_opts)
    if model.delta_opts is not None:
        deltas.Options.parse(model.delta_opts)
    if model.class_frame_counts is not None:
        priors.read(model.class_frame_counts, model.nnet.output_dim)
    return model


def write(
    model: TrainedModel,
    directory: str,
    command: Sequence[str],
    source: str,
    check_feats: str | None = None,
) -> CheckReport:
    """Writes a run folder, which appears only when all is written and checked.

    It holds what `trained_model.write` writes, `final.keras`, `weights/`,
    `config.json`, `command.txt` and `log/import.log`. The Keras model must compute what
    the network computes in NumPy, and both must be read again as they were written.

    Args:
        model: as `read` gives it.
        directory: local; not there yet, or empty.
        command: the words of the command, for the logs.
        source: where the model is from, for `config.json`.
        check_feats: rspecifier of features to compare outputs on, of which the first
            10 utterances are taken; None takes random ones.

    Raises:
        InputError: it cannot be written, or a check fails.
    """
    transform = model.feature_transform
    keras_model = dnn.assemble(
        []
        if transform is None
        else keras_layers.to_layers(transform, keras_file.TRANSFORM, trainable=False),
        keras_layers.to_layers(model.nnet, keras_file.NET),
    )
    whole = model.nnet if transform is None else nnet_edit.concat(transform, model.nnet)
    report = import_check.check(
        keras_model, whole, _utterances(check_feats, model.delta_opts, whole)
    )
    directory = directory.rstrip("/") or directory
    temporary = f"{directory}.{uuid.uuid4().hex[:8]}.part"
    try:
        trained_model.write(model, temporary, model.class_frame_counts)
        folder = RunFolder(temporary, command)
        frame_training.save_whole(keras_model.save, folder.file(trained_model.KERAS))
        frame_training.save_whole(
            keras_model.save_weights, folder.file("weights", "final.weights.h5")
        )
        _read_back(model, folder)
        folder.begin(_config(model, source, check_feats, report))
        folder.save_state({"done": True})  # Nothing else is trained into it.
        with folder.log("import.log") as log:
            log.write(nnet_info.info(whole).rstrip())
            log.write(sentence(model, report))
        _move(temporary, directory)
    except OSError as error:
        raise InputError(f"{directory}: cannot write it: {error.strerror}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return report


def sentence(model: TrainedModel, report: CheckReport) -> str:
    """What was imported and checked, in a line."""
    front = model.feature_transform
    parts = f"{len(model.nnet.components)} components, "
    parts += f"{model.nnet.num_parameters()} parameters"
    if front is not None:
        parts += f", a feature transform of {len(front.components)}"
    return (
        f"{parts}; outputs as Kaldi's network gives them, within "
        f"{report.difference:.1e} of the largest in {report.utterances} utterances of "
        f"{report.frames} frames; read back the same to the byte"
    )


def _utterances(
    check_feats: str | None, delta_opts: str | None, nnet: Nnet
) -> list[import_check.Utterance]:
    if check_feats is None:
        return import_check.random_utterances(nnet.input_dim)
    feats = FeaturePipeline(check_feats, delta_opts=delta_opts)
    return list(itertools.islice(feats, _CHECKED))


def _read_back(model: TrainedModel, folder: RunFolder) -> None:
    """Reads what was written, by both of its ways."""
    again = trained_model.read(folder.path)
    by_keras = keras_file.read(folder.file(trained_model.KERAS))
    for read_nnet, read_front, name in (
        (again.nnet, again.feature_transform, trained_model.NNET),
        (*by_keras, trained_model.KERAS),
    ):
        for found, wanted in (
            (read_nnet, model.nnet),
            (read_front, model.feature_transform),
        ):
            if _bytes(found) != _bytes(wanted):
                raise InputError(f"self-check: {name} is read as another network.")


def _bytes(nnet: Nnet | None) -> bytes:
    return b"" if nnet is None else nnet1.to_bytes(nnet)


def _config(
    model: TrainedModel, source: str, check_feats: str | None, report: CheckReport
) -> dict[str, Any]:
    return {
        "model": "imported from kaldi",
        "source": os.path.abspath(source) if source != "-" else source,
        "class_frame_counts": model.class_frame_counts,
        "cmvn_opts": model.cmvn_opts,
        "delta_opts": model.delta_opts,
        "components": [
            [c.marker, c.input_dim, c.output_dim] for c in model.nnet.components
        ],
        "parameters": model.nnet.num_parameters(),
        "check": {"feats": check_feats or "random", **dataclasses.asdict(report)},
    }


def _move(temporary: str, directory: str) -> None:
    if os.path.exists(directory) and not (
        os.path.isdir(directory) and not os.listdir(directory)
    ):
        raise InputError(f"{directory}: is there already; give a new folder.")
    os.rename(temporary, directory)
