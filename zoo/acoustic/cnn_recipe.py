"""The recipe of `acoustic/cnn`: the DNN's, with the order of the deltas handed on."""

import shlex
from collections.abc import Sequence

from seqzoo.datasets import deltas
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn_recipe, recipe_data
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
from seqzoo.zoo.training import newbob


def train(
    path: str,
    command: Sequence[str],
    overrides: Sequence[str],
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    schedule: newbob.NewbobOptions,
    model: str = "acoustic/cnn",
) -> newbob.NewbobState:
    """Trains as `dnn_recipe.train`, whose arguments these are.

    The convolutions expect deltas of the order in `delta_opts`, none without, unless
    `delta_order` is among the overrides. With pitch, prototypes of both branches are
    written into the run folder.
    """
    recipe = dnn_recipe.with_settings(recipe)
    order = 0
    if recipe.delta_opts is not None:
        order = deltas.Options.parse(recipe.delta_opts).delta_order
    overrides = [f"delta_order={order}", *overrides]
    config = registry.config(model, overrides)
    if config.cnn_options()["pitch_dim"]:
        given = f"{config.cnn_proto_opts} --dir={shlex.quote(path)}".strip()
        overrides = [*overrides, f"cnn_proto_opts={given}"]
    data = recipe_data.read(recipe, config, overrides)
    return dnn_recipe.train(
        path, command, overrides, recipe, options, schedule, model, data
    )
