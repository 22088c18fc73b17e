"""The recipe of `acoustic/multilingual`: the sets of several languages as one."""

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.joined_features import JoinedFeatures
from seqzoo.datasets.pasted_targets import JoinedTables, PastedTargets
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import dnn_recipe, recipe_data, trained_model
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
from seqzoo.zoo.acoustic.recipe_data import RecipeData
from seqzoo.zoo.training import newbob

PLACE = "{}"
"""What stands for the language in the names of its data."""


def train(
    path: str,
    command: Sequence[str],
    overrides: Sequence[str],
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    schedule: newbob.NewbobOptions,
    model: str = "acoustic/multilingual",
) -> newbob.NewbobState:
    """Trains as `dnn_recipe.train`, whose arguments these are.

    In the recipe's names of data `{}` stands for the language; all languages of the
    settings are read. Their utterances are shuffled together, and a frame's target is
    in the block of its language. `languages` in the run folder has their names, and
    `ali_train_pdf.LANGUAGE.counts` the frames of each one's classes.
    """
    config = registry.config(model, overrides)
    _check_init(recipe, config.languages)
    recipe = dnn_recipe.with_settings(recipe)
    fixed = recipe_data.is_set("block_dims", overrides)
    each = {
        language: _of_language(
            recipe, language, config.block_dims[i] if fixed else None
        )
        for i, language in enumerate(config.languages)
    }
    read = {name: recipe_data.read(one, config, ()) for name, one in each.items()}
    dims = {name: data.num_targets for name, data in read.items()}
    widths = ",".join(map(str, dims.values()))
    overrides = [*overrides, f"block_dims={widths}"]
    if options.objective == config.objective:
        objective = registry.config(model, overrides).objective
        options = dataclasses.replace(options, objective=objective)
    state = dnn_recipe.train(
        path, command, overrides, recipe, options, schedule, model, _joined(read, dims)
    )
    _write_counts(path, dims)
    return state


def _check_init(recipe: DnnRecipe, languages: Sequence[str]) -> None:
    """A block learns on with its own language alone."""
    if recipe.init is None:
        return
    if recipe.replace_output is not None:
        raise InputError(
            "--replace_output puts one softmax in place of all; train acoustic/dnn "
            "with it, on one language."
        )
    path = os.path.join(recipe.init, trained_model.LANGUAGES)
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        found = file.read().split()
    if found != list(languages):
        raise InputError(
            f"{recipe.init}: has blocks of {','.join(found)}, but languages are "
            f"{','.join(languages)}; give --languages={','.join(found)}."
        )


def _of_language(recipe: DnnRecipe, language: str, pdfs: int | None) -> DnnRecipe:
    """The recipe of one language alone."""

    def named(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(PLACE, language)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return type(value)(**{name: named(one) for name, one in fields.items()})
        return value

    one = named(recipe)
    names = ["train", "held_out"]
    if recipe.labels is None:
        names += ["ali_train", "ali_held_out"]
    elif pdfs is None:
        raise InputError(
            "labels are given without block_dims, the number of outputs of each "
            "language; add --set block_dims=N,N,..."
        )
    for what in names:
        value = getattr(recipe, what)
        if value is not None and getattr(one, what) == value:
            raise InputError(
                f"{getattr(value, 'feats', value)}: of several languages; write "
                f"{PLACE} where the name of the language stands, such as "
                "data/{}/train."
            )
    return dataclasses.replace(one, num_tgt=pdfs)


def _joined(read: dict[str, RecipeData], dims: dict[str, int]) -> RecipeData:
    def weights(attribute: str, kind: str) -> JoinedTables | None:
        found = {name: getattr(data, attribute) for name, data in read.items()}
        return None if None in found.values() else JoinedTables.open(found, kind)

    return RecipeData(
        train=JoinedFeatures({name: data.train for name, data in read.items()}),
        held_out=JoinedFeatures({name: data.held_out for name, data in read.items()}),
        labels=PastedTargets({name: data.labels for name, data in read.items()}, dims),
        held_out_labels=PastedTargets(
            {name: data.held_out_labels for name, data in read.items()}, dims
        ),
        num_targets=sum(dims.values()),
        parts=dims,
        frame_weights=weights("frame_weights", "vector"),
        utt_weights=weights("utt_weights", "token"),
    )


def _write_counts(path: str, dims: dict[str, int]) -> None:
    names = os.path.join(path, trained_model.LANGUAGES)
    with open(names, "w", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in dims)
    counts = tables.read_object(os.path.join(path, trained_model.COUNTS), "vector")
    ends = np.cumsum(list(dims.values()))
    for name, part in zip(dims, np.split(counts, ends[:-1]), strict=True):
        where = os.path.join(path, trained_model.counts_of(name))
        tables.write_object(where, part, binary=False)
