"""The recipe of `acoustic/bottleneck`: two trainings, one after the other."""

import contextlib
import dataclasses
import logging
import os
from collections.abc import Sequence

from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import bottleneck, dnn_recipe
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
from seqzoo.zoo.checkpoints import nnet1
from seqzoo.zoo.training import newbob

_LOG = logging.getLogger(__name__)
PART = "part1"
TRANSFORM = "final.feature_transform.part1"


def train(
    path: str,
    command: Sequence[str],
    overrides: Sequence[str],
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    schedule: newbob.NewbobOptions,
    model: str = "acoustic/bottleneck",
) -> newbob.NewbobState:
    """Trains both networks, each as `dnn_recipe.train`, whose arguments these are.

    The first one's run is in the folder `part1` of the run. From it comes
    `part1/final.feature_transform.part1`, the second one's feature transform, so that
    the run folder itself holds a network of features like any other.

    Returns:
        The second network's final state.
    """
    config = registry.config(model, overrides)
    first = os.path.join(path, PART)
    try:
        dnn_recipe.train(
            first,
            command,
            [*overrides, f"bn_dim={config.first_bn_dim}"],
            dataclasses.replace(
                recipe,
                feat_type=config.feat_type,
                traps_dct_basis=config.traps_dct_basis,
            ),
            options,
            schedule,
            model,
        )
    finally:
        # Where it did not even begin, nothing stays.
        with contextlib.suppress(OSError):
            os.rmdir(path)
    transform = os.path.join(first, TRANSFORM)
    if not os.path.exists(transform):
        made = bottleneck.second_transform(
            nnet1.read(os.path.join(first, "final.feature_transform")),
            nnet1.read(os.path.join(first, "final.nnet")),
            config,
        )
        nnet1.write(transform, made)
    _LOG.info("the second network, on %s", transform)
    return dnn_recipe.train(
        path,
        command,
        overrides,
        dataclasses.replace(recipe, feature_transform=transform, feat_type="plain"),
        options,
        schedule,
        model,
    )
