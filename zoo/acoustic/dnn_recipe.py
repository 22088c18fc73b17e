"""The recipe of acoustic models: from tables or data directories to a trained run."""

import dataclasses
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dbn_start, fine_tune, recipe_data, train_tools
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.dnn_start import DnnStart
from seqzoo.zoo.acoustic.frame_set import Copy, FrameSet
from seqzoo.zoo.acoustic.frame_training import FrameTraining, FrameTrainOptions
from seqzoo.zoo.acoustic.recipe_data import RecipeData
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
    data: RecipeData | None = None,
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
        data: features and targets, read of a recipe `with_settings`; None reads what
            the recipe names.

    Returns:
        The final state of the schedule.

    Raises:
        InputError: anything wrong with what was given.
    """
    config = registry.config(model, overrides)
    # Read before anything is written: most mistakes show here.
    if data is None:
        recipe = with_settings(recipe)
        data = recipe_data.read(recipe, config, overrides)
    train_feats = data.train
    if train_feats.order is not None:
        train_feats = train_feats.shuffled(recipe.shuffle_seed)
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
            _frame_set(name, pipeline, targets, data, recipe, options, folder)
            for name, pipeline, targets in (
                ("train", train_feats, data.labels),
                ("held_out", data.held_out, data.held_out_labels),
            )
        )
        train_set.prepare()
        held_out.prepare()
        _check_same_dim(train_set, held_out)
        for what, one in (("training", train_set), ("held-out", held_out)):
            _check_parts(what, one, data.parts)
        if stored is None:
            recipe_data.check_dim(config.feature_dim, train_set.counts.dim, overrides)
            start = DnnStart(
                dataclasses.replace(
                    config, feature_dim=train_set.counts.dim, pdfs=data.num_targets
                ),
                recipe,
                options,
            )
            start.write(folder, train_set, data.labels)
        init_name = dbn_start.INIT if recipe.dbn is not None else "nnet.init"
        training = FrameTraining(
            folder,
            options,
            schedule,
            train_set,
            held_out,
            transform=nnet1.read(folder.file("final.feature_transform")),
            init=nnet1.read(folder.file(init_name)),
            name=model.replace("/", "_"),
            init_name=init_name,
        )
        return training.run()


def with_settings(recipe: DnnRecipe) -> DnnRecipe:
    """A recipe with what the features went through of whatever it starts from: a
    stack of RBMs, a feature transform or a trained model."""
    return fine_tune.with_settings(dbn_start.with_settings(recipe))


def _frame_set(
    name: str,
    pipeline: Any,
    targets: Any,
    data: RecipeData,
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    folder: RunFolder,
) -> FrameSet:
    copy = None
    if recipe.copy_feats:
        copy = Copy(recipe_data.copy_folder(folder, recipe), name, recipe.compresses)
    return FrameSet(
        pipeline,
        targets,
        recipe.randomizer_size,
        # A block of sequences leaves no frame over for the next one's minibatches.
        1 if train_tools.is_sequential(options.train_tool) else options.minibatch_size,
        copy,
        identity=f"{os.path.abspath(folder.path)} {recipe}",
        frame_weights=data.frame_weights,
        utt_weights=data.utt_weights,
        num_targets=data.num_targets,
        length_tolerance=recipe.length_tolerance,
        max_frames=recipe.max_frames,
    )


def _check_same_dim(train: FrameSet, held_out: FrameSet) -> None:
    if train.counts.dim != held_out.counts.dim:
        raise InputError(
            f"training features have {train.counts.dim} dimensions, held-out ones "
            f"{held_out.counts.dim}; both must have the same."
        )


def _check_parts(what: str, found: FrameSet, parts: Mapping[str, int]) -> None:
    start = 0
    for name, width in parts.items():
        if not any(found.counts.classes[start : start + width]):
            raise InputError(
                f"{name}: no {what} utterance with both features and targets; are the "
                "keys the same?"
            )
        start += width


def _lasting(options: FrameTrainOptions) -> dict[str, Any]:
    """The options that a resumed run must share."""
    passing = {"statistics", "profile", "progress_bar"}
    values = dataclasses.asdict(options)
    return {name: value for name, value in values.items() if name not in passing}
