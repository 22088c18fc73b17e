"""The recipe of `acoustic/dbn`: from features to a stack of RBMs, without labels."""

import dataclasses
import logging
import os
from collections.abc import Sequence

import numpy as np

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import feature_transform, recipe_data
from seqzoo.zoo.acoustic.acoustic_config import context
from seqzoo.zoo.acoustic.dbn_config import DbnConfig
from seqzoo.zoo.acoustic.dbn_options import DbnRecipe
from seqzoo.zoo.acoustic.dbn_training import DbnTraining
from seqzoo.zoo.acoustic.feature_set import FeatureSet
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training.rbm_history import RbmRow
from seqzoo.zoo.training.rbm_trainer import RbmTrainOptions
from seqzoo.zoo.training.run_folder import RunFolder

_LOG = logging.getLogger(__name__)


def train(
    path: str,
    command: Sequence[str],
    overrides: Sequence[str],
    recipe: DbnRecipe,
    options: RbmTrainOptions,
    *,
    save_seconds: float = 60.0,
    progress_bar: bool = False,
) -> list[RbmRow]:
    """Pre-trains into a run folder, or goes on where it was stopped.

    Args:
        path: the run folder.
        command: the words that were typed, for the logs.
        overrides: settings of `DbnConfig` as `field=value`.
        recipe: data, feature transform, passes.
        options: of each RBM's training; the learning rate is the recipe's.
        save_seconds: time between two checkpoints within an RBM's training.
        progress_bar: show one on standard error.

    Returns:
        A row for each RBM.

    Raises:
        InputError: anything wrong with what was given.
    """
    config = registry.config("acoustic/dbn", overrides)
    _check(recipe)
    pipeline = recipe_data.features(recipe.train, recipe, "training")
    if pipeline.order is not None:
        pipeline = pipeline.shuffled(recipe.shuffle_seed)
    folder = RunFolder(path, command)
    with folder.removed_on_failure():
        folder.begin(
            {
                "model": "acoustic/dbn",
                "config": dataclasses.asdict(config),
                "recipe": dataclasses.asdict(recipe),
                "options": dataclasses.asdict(options),
            }
        )
        stored = folder.load_state()
        if stored is not None and stored["done"]:
            _LOG.info("%s: finished before", path)
            return [RbmRow(**row) for row in stored["history"]]
        data = FeatureSet(
            pipeline,
            recipe.randomizer_size,
            options.minibatch_size,
            recipe.max_frames,
            recipe_data.copy_folder(folder, recipe) if recipe.copy_feats else None,
            recipe.compresses,
        )
        data.prepare()
        recipe_data.check_dim(config.feature_dim, data.dim, overrides)
        transform_path = folder.file("final.feature_transform")
        if stored is None:
            transform = _transform(config, recipe, data)
            nnet1.write(transform_path, transform, binary=False)
            for name in ("cmvn_opts", "delta_opts"):
                if getattr(recipe, name) is not None:
                    folder.write_text(name, getattr(recipe, name) + "\n")
        return DbnTraining(
            folder,
            config,
            recipe,
            options,
            data,
            nnet1.read(transform_path),
            save_seconds=save_seconds,
            progress_bar=progress_bar,
        ).run()


def _check(recipe: DbnRecipe) -> None:
    if recipe.rbm_iter < 1:
        raise InputError(f"rbm_iter is {recipe.rbm_iter}; 1 is the least.")
    if recipe.hours is not None and not recipe.hours > 0:
        raise InputError(f"hours is {recipe.hours:g}; the size of a set is above 0.")
    for name in (recipe.feature_transform, recipe.transf):
        if name is not None and not os.path.exists(name):
            raise InputError(f"{name}: no such file.")


def _transform(config: DbnConfig, recipe: DbnRecipe, data: FeatureSet) -> Nnet:
    if recipe.feature_transform:
        read = nnet1.read(recipe.feature_transform)
        if read.input_dim != data.dim:
            raise InputError(
                f"{recipe.feature_transform}: takes {read.input_dim} dimensions, "
                f"but the features (with deltas) have {data.dim}."
            )
        return read
    return feature_transform.build(
        recipe.feat_type,
        data.feats,
        splice=context(
            config.offsets,
            "a feature transform is made for symmetric ones without gaps. Give "
            "--feature_transform=FILE for others.",
        ),
        traps_dct_basis=recipe.traps_dct_basis,
        transf=_matrix(recipe),
        splice_after_transf=recipe.splice_after_transf,
        std_dev=recipe.feats_std,
    )


def _matrix(recipe: DbnRecipe) -> np.ndarray | None:
    if recipe.feat_type != "transf":
        return None
    if recipe.transf is None:
        raise InputError("feat_type transf needs a matrix; give --transf=FILE.")
    return tables.read_object(recipe.transf, "matrix")
