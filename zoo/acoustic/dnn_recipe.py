"""The recipe of acoustic models: from tables or data directories to a trained run."""

import dataclasses
import hashlib
import logging
import os
from collections.abc import Sequence
from typing import Any

from seqzoo.datasets import alignments
from seqzoo.datasets.data_dir import DataDir
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import train_tools
from seqzoo.zoo.acoustic.acoustic_config import AcousticConfig
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe, SetSource
from seqzoo.zoo.acoustic.dnn_start import DnnStart
from seqzoo.zoo.acoustic.frame_set import Copy, FrameSet
from seqzoo.zoo.acoustic.frame_training import FrameTraining, FrameTrainOptions
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.training import newbob
from seqzoo.zoo.training.run_folder import RunFolder

_LOG = logging.getLogger(__name__)


def train(
    path: str,
    command: Sequence[str],
    overrides: Sequence[str],
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    schedule: newbob.NewbobOptions,
    model: str = "acoustic/dnn",
) -> newbob.NewbobState:
    """Trains into a run folder, or goes on where it was stopped.

    Args:
        path: the run folder.
        command: the words that were typed, for the logs.
        overrides: settings of the model as `field=value`.
        recipe: data and feature transform.
        options: of the training.
        schedule: of the learning rate.
        model: one of the registry's, whose settings have a `proto`.

    Returns:
        The final state of the schedule.

    Raises:
        InputError: anything wrong with what was given.
    """
    config = registry.config(model, overrides)
    # Read before anything is written: most mistakes show here.
    labels, held_out_labels, num_targets = _targets(recipe, config, overrides)
    sources = {
        name: _pipeline(source, recipe, what)
        for name, source, what in (
            ("train", recipe.train, "training"),
            ("held_out", recipe.held_out, "held-out"),
        )
    }
    if sources["train"].order is not None:
        sources["train"] = sources["train"].shuffled(recipe.shuffle_seed)
    for name in (recipe.mlp_proto, recipe.mlp_init, recipe.feature_transform):
        if name is not None and not os.path.exists(name):
            raise InputError(f"{name}: no such file.")
    folder = RunFolder(path, command)
    with folder.removed_on_failure():
        folder.begin(
            {
                "model": model,
                "config": dataclasses.asdict(config),
                "recipe": dataclasses.asdict(recipe),
                "options": _lasting(options),
                "schedule": dataclasses.asdict(schedule),
            }
        )
        stored = folder.load_state()
        if stored is not None and stored["done"]:
            state = newbob.NewbobState(**stored["newbob"])
            _LOG.info("%s: finished before, %s", path, state.finished)
            return state
        train_set, held_out = (
            _frame_set(name, pipeline, targets, num_targets, recipe, options, folder)
            for name, pipeline, targets in (
                ("train", sources["train"], labels),
                ("held_out", sources["held_out"], held_out_labels),
            )
        )
        train_set.prepare()
        held_out.prepare()
        _check_same_dim(train_set, held_out)
        if stored is None:
            _check_dim(config, train_set.counts.dim, overrides)
            start = DnnStart(
                dataclasses.replace(
                    config, feature_dim=train_set.counts.dim, pdfs=num_targets
                ),
                recipe,
                options,
            )
            start.write(folder, train_set, labels)
        training = FrameTraining(
            folder,
            options,
            schedule,
            train_set,
            held_out,
            transform=nnet1.read(folder.file("final.feature_transform")),
            init=nnet1.read(folder.file("nnet.init")),
            name=model.replace("/", "_"),
        )
        return training.run()


def _targets(
    recipe: DnnRecipe, config: AcousticConfig, overrides: Sequence[str]
) -> tuple[Any, Any, int]:
    """Targets of both sets, and how many outputs they ask for."""
    fixed = any(o.partition("=")[0].strip() == "pdfs" for o in overrides)
    wanted = recipe.num_tgt or (config.pdfs if fixed else None)
    if recipe.labels is not None:
        if wanted is None:
            raise InputError(
                "labels are given without num_tgt, the number of outputs; "
                "add --num_tgt=N."
            )
        return recipe.labels, recipe.held_out_labels or recipe.labels, wanted
    if recipe.ali_train is None or recipe.ali_held_out is None:
        raise InputError(
            "no targets: give alignment directories, or labels and num_tgt."
        )
    train = alignments.read_alignments(recipe.ali_train)
    held_out = alignments.read_alignments(recipe.ali_held_out)
    return train, held_out, wanted or train.num_pdfs


def _pipeline(source: SetSource | str, recipe: DnnRecipe, what: str) -> FeaturePipeline:
    if isinstance(source, str):
        try:
            directory = DataDir(source)
        except InputError as error:
            raise InputError(f"{what} data: {error}") from None
        source = SetSource(
            feats=directory.feats,
            cmvn=directory.cmvn if recipe.cmvn_opts is not None else None,
            utt2spk=directory.utt2spk if recipe.cmvn_opts is not None else None,
        )
        if recipe.cmvn_opts is not None and source.cmvn is None:
            raise InputError(
                f"{directory.directory}: cmvn.scp is missing, but cmvn_opts are given; "
                "compute the statistics, or leave cmvn_opts out."
            )
    return FeaturePipeline(
        source.feats,
        recipe.cmvn_opts,
        source.cmvn,
        source.utt2spk,
        recipe.delta_opts,
        allow_pipes=recipe.allow_pipes,
    )


def _frame_set(
    name: str,
    pipeline: FeaturePipeline,
    targets: Any,
    num_targets: int,
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    folder: RunFolder,
) -> FrameSet:
    copy = None
    if recipe.copy_feats:
        compress = recipe.copy_feats_compress
        if compress is None:
            # train.sh copies and compresses; the tools it calls do not.
            compress = isinstance(recipe.train, str)
        copy = Copy(_copy_folder(folder, recipe), name, compress)
    return FrameSet(
        pipeline,
        targets,
        recipe.randomizer_size,
        # A block of sequences leaves no frame over for the next one's minibatches.
        1 if train_tools.is_sequential(options.train_tool) else options.minibatch_size,
        copy,
        identity=f"{os.path.abspath(folder.path)} {recipe}",
        frame_weights=recipe.frame_weights,
        utt_weights=recipe.utt_weights,
        num_targets=num_targets,
        length_tolerance=recipe.length_tolerance,
        max_frames=recipe.max_frames,
    )


def _copy_folder(folder: RunFolder, recipe: DnnRecipe) -> str:
    """The same for the same run, so that a resumed one finds its copy."""
    if recipe.copy_feats_tmproot is None:
        return folder.file("copy")
    name = hashlib.sha256(os.path.abspath(folder.path).encode()).hexdigest()[:12]
    root = recipe.copy_feats_tmproot.replace("XXXX", "seqzoo")
    return os.path.join(root, name)


def _check_dim(config: AcousticConfig, dim: int, overrides: Sequence[str]) -> None:
    fixed = any(o.partition("=")[0].strip() == "feature_dim" for o in overrides)
    if fixed and config.feature_dim != dim:
        raise InputError(
            f"features have {dim} dimensions, but feature_dim={config.feature_dim} is "
            "set; leave it out to take theirs."
        )


def _check_same_dim(train: FrameSet, held_out: FrameSet) -> None:
    if train.counts.dim != held_out.counts.dim:
        raise InputError(
            f"training features have {train.counts.dim} dimensions, held-out ones "
            f"{held_out.counts.dim}; both must have the same."
        )


def _lasting(options: FrameTrainOptions) -> dict[str, Any]:
    """The options that a resumed run must share."""
    passing = {"statistics", "profile", "progress_bar"}
    values = dataclasses.asdict(options)
    return {name: value for name, value in values.items() if name not in passing}
