"""The recipe of `acoustic/autoencoder`: the features are their own targets."""

import dataclasses
from collections.abc import Sequence

from seqzoo.datasets import deltas
from seqzoo.datasets.target_table import OwnFeatures
from seqzoo.zoo.acoustic import dnn_recipe, recipe_data
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
from seqzoo.zoo.acoustic.recipe_data import RecipeData
from seqzoo.zoo.training import newbob


def train(
    path: str,
    command: Sequence[str],
    overrides: Sequence[str],
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    schedule: newbob.NewbobOptions,
    model: str = "acoustic/autoencoder",
) -> newbob.NewbobState:
    """Trains as `dnn_recipe.train`, whose arguments these are.

    Without `labels` in the recipe, targets are the features after CMVN, without deltas;
    a local copy of them is then not compressed, for the targets to be exact.
    """
    data = None
    if recipe.labels is None:
        recipe = dnn_recipe.with_settings(recipe)
        if recipe.copy_feats_compress is None:
            recipe = dataclasses.replace(recipe, copy_feats_compress=False)
        data = _own_features(recipe)
        overrides = [*overrides, f"pdfs={data.num_targets}"]
    return dnn_recipe.train(
        path, command, overrides, recipe, options, schedule, model, data
    )


def _own_features(recipe: DnnRecipe) -> RecipeData:
    train = recipe_data.features(recipe.train, recipe, "training")
    parts = 1
    if recipe.delta_opts is not None:
        parts += deltas.Options.parse(recipe.delta_opts).delta_order
    dim = recipe.num_tgt or train.dim // parts
    targets = OwnFeatures(dim)
    return RecipeData(
        train=train,
        held_out=recipe_data.features(recipe.held_out, recipe, "held-out"),
        labels=targets,
        held_out_labels=targets,
        num_targets=dim,
        frame_weights=recipe.frame_weights,
        utt_weights=recipe.utt_weights,
    )
